//! The other systems beside ours, in the order of the paper's tables.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use super::Compared;
use super::classification::{Over, quoted};
use crate::baselines::Record;
use crate::classifier;
use crate::report::runs_of;

/// `experiments/paper.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub table: Vec<Table>,
}

/// A table of the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    title: String,
    about: String,
    pub columns: Vec<String>,
    /// Our own beside each column.
    pub ours: Vec<String>,
    /// Mean and deviation by corpus, in the order of the columns; fewer where the paper has none.
    rows: toml::Table,
}

impl Paper {
    /// No tables where there is no such file.
    pub fn read(path: &Path) -> Result<Self> {
        match path.exists() {
            true => crate::parse(path, &crate::read(path)?),
            false => Ok(Paper { table: Vec::new() }),
        }
    }
}

impl Table {
    /// The paper's number.
    pub fn quoted(&self, corpus: &str, column: usize) -> Option<[f64; 2]> {
        let cell = self.rows.get(corpus)?.as_array()?.get(column)?;
        let number = |value: &toml::Value| {
            let whole = value.as_integer().map(|n| n as f64);
            value.as_float().or(whole)
        };
        let pair = cell.as_array()?;
        Some([number(pair.first()?)?, number(pair.get(1)?)?])
    }
}

/// Accuracies of every system by corpus.
pub struct Systems<'r> {
    by_key: BTreeMap<(&'r str, &'r str), &'r Record>,
    compared: &'r Compared,
    /// `wordmover train` with its defaults.
    trained: &'r [classifier::Record],
}

/// An accuracy of ours, and how many test documents it is of.
pub struct Accuracy {
    pub over: Over,
    n_test: usize,
}

impl<'r> Systems<'r> {
    pub fn new(
        records: &'r [Record],
        compared: &'r Compared,
        trained: &'r [classifier::Record],
    ) -> Self {
        let by_key = records.iter().map(|record| {
            let key = (record.corpus.as_str(), record.key.as_str());
            (key, record)
        });
        Systems {
            by_key: by_key.collect(),
            compared,
            trained,
        }
    }

    /// What a system reaches on a corpus.
    pub fn accuracy(&self, corpus: &str, key: &str) -> Option<Accuracy> {
        if let Some(record) = self.by_key.get(&(corpus, key)) {
            let values = record.outcomes.iter().map(|outcome| outcome.accuracy);
            let n_test = record.outcomes.first().map_or(0, |outcome| outcome.n_test);
            let over = Over::of(values);
            return Some(Accuracy { over, n_test });
        }
        let record = self.compared.iter().find(|r| r.corpus.name == corpus)?;
        let n_test = record.splits.first().map_or(0, |split| split.n_test);
        let over = match key {
            "wme" => record.accuracy_at(record.n_most()),
            "knn-wmd" => record.knn_accuracy()?,
            "train" => {
                let trained = self.trained.iter().find(|r| r.corpus.name == corpus)?;
                Over::of(trained.splits.iter().map(|split| split.accuracy))
            }
            _ => return None,
        };
        Some(Accuracy { over, n_test })
    }
}

/// Whether ours is more than a deviation below the paper's: the paper's own, or where it has one
/// split that of a share of so many test documents.
fn is_below(ours: &Accuracy, [mean, deviation]: [f64; 2]) -> bool {
    let p = mean / 100.0;
    let of_share = 100.0 * (p * (1.0 - p) / ours.n_test.max(1) as f64).sqrt();
    let deviation = if deviation > 0.0 { deviation } else { of_share };
    100.0 * ours.over.mean() < mean - deviation
}

/// A table with our number above the paper's in every cell.
pub fn section(out: &mut String, table: &Table, systems: &Systems<'_>) -> Result<()> {
    writeln!(out, "\n## {}\n\n{}\n", table.title, table.about)?;
    writeln!(
        out,
        "Ours, and the paper's in brackets; ▼: ours is more than one deviation below the paper's. \
         –: not run yet.\n"
    )?;
    writeln!(out, "| corpus | {} |", table.columns.join(" | "))?;
    writeln!(out, "{}|", "| --- ".repeat(1 + table.columns.len()))?;
    // TOML's tables are sorted; the paper's order is that of the corpora.
    let order = systems.compared.iter().map(|record| &record.corpus.name);
    for corpus in order.filter(|name| table.rows.contains_key(*name)) {
        let cells = table.ours.iter().enumerate().map(|(i, key)| {
            let paper = table.quoted(corpus, i);
            let ours = systems.accuracy(corpus, key);
            let mark = match (&ours, paper) {
                (Some(ours), Some(paper)) if is_below(ours, paper) => " ▼",
                _ => "",
            };
            let ours = ours.map_or("–".to_owned(), |ours| ours.over.percent());
            let paper = paper.map_or(String::new(), |paper| format!(" ({})", quoted(paper)));
            format!("{ours}{mark}{paper}")
        });
        let cells: Vec<String> = cells.collect();
        writeln!(out, "| {corpus} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// With what the systems were run, and how long they took.
pub fn runs(out: &mut String, records: &[Record]) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n## Runs of the other systems\n\nSeconds of the first split on one thread: features, choosing parameters, training, \
         prediction. `device cuda`: features on a GPU; `threads`: on so many. Where other work ran \
         on the machine they are upper bounds.\n\n\
         | corpus | system | chosen | features | choosing | training | prediction |\n\
         | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for record in records {
        let Some(outcome) = record.outcomes.first() else {
            continue;
        };
        let seconds = ["features", "choosing", "training", "prediction"].map(|stage| {
            let seconds = outcome.seconds.get(stage);
            seconds.map_or(String::new(), |seconds| format!("{seconds:.1}"))
        });
        let chosen = outcome.parameters.as_object().map_or(String::new(), |all| {
            let all = all.iter().map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name} {text}"),
                None => format!("{name} {value}"),
            });
            all.collect::<Vec<_>>().join(", ")
        });
        writeln!(
            out,
            "| {} | {} | {chosen} | {} |",
            record.corpus,
            record.system,
            seconds.join(" | ")
        )?;
    }
    writeln!(
        out,
        "\n{}.",
        runs_of(records.iter().map(|r| &r.environment))
    )?;
    let versions = records.iter().flat_map(|record| &record.outcomes);
    let versions: BTreeMap<&String, &String> = versions.flat_map(|o| &o.versions).collect();
    let versions: Vec<String> = versions.iter().map(|(p, v)| format!("{p} {v}")).collect();
    writeln!(out, "\nVersions: {}.", versions.join(", "))?;
    Ok(())
}
