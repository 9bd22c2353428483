//! `wordmover similarity`: how similar texts are, and whether people agree.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::json;
use wordmover::names::Named;
use wordmover::text::StopWords;
use wordmover::{EmbeddingParams, ModelFile, Similarity, WordProbabilities, pearson, spearman};

use crate::args::{FrequencySource, SimilarityArguments};
use crate::input::{Pair, read_pairs};
use crate::output::print;
use crate::progress::{count, say};
use crate::usage::usage_error;

pub fn run(arguments: &SimilarityArguments) -> Result<()> {
    if let (Some(_), Some(option)) = (&arguments.model, arguments.params.first_given()) {
        return Err(usage_error(format!(
            "{option} cannot be given with --model: the model settles it"
        )));
    }
    let embeds = matches!(arguments.method, Similarity::Wme | Similarity::Kernel);
    if arguments.model.is_some() && !embeds {
        return Err(usage_error("--model is for the methods wme and kernel"));
    }
    let (pairs, from_file) = match &arguments.inputs[..] {
        [file] => (read_pairs(Path::new(file), arguments.header)?, true),
        [first, second] => {
            if arguments.header {
                return Err(usage_error("--header is for a file of pairs"));
            }
            let texts = (first.clone(), second.clone());
            (vec![Pair { gold: None, texts }], false)
        }
        _ => bail!("one file or two texts"),
    };
    let scores = scores(arguments, &pairs)?;
    let gold: Option<Vec<f64>> = pairs.iter().map(|pair| pair.gold).collect();
    let (pearson, spearman) = match &gold {
        Some(gold) => (pearson(&scores, gold), spearman(&scores, gold)),
        None => (None, None),
    };
    if arguments.json {
        let mut report = json!({
            "method": arguments.method.name(),
            "scores": scores,
        });
        if gold.is_some() {
            report["pearson"] = json!(pearson);
            report["spearman"] = json!(spearman);
        }
        return print(&format!("{report}\n"));
    }
    // Features are of single precision: more digits would say nothing.
    let lines = scores.iter().map(|&score| format!("{}\n", score as f32));
    let lines: String = lines.collect();
    print(&lines)?;
    if from_file && !arguments.quiet {
        say(&count(pairs.len() as u64, "pair"));
        if gold.is_some() {
            let shown = |value: Option<f64>| match value {
                Some(value) => format!("{value:.4}"),
                None => "undefined: one side never varies".to_owned(),
            };
            say(&format!("pearson   {}", shown(pearson)));
            say(&format!("spearman  {}", shown(spearman)));
        }
    }
    Ok(())
}

fn scores(arguments: &SimilarityArguments, pairs: &[Pair]) -> Result<Vec<f64>> {
    let method = arguments.method;
    let texts: Vec<(&str, &str)> = pairs
        .iter()
        .map(|pair| (pair.texts.0.as_str(), pair.texts.1.as_str()))
        .collect();
    if let Some(path) = &arguments.model {
        let model = ModelFile::open(path)?.with_vectors(arguments.vectors.open_named()?)?;
        return Ok(method.of_pairs_with(&texts, &model)?);
    }
    let mut base = EmbeddingParams::for_similarity();
    if arguments.method == Similarity::Wmd {
        // Every word weighs the same here, so stop words would.
        base.documents.tokenizer.stop_words = StopWords::Smart;
    }
    let params = arguments.params.params_over(base)?;
    let vectors = arguments.vectors.open()?;
    let source = arguments.params.frequencies.as_ref();
    let probabilities: Option<WordProbabilities> = FrequencySource::open(source, &vectors)?;
    Ok(method.of_pairs(&texts, &params, &vectors, probabilities.as_ref())?)
}
