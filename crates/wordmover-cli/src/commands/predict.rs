//! `wordmover predict`: texts to classes with decision values, probabilities and reasons.

use std::borrow::Borrow;
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Result, bail};
use wordmover::document::WordCounts;
use wordmover_classify::{CountedText, Explanation, TextClassifier};

use super::corpus::Batches;
use super::prediction_table::{Contents, Layout, Writer};
use crate::args::PredictArguments;
use crate::input;
use crate::output::check_outputs;
use crate::progress::{self, CorpusSummary, Stages, Watcher, count, say, say_coverage};
use crate::usage::usage_error;

/// Random documents named in an explanation.
const N_NEAREST: usize = 3;

/// Words named in an explanation, for the class and against it.
const N_WORDS: usize = 10;

/// A counted text, with the text itself where it is needed.
struct Read {
    counted: CountedText,
    text: Option<String>,
}

impl Borrow<WordCounts> for Read {
    fn borrow(&self) -> &WordCounts {
        &self.counted.counts
    }
}

pub fn run(arguments: &PredictArguments, quiet: bool) -> Result<()> {
    let output = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let layout = Layout::of(output)?;
    let outputs = [("--output", (layout != Layout::Printed).then_some(output))];
    let documents = arguments.documents.iter().map(|path| Some(path.as_path()));
    let inputs: Vec<_> = documents
        .chain([
            Some(arguments.classifier.as_path()),
            arguments.vectors.vectors.as_deref(),
        ])
        .collect();
    check_outputs(&outputs, &inputs, arguments.writing.force)?;
    if arguments.explain && !layout.is_json() {
        return Err(usage_error(
            "--explain is for JSON lines; end the output in .jsonl or leave it out",
        ));
    }
    let documents = input::open_all(&arguments.documents, &arguments.input.options())?;
    let mut stages = Stages::default();
    let classifier = stages.time("opening", || -> Result<TextClassifier> {
        let vectors = arguments.vectors.open_named()?;
        let classifier = TextClassifier::load(&arguments.classifier, vectors)?;
        Ok(classifier.with_accelerator(arguments.device.open()?))
    })?;

    if arguments.probabilities && !classifier.has_probabilities() {
        bail!(
            "{} has no probabilities: it is of an earlier version, or no document could be held \
             out in training",
            arguments.classifier.display()
        );
    }
    let contents = Contents {
        classes: classifier.classes(),
        several_labels: classifier.info().several_labels,
        separator: &arguments.label_separator,
        probabilities: arguments.probabilities,
        top: arguments.top,
        has_ids: arguments.input.id_column.is_some(),
    };
    let mut writer = Writer::new(layout, output, arguments.writing.force, contents)?;
    let mut summary = CorpusSummary::default();
    // Lines that are printed on the same terminal would mix with a bar.
    let hides_progress = quiet || (layout == Layout::Printed && io::stdout().is_terminal());
    let watcher = Watcher::new(hides_progress);
    let progress = progress::counter(hides_progress, "predicting");
    let mut batches = Batches::of(documents);
    loop {
        let count = |text: &str| Read {
            counted: classifier.count(text),
            text: arguments.explain.then(|| text.to_owned()),
        };
        let batch = batches.next(count, &mut summary, &mut stages, &progress)?;
        if batch.is_empty() {
            break;
        }
        let (mut ids, mut counts) = (Vec::new(), Vec::new());
        for document in batch {
            ids.push((document.id, document.counts.text));
            counts.push(document.counts.counted);
        }
        let predictions = stages.time("predicting", || {
            classifier.predict_counted(&counts, &|event| watcher.observe(event))
        })?;
        stages.time("writing", || -> Result<()> {
            for ((id, text), prediction) in ids.into_iter().zip(&predictions) {
                summary.n_empty += u64::from(prediction.decision_values.is_none());
                let why = text.map(|text| explain(&classifier, &text, prediction.class));
                writer.write(id, prediction, why.transpose()?.as_ref())?;
            }
            Ok(())
        })?;
    }
    progress.finish_and_clear();
    let n_written = writer.n_written;
    writer.finish()?;
    if !quiet {
        say_coverage(&summary, classifier.embedding().space());
        if summary.n_empty > 0 {
            let documents = count(summary.n_empty, "document");
            say(&format!(
                "{documents} without a known word: given the class most frequent in training"
            ));
        }
        say(&stages.to_string());
        if layout != Layout::Printed {
            let predictions = count(n_written, "prediction");
            say(&format!("wrote {}: {predictions}", output.display()));
        }
    }
    Ok(())
}

/// The words that say most for the class, and those that say most against it.
fn explain(classifier: &TextClassifier, text: &str, class: usize) -> Result<Explanation> {
    let mut why = classifier.explain(text, Some(class), N_NEAREST)?;
    let words = &mut why.words;
    if words.len() > 2 * N_WORDS {
        words.drain(N_WORDS..words.len() - N_WORDS);
    }
    Ok(why)
}
