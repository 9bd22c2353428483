//! `wordmover info`: what a model file holds.

use anyhow::Result;
use serde_json::json;
use wordmover::text::StopWords;
use wordmover::{
    ModelFile, Weighting, WordVectors,
    embedding::{Components, Gamma},
};
use wordmover_classify::ClassifierInfo;

use crate::args::InfoArguments;
use crate::natural_order;
use crate::output::print;
use crate::progress::count;

pub fn run(arguments: &InfoArguments) -> Result<()> {
    let model = ModelFile::open(&arguments.model)?;
    let classifier = ClassifierInfo::of(&model, &arguments.model.display().to_string())?;
    if arguments.json {
        let vectors = model.vectors();
        let mut value = json!({
            "written_by": model.written_by(),
            "parameters": model.params(),
            "gamma": model.gamma(),
            "documents": model.n_documents(),
            "words": model.n_words(),
            "random_words": n_random_words(&model),
            "vectors": {
                "name": vectors.name,
                "words": vectors.words,
                "dim": vectors.dim,
                "checksum": vectors.checksum,
                "bundled": model.has_bundled_vectors(),
            },
        });
        if let Some(classifier) = &classifier {
            value["classifier"] = json!(classifier);
        }
        return print(&format!("{value}\n"));
    }
    let classifier = classifier.iter().flat_map(classifier_lines);
    let text: String = classifier
        .chain(lines(&model))
        .map(|(name, value)| format!("{name:16}{value}\n"))
        .collect();
    print(&text)
}

/// What it tells apart, how well, and how it was chosen; the rest is its embedding.
fn classifier_lines(info: &ClassifierInfo) -> Vec<(&'static str, String)> {
    let choice = &info.choice;
    let mut lines = vec![
        ("classifier", {
            let n_classes = count(info.classes.len() as u64, "class");
            format!("{n_classes}: {}", shortened(&info.classes))
        }),
        ("", {
            let most_frequent = &info.classes[info.most_frequent];
            format!("{most_frequent} for a document without a known word")
        }),
        (
            "protocol",
            format!("{} ({} folds)", info.protocol, info.protocol.n_folds()),
        ),
        ("view", {
            let weight = choice.meanings_weight;
            let weight = weight.map(|weight| format!(", meanings weighted by {weight:.3e}"));
            format!("{}{}", choice.views, weight.unwrap_or_default())
        }),
        ("C", format!("{:.3e}", choice.cost)),
        ("held out", {
            let (share, deviation) = (100.0 * choice.accuracy, 100.0 * choice.deviation);
            format!("{share:.2} % right in cross-validation, ± {deviation:.2} over the folds")
        }),
    ];
    if let Some(share) = info.train_accuracy {
        lines.push(("learnt from", format!("{:.2} % right", 100.0 * share)));
    }
    lines
}

/// Names in a line or so, in natural order.
fn shortened(names: &[String]) -> String {
    const MOST: usize = 12;
    let mut shown: Vec<&str> = names.iter().map(String::as_str).collect();
    shown.sort_by(|a, b| natural_order::compare(a, b));
    shown.truncate(MOST);
    let rest = match names.len().saturating_sub(MOST) {
        0 => String::new(),
        n => format!("{n} more"),
    };
    if !rest.is_empty() {
        shown.push(&rest);
    }
    shown.join(", ")
}

fn lines(model: &ModelFile) -> Vec<(&'static str, String)> {
    let params = model.params();
    let vectors = model.vectors();
    let gamma = match (model.gamma(), params.gamma) {
        (None, _) => "none: the features are distances".to_owned(),
        (Some(gamma), Gamma::Auto) => format!("{gamma} (auto: one over the median distance)"),
        (Some(gamma), _) => gamma.to_string(),
    };
    let stop_words = match &params.documents.tokenizer.stop_words {
        StopWords::Smart => "smart".to_owned(),
        StopWords::None => "none".to_owned(),
        list => count(list.len() as u64, "word"),
    };
    let place = if model.has_bundled_vectors() {
        ", bundled"
    } else if vectors.checksum == WordVectors::builtin().checksum() {
        ", built in"
    } else {
        "; --vectors must name them"
    };
    vec![
        ("features", format!("{} (R)", params.n_features)),
        (
            "random words",
            format!(
                "{}, at most {} a document (D_max)",
                n_random_words(model),
                params.d_max
            ),
        ),
        ("distribution", params.random_words.to_string()),
        ("seed", params.seed.to_string()),
        ("gamma", gamma),
        ("weights", weights(model)),
        ("post-processing", params.post_processing.to_string()),
        (
            "components",
            match params.components {
                Components::Flatten(n) => format!("first {n} flattened"),
                Components::Remove(n) => format!("first {n} removed"),
                _ => "kept".to_owned(),
            },
        ),
        ("fitted on", {
            let documents = count(model.n_documents(), "document");
            format!(
                "{documents}, {}",
                count(model.n_words() as u64, "distinct known word")
            )
        }),
        ("stop words", stop_words),
        ("case", params.documents.tokenizer.case.to_string()),
        ("minimum count", params.documents.bag.min_count.to_string()),
        (
            "maximum words",
            format!("{} distinct a document", params.documents.bag.max_words),
        ),
        (
            "vectors",
            format!(
                "{}, {} x {}{place}",
                vectors.name, vectors.words, vectors.dim
            ),
        ),
        ("", format!("sha256 {}", vectors.checksum)),
        ("normalization", params.documents.normalization.to_string()),
        ("written by", model.written_by().to_owned()),
    ]
}

fn weights(model: &ModelFile) -> String {
    let weighting = model.params().documents.bag.weighting;
    let name = weighting.to_string();
    match (weighting, model.word_probabilities()) {
        (Weighting::Sif, Some(probabilities)) => {
            format!("{name}, word frequencies {}", probabilities.name())
        }
        (Weighting::Sif, None) => format!("{name}, word frequencies of the corpus"),
        _ => name,
    }
}

fn n_random_words(model: &ModelFile) -> usize {
    let random = model.random_documents();
    (0..random.len()).map(|j| random.document_len(j)).sum()
}
