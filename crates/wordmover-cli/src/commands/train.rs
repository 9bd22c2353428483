//! `wordmover train`: labelled documents to a classifier file.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use wordmover::space::UnknownWords;
use wordmover_classify::{LabeledCorpus, TextClassifier};

use super::labeled::{self, protocol_name};
use crate::args::TrainArguments;
use crate::input;
use crate::output::{OutputFile, check_outputs, print};
use crate::progress::{CorpusSummary, Stages, Watcher, count, say};
use crate::report::{self, Heading};
use crate::version::PROGRAM;

pub fn run(arguments: &TrainArguments, quiet: bool) -> Result<()> {
    let (learning, force) = (&arguments.learning, arguments.writing.force);
    let outputs = [
        ("--output", Some(arguments.output.as_path())),
        ("--report", arguments.report.as_deref()),
    ];
    let documents = arguments.documents.iter().map(|path| Some(path.as_path()));
    let inputs: Vec<_> = documents
        .chain([arguments.vectors.vectors.as_deref(), learning.text.file()])
        .collect();
    check_outputs(&outputs, &inputs, force)?;
    let params = learning.wme()?;
    let separator = arguments.input.label_separator.as_deref();
    labeled::check_separator(separator, learning.protocol())?;
    let tokenizer = learning.text.tokenizer()?;
    let options = arguments.input.options(None);
    let documents = input::open_all(&arguments.documents, &options)?;
    let cache = learning.cache()?;
    let mut stages = Stages::default();
    let vectors = stages.time("opening", || arguments.vectors.open())?;
    arguments.learning.text.check_vectors(&vectors)?;
    let device = arguments.device.open()?;
    let labeled = labeled::read(documents, separator, tokenizer, vectors, quiet, &mut stages)?;
    let (corpus, summary) = (labeled.corpus.with_accelerator(device), labeled.summary);
    if !quiet {
        let n_classes = count(corpus.classes().len() as u64, "class");
        let described = summary.describe(corpus.vectors(), unknown(arguments, &corpus));
        say(&format!("{n_classes}, {described}"));
        if let Some(warning) = summary.coverage_warning() {
            say(&warning);
        }
    }

    let watcher = Watcher::new(quiet);
    let observer = |event: wordmover_classify::Event| watcher.observe(event);
    let trained = TextClassifier::train(&params, &corpus, &cache, &observer);
    watcher.finish();
    let (classifier, training) =
        trained.map_err(|error| labeled::explained(error, learning.min_count))?;
    for time in &training.times {
        stages.add(time.stage, Duration::from_secs_f64(time.seconds));
    }
    stages.time("writing", || -> Result<()> {
        let bytes = classifier.to_bytes(arguments.bundle_vectors)?;
        OutputFile::holding(&bytes, &arguments.output, force)?.commit()
    })?;
    if let Some(path) = &arguments.report {
        let heading = heading(arguments, &corpus, &summary);
        let html = report::of_training(&heading, &classifier, &training, &stages)?;
        OutputFile::holding(html.as_bytes(), path, force)?.commit()?;
    }

    if arguments.json {
        let value = json!({
            "classes": corpus.classes(),
            "protocol": learning.protocol(),
            "seed": learning.seed,
            "training": training,
        });
        print(&format!("{value}\n"))?;
    }
    if !quiet {
        if training.n_without_words > 0 {
            let documents = count(training.n_without_words as u64, "document");
            say(&format!("{documents} without a known word: left out"));
        }
        say(&stages.to_string());
        let output = arguments.output.display();
        say(&match training.held_out {
            Some(_) => format!(
                "wrote {output}: {:.2} % {} in cross-validation",
                100.0 * training.choice.accuracy,
                if separator.is_some() {
                    "micro F1"
                } else {
                    "right"
                }
            ),
            None => format!("wrote {output}"),
        });
        if let Some(path) = &arguments.report {
            say(&format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

fn heading(arguments: &TrainArguments, corpus: &LabeledCorpus, summary: &CorpusSummary) -> Heading {
    Heading {
        title: "a text classifier, trained".to_owned(),
        corpus: input::shown_all(&arguments.documents),
        facts: vec![
            ("classifier", arguments.output.display().to_string()),
            ("protocol", protocol_name(arguments.learning.protocol())),
            (
                "documents",
                summary.describe(corpus.vectors(), unknown(arguments, corpus)),
            ),
            ("vectors", report::describe(corpus.vectors())),
            ("seed", arguments.learning.seed.to_string()),
            ("program", PROGRAM.to_owned()),
        ],
    }
}

/// What becomes of words that the vectors do not know.
fn unknown(arguments: &TrainArguments, corpus: &LabeledCorpus) -> UnknownWords {
    let unknown = arguments.learning.unknown();
    unknown.unwrap_or_else(|| UnknownWords::default_for(corpus.vectors()))
}
