//! Predictions as rows: JSON lines, CSV or Parquet.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};
use wordmover_classify::{Explanation, Prediction};

use crate::output::{Cell, OutputFile, TableWriter, as_cell, cannot_write};
use crate::usage::usage_error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Csv,
    Parquet,
    JsonLines,
    /// JSON lines on standard output.
    Printed,
}

impl Layout {
    pub fn of(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Layout::Printed);
        }
        let suffix = path.extension().unwrap_or_default().to_string_lossy();
        match suffix.to_lowercase().as_str() {
            "csv" => Ok(Layout::Csv),
            "parquet" => Ok(Layout::Parquet),
            "jsonl" | "ndjson" => Ok(Layout::JsonLines),
            _ => Err(usage_error(format!(
                "cannot tell the format of {} from its suffix; end it in .csv, .parquet or .jsonl",
                path.display()
            ))),
        }
    }

    /// Whether a row has room for more than cells.
    pub fn is_json(self) -> bool {
        matches!(self, Layout::JsonLines | Layout::Printed)
    }
}

/// What is written of a prediction.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// By number.
    pub classes: &'a [String],
    /// Whether documents may have several of them.
    pub several_labels: bool,
    pub separator: &'a str,
    pub probabilities: bool,
    /// The likeliest alone.
    pub top: Option<usize>,
    /// Whether documents have ids of their own.
    pub has_ids: bool,
}

impl Contents<'_> {
    fn n_top(&self) -> Option<usize> {
        self.top.map(|n| n.min(self.classes.len()))
    }

    /// Names of the columns after the id, and whether they hold numbers.
    fn columns(&self) -> Vec<(String, bool)> {
        let label = match self.several_labels {
            true => "labels",
            false => "label",
        };
        let mut columns = vec![(label.to_owned(), false)];
        match self.n_top() {
            Some(n) => {
                for place in 1..=n {
                    columns.push((format!("label {place}"), false));
                    columns.push((format!("decision value {place}"), true));
                    if self.probabilities {
                        columns.push((format!("probability {place}"), true));
                    }
                }
            }
            None => {
                let names = self.classes.iter();
                columns.extend(names.map(|class| (format!("decision value of {class}"), true)));
                if self.probabilities {
                    let names = self.classes.iter();
                    columns.extend(names.map(|class| (format!("probability of {class}"), true)));
                }
            }
        }
        columns
    }

    fn cells(&self, prediction: &Prediction) -> Vec<Cell> {
        let names = prediction
            .classes
            .iter()
            .map(|&class| self.classes[class].as_str());
        let mut cells = vec![Cell::Text(names.collect::<Vec<_>>().join(self.separator))];
        let values = prediction.decision_values.as_deref();
        let probabilities = prediction.probabilities.as_deref();
        let number = |values: Option<&[f64]>, class: usize| Cell::Number(values.map(|v| v[class]));
        match self.n_top() {
            Some(n) => {
                let ranked = prediction.ranked();
                for place in 0..n {
                    match ranked.get(place) {
                        Some(&class) => {
                            cells.push(Cell::Text(self.classes[class].clone()));
                            cells.push(number(values, class));
                        }
                        None => cells.extend([Cell::Text(String::new()), Cell::Number(None)]),
                    }
                    if self.probabilities {
                        let class = ranked.get(place);
                        cells.push(class.map_or(Cell::Number(None), |&c| number(probabilities, c)));
                    }
                }
            }
            None => {
                cells.extend((0..self.classes.len()).map(|class| number(values, class)));
                if self.probabilities {
                    cells.extend((0..self.classes.len()).map(|class| number(probabilities, class)));
                }
            }
        }
        cells
    }

    fn json(&self, id: Value, prediction: &Prediction, why: Option<&Explanation>) -> Value {
        let name = |class: usize| json!(self.classes[class]);
        let by_class = |values: Option<&[f64]>| {
            values.map(|values| {
                let pairs = self
                    .classes
                    .iter()
                    .cloned()
                    .zip(values.iter().map(|v| json!(v)));
                pairs.collect::<Map<String, Value>>()
            })
        };
        let values = prediction.decision_values.as_deref();
        let probabilities = prediction.probabilities.as_deref();
        let mut row = Map::new();
        row.insert("id".to_owned(), id);
        match self.several_labels {
            true => {
                let names: Value = prediction
                    .classes
                    .iter()
                    .map(|&class| name(class))
                    .collect();
                row.insert("labels".to_owned(), names);
            }
            false => drop(row.insert("label".to_owned(), name(prediction.class))),
        }
        match self.n_top() {
            Some(n) => {
                let top = prediction.ranked().into_iter().take(n).map(|class| {
                    let mut entry = json!({
                        "label": name(class),
                        "decision_value": values.map(|values| values[class]),
                    });
                    if self.probabilities {
                        entry["probability"] = json!(probabilities.map(|p| p[class]));
                    }
                    entry
                });
                row.insert("top".to_owned(), top.collect());
            }
            None => {
                row.insert("decision_values".to_owned(), json!(by_class(values)));
                if self.probabilities {
                    row.insert("probabilities".to_owned(), json!(by_class(probabilities)));
                }
            }
        }
        if let Some(why) = why {
            let mut explanation = json!(why);
            explanation["label"] = name(why.class);
            row.insert("explanation".to_owned(), explanation);
        }
        Value::Object(row)
    }
}

/// Writes one prediction a row.
pub struct Writer<'a> {
    contents: Contents<'a>,
    output: Output,
    path: &'a Path,
    pub n_written: u64,
}

enum Output {
    Csv(Box<csv::Writer<OutputFile>>),
    Parquet(Box<TableWriter<OutputFile>>),
    JsonLines(OutputFile),
    Printed(io::StdoutLock<'static>),
}

impl<'a> Writer<'a> {
    pub fn new(
        layout: Layout,
        path: &'a Path,
        force: bool,
        contents: Contents<'a>,
    ) -> Result<Self> {
        let file = || OutputFile::create(path, force);
        let failed = |error| cannot_write(path, error);
        let output = match layout {
            Layout::Printed => Output::Printed(io::stdout().lock()),
            Layout::JsonLines => Output::JsonLines(file()?),
            Layout::Csv => {
                let mut writer = csv::Writer::from_writer(file()?);
                let names = contents.columns().into_iter().map(|(name, _)| name);
                let header = ["id".to_owned()].into_iter().chain(names);
                let written = writer.write_record(header.map(|name| as_cell(&name).into_owned()));
                written.map_err(|error| failed(error.into()))?;
                Output::Csv(Box::new(writer))
            }
            Layout::Parquet => {
                let mut columns = vec![("id".to_owned(), false)];
                columns.extend(contents.columns());
                let writer = TableWriter::new(file()?, columns, !contents.has_ids);
                Output::Parquet(Box::new(writer.map_err(failed)?))
            }
        };
        Ok(Writer {
            contents,
            output,
            path,
            n_written: 0,
        })
    }

    pub fn write(
        &mut self,
        id: Option<String>,
        prediction: &Prediction,
        why: Option<&Explanation>,
    ) -> Result<()> {
        let number = self.n_written;
        let json_id = || id.as_ref().map_or(json!(number), |id| json!(id));
        let written = match &mut self.output {
            Output::Csv(writer) => {
                let id = id.unwrap_or_else(|| number.to_string());
                let cells = self
                    .contents
                    .cells(prediction)
                    .into_iter()
                    .map(|cell| match cell {
                        Cell::Text(text) => as_cell(&text).into_owned(),
                        Cell::Number(number) => number.map_or(String::new(), |x| x.to_string()),
                    });
                let record = [as_cell(&id).into_owned()].into_iter().chain(cells);
                writer.write_record(record).map_err(io::Error::from)
            }
            Output::Parquet(writer) => {
                let cells = self.contents.cells(prediction);
                writer.write_row(id.as_deref(), number, &cells)
            }
            Output::JsonLines(file) => {
                writeln!(file, "{}", self.contents.json(json_id(), prediction, why))
            }
            Output::Printed(out) => {
                writeln!(out, "{}", self.contents.json(json_id(), prediction, why))
            }
        };
        self.n_written += 1;
        written.map_err(|error| cannot_write(self.path, error))
    }

    pub fn finish(self) -> Result<()> {
        let failed = |error| cannot_write(self.path, error);
        let file = match self.output {
            Output::Csv(writer) => writer.into_inner().map_err(|e| failed(e.into_error()))?,
            Output::Parquet(writer) => writer.finish().map_err(failed)?,
            Output::JsonLines(file) => file,
            Output::Printed(mut out) => return out.flush().map_err(failed),
        };
        file.commit()
    }
}
