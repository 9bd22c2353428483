//! `wordmover predict`: texts to classes with decision values.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};
use wordmover_classify::{CountedText, Prediction, TextClassifier};

use super::corpus::Batches;
use crate::args::PredictArguments;
use crate::input;
use crate::output::{OutputFile, as_cell, cannot_write, check_outputs};
use crate::progress::{self, CorpusSummary, Stages, Watcher, count, say, say_coverage};
use crate::usage::usage_error;

pub fn run(arguments: &PredictArguments, quiet: bool) -> Result<()> {
    let output = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let layout = Layout::of(output)?;
    let outputs = [("--output", (layout != Layout::Printed).then_some(output))];
    let inputs = [
        Some(arguments.classifier.as_path()),
        Some(arguments.documents.as_path()),
        arguments.vectors.vectors.as_deref(),
    ];
    check_outputs(&outputs, &inputs, arguments.writing.force)?;
    let documents = input::open(&arguments.documents, &arguments.input.options())?;
    let mut stages = Stages::default();
    let classifier = stages.time("opening", || -> Result<TextClassifier> {
        let vectors = arguments.vectors.open_named()?;
        let classifier = TextClassifier::load(&arguments.classifier, vectors)?;
        Ok(classifier.with_accelerator(arguments.device.open()?))
    })?;

    let mut writer = Writer::new(
        layout,
        output,
        arguments.writing.force,
        classifier.classes(),
    )?;
    let mut summary = CorpusSummary::default();
    // Lines that are printed on the same terminal would mix with a bar.
    let hides_progress = quiet || (layout == Layout::Printed && io::stdout().is_terminal());
    let watcher = Watcher::new(hides_progress);
    let progress = progress::counter(hides_progress, "predicting");
    let mut batches = Batches::of(documents);
    loop {
        let count = |text: &str| classifier.count(text);
        let batch = batches.next(count, &mut summary, &mut stages, &progress)?;
        if batch.is_empty() {
            break;
        }
        let (ids, counts): (Vec<_>, Vec<CountedText>) =
            batch.into_iter().map(|d| (d.id, d.counts)).unzip();
        let predictions = stages.time("predicting", || {
            classifier.predict_counted(&counts, &|event| watcher.observe(event))
        })?;
        stages.time("writing", || -> Result<()> {
            for (id, prediction) in ids.into_iter().zip(&predictions) {
                summary.n_empty += u64::from(prediction.decision_values.is_none());
                writer.write(id, prediction)?;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Csv,
    JsonLines,
    /// JSON lines on standard output.
    Printed,
}

impl Layout {
    fn of(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Layout::Printed);
        }
        let suffix = path.extension().unwrap_or_default().to_string_lossy();
        match suffix.to_lowercase().as_str() {
            "csv" => Ok(Layout::Csv),
            "jsonl" | "ndjson" => Ok(Layout::JsonLines),
            _ => Err(usage_error(format!(
                "cannot tell the format of {} from its suffix; end it in .csv or .jsonl",
                path.display()
            ))),
        }
    }
}

/// Writes one prediction a row.
struct Writer<'a> {
    classes: &'a [String],
    output: Output,
    path: &'a Path,
    n_written: u64,
}

enum Output {
    Csv(Box<csv::Writer<OutputFile>>),
    JsonLines(OutputFile),
    Printed(io::StdoutLock<'static>),
}

impl<'a> Writer<'a> {
    fn new(layout: Layout, path: &'a Path, force: bool, classes: &'a [String]) -> Result<Self> {
        let file = || OutputFile::create(path, force);
        let output = match layout {
            Layout::Printed => Output::Printed(io::stdout().lock()),
            Layout::JsonLines => Output::JsonLines(file()?),
            Layout::Csv => {
                let mut writer = csv::Writer::from_writer(file()?);
                let values = classes
                    .iter()
                    .map(|class| format!("decision value of {class}"));
                let header = ["id".to_owned(), "label".to_owned()]
                    .into_iter()
                    .chain(values);
                writer
                    .write_record(header)
                    .map_err(|error| cannot_write(path, error.into()))?;
                Output::Csv(Box::new(writer))
            }
        };
        Ok(Writer {
            classes,
            output,
            path,
            n_written: 0,
        })
    }

    fn write(&mut self, id: Option<String>, prediction: &Prediction) -> Result<()> {
        let label = &self.classes[prediction.class];
        let values = prediction.decision_values.as_deref();
        let written = match &mut self.output {
            Output::Csv(writer) => {
                let id = id.unwrap_or_else(|| self.n_written.to_string());
                let values = (0..self.classes.len())
                    .map(|class| values.map_or(String::new(), |values| values[class].to_string()));
                let texts = [&id, label].map(|text| as_cell(text).into_owned());
                let record = texts.into_iter().chain(values);
                writer.write_record(record).map_err(io::Error::from)
            }
            Output::JsonLines(file) => {
                let line = json_line(id, self.n_written, label, self.classes, values);
                writeln!(file, "{line}")
            }
            Output::Printed(out) => {
                let line = json_line(id, self.n_written, label, self.classes, values);
                writeln!(out, "{line}")
            }
        };
        self.n_written += 1;
        written.map_err(|error| cannot_write(self.path, error))
    }

    fn finish(self) -> Result<()> {
        let file = match self.output {
            Output::Csv(writer) => writer
                .into_inner()
                .map_err(|error| cannot_write(self.path, error.into_error()))?,
            Output::JsonLines(file) => file,
            Output::Printed(mut out) => {
                return out.flush().map_err(|error| cannot_write(self.path, error));
            }
        };
        file.commit()
    }
}

fn json_line(
    id: Option<String>,
    number: u64,
    label: &str,
    classes: &[String],
    values: Option<&[f64]>,
) -> Value {
    let id = id.map_or(json!(number), |id| json!(id));
    let by_class = values.map(|values| {
        let pairs = classes.iter().cloned().zip(values.iter().map(|v| json!(v)));
        pairs.collect::<Map<String, Value>>()
    });
    json!({ "id": id, "label": label, "decision_values": by_class })
}
