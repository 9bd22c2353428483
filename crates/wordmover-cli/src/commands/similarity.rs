//! `wordmover similarity`: how similar texts are, and whether people agree.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::json;
use wordmover::names::Named;
use wordmover::text::StopWords;
use wordmover::{
    EmbeddingParams, ModelFile, Similarity,
    document::{WordCounts, WordProbabilities},
    similarity::{FARTHEST, pearson, spearman},
};

use super::distance::{quoted, refuse_files};
use crate::args::{FrequencySource, SimilarityArguments};
use crate::input::{Pair, read_pairs};
use crate::output::print;
use crate::progress::{self, count, say};
use crate::usage::usage_error;

pub fn run(arguments: &SimilarityArguments, quiet: bool) -> Result<()> {
    check_options(arguments)?;
    let (pairs, from_file) = match &arguments.inputs[..] {
        [file] => (read_pairs(Path::new(file), arguments.header)?, true),
        [first, second] => {
            refuse_files([first, second])?;
            if arguments.header {
                return Err(usage_error("--header is for a file of pairs"));
            }
            let texts = (first.clone(), second.clone());
            (vec![Pair { gold: None, texts }], false)
        }
        _ => bail!("one file or two texts"),
    };
    let Scored { scores, is_known } = scored(arguments, &pairs, quiet)?;
    let gold: Option<Vec<f64>> = pairs.iter().map(|pair| pair.gold).collect();
    let (pearson, spearman) = match &gold {
        Some(gold) => (pearson(&scores, gold), spearman(&scores, gold)),
        None => (None, None),
    };
    if arguments.json {
        let mut report = json!({ "method": arguments.method.name(), "scores": scores });
        if gold.is_some() {
            report["pearson"] = json!(pearson);
            report["spearman"] = json!(spearman);
        }
        print(&format!("{report}\n"))?;
    } else {
        // Features are of single precision: more digits would mean nothing.
        let lines = scores.iter().map(|&score| format!("{}\n", score as f32));
        print(&lines.collect::<String>())?;
    }
    if quiet {
        return Ok(());
    }
    if from_file && !arguments.json {
        say(&count(pairs.len() as u64, "pair"));
    }
    note_unknown(arguments.method, &pairs, &is_known, from_file);
    if from_file && !arguments.json && gold.is_some() {
        let shown = |value: Option<f64>| match value {
            Some(value) => format!("{value:.4}"),
            None => "undefined: one side never varies".to_owned(),
        };
        say(&format!("pearson   {}", shown(pearson)));
        say(&format!("spearman  {}", shown(spearman)));
    }
    Ok(())
}

/// Refuses options that mean nothing for the method: ignoring them would hide a mistake.
fn check_options(arguments: &SimilarityArguments) -> Result<()> {
    let method = arguments.method;
    if arguments.model.is_some() {
        if !matches!(method, Similarity::Blend | Similarity::Wme) {
            return Err(usage_error("--model is for the method wme"));
        }
        return match arguments.params.given().next() {
            Some(option) => Err(usage_error(format!(
                "{option} cannot be given with --model: the model settles it"
            ))),
            None => Ok(()),
        };
    }
    let applies = |option: &str| match method {
        Similarity::Blend | Similarity::Wme => true,
        // Its features are those of the paper, centred.
        Similarity::Kernel => !["--post-processing", "--components", "--raw"].contains(&option),
        Similarity::Sif => {
            ["--stop-words", "--case", "--unknown", "--frequencies"].contains(&option)
        }
        _ => ["--stop-words", "--case", "--unknown"].contains(&option),
    };
    match arguments.params.given().find(|option| !applies(option)) {
        Some(option) => Err(usage_error(format!(
            "{option} cannot be given with --method {}: it has no effect there",
            method.name()
        ))),
        None => Ok(()),
    }
}

struct Scored {
    /// One for each pair.
    scores: Vec<f64>,
    /// Whether the texts of each pair have a known word.
    is_known: Vec<[bool; 2]>,
}

fn scored(arguments: &SimilarityArguments, pairs: &[Pair], quiet: bool) -> Result<Scored> {
    let method = arguments.method;
    let texts: Vec<(&str, &str)> = pairs
        .iter()
        .map(|pair| (pair.texts.0.as_str(), pair.texts.1.as_str()))
        .collect();
    let known = |is_known: &dyn Fn(&str) -> bool| -> Vec<[bool; 2]> {
        let both = texts.iter().map(|(a, b)| [is_known(a), is_known(b)]);
        both.collect()
    };
    if let Some(path) = &arguments.model {
        let model = ModelFile::open(path)?.with_vectors(arguments.vectors.open_named()?)?;
        let scores = progress::while_working(quiet, "comparing", || {
            Similarity::of_pairs_with(&texts, &model)
        })?;
        let is_known = known(&|text| !model.document(&model.word_counts(text)).is_empty());
        return Ok(Scored { scores, is_known });
    }
    let mut base = EmbeddingParams::for_similarity();
    if arguments.method == Similarity::Wmd {
        // Every word weighs the same here, so stop words would.
        base.documents.tokenizer.stop_words = StopWords::Smart;
    }
    let params = arguments.params.params_over(base)?;
    let vectors = arguments.vectors.open()?;
    arguments.params.text.check_vectors(&vectors)?;
    let source = arguments.params.frequencies.as_ref();
    let probabilities: Option<WordProbabilities> = FrequencySource::open(source, &vectors)?;
    let scores = progress::while_working(quiet, "comparing", || {
        method.of_pairs(&texts, &params, &vectors, probabilities.as_ref())
    })?;
    let tokenizer = &params.documents.tokenizer;
    let is_known = known(&|text| {
        let counts = WordCounts::from_text(text, tokenizer, &vectors);
        !counts.words.is_empty()
    });
    Ok(Scored { scores, is_known })
}

/// Says which scores stand for nothing: a text has no word that the vectors know.
fn note_unknown(method: Similarity, pairs: &[Pair], is_known: &[[bool; 2]], from_file: bool) {
    let score = match method {
        Similarity::Wmd => FARTHEST,
        _ => 0.0,
    };
    if !from_file {
        for (Pair { texts, .. }, known) in pairs.iter().zip(is_known) {
            for (text, is_known) in [&texts.0, &texts.1].into_iter().zip(known) {
                if !is_known {
                    let text = quoted(text);
                    say(&format!(
                        "{text} has no known word: its similarity is {score}"
                    ));
                }
            }
        }
        return;
    }
    let n_texts = is_known.iter().flatten().filter(|known| !**known).count();
    if n_texts > 0 {
        let n_pairs = is_known.iter().filter(|known| known.contains(&false));
        say(&format!(
            "{} without a known word: {} with similarity {score}",
            count(n_texts as u64, "text"),
            count(n_pairs.count() as u64, "pair")
        ));
    }
}
