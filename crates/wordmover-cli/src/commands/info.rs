//! `wordmover info`: what a model file holds.

use anyhow::Result;
use serde_json::json;
use wordmover::text::StopWords;
use wordmover::{Components, Gamma, ModelFile, Weighting};

use crate::args::InfoArguments;
use crate::output::print;
use crate::progress::count;

pub fn run(arguments: &InfoArguments) -> Result<()> {
    let model = ModelFile::open(&arguments.model)?;
    if arguments.json {
        let vectors = model.vectors();
        let value = json!({
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
        return print(&format!("{value}\n"));
    }
    let lines = lines(&model).into_iter();
    let text: String = lines
        .map(|(name, value)| format!("{name:16}{value}\n"))
        .collect();
    print(&text)
}

fn lines(model: &ModelFile) -> Vec<(&'static str, String)> {
    let params = model.params();
    let vectors = model.vectors();
    let gamma = match (model.gamma(), params.gamma) {
        (None, _) => "none: the features are distances".to_owned(),
        (Some(gamma), Gamma::Auto) => format!("{gamma} (auto: one over the median distance)"),
        (Some(gamma), _) => gamma.to_string(),
    };
    let stop_words = match &params.tokenizer.stop_words {
        StopWords::Smart => "smart".to_owned(),
        StopWords::None => "none".to_owned(),
        list => count(list.len() as u64, "word"),
    };
    let bundled = if model.has_bundled_vectors() {
        ", bundled"
    } else {
        ""
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
        ("distribution", name_of(&params.random_words)),
        ("seed", params.seed.to_string()),
        ("gamma", gamma),
        ("weights", weights(model)),
        ("finish", name_of(&params.finish)),
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
        ("case", name_of(&params.tokenizer.case)),
        ("minimum count", params.bag.min_count.to_string()),
        (
            "maximum words",
            format!("{} distinct a document", params.bag.max_words),
        ),
        (
            "vectors",
            format!(
                "{}, {} x {}{bundled}",
                vectors.name, vectors.words, vectors.dim
            ),
        ),
        ("", format!("sha256 {}", vectors.checksum)),
        ("normalization", name_of(&params.normalization)),
        ("written by", model.written_by().to_owned()),
    ]
}

fn weights(model: &ModelFile) -> String {
    let weighting = model.params().bag.weighting;
    let name = name_of(&weighting);
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

/// The name an option has in files and on the command line.
fn name_of(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
