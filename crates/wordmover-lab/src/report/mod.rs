//! The report: every number in it comes from a record.

mod baselines;
mod classification;
mod classifier;
mod neighbors;
mod page;
mod plots;
mod similarity;
mod vectors;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

use crate::record::Environment;
use crate::{comparison, corpora, lengths};

/// Records of our own classifiers.
type Compared = Vec<comparison::Record>;

/// Writes the report of the latest record of every experiment, with its pictures beside
/// it, and the page that shows the same for looking.
pub fn write(records: &Path, output: &Path, page: &Path) -> Result<()> {
    let paper = baselines::Paper::read(&records.join("../paper.toml"))?;
    let records = Records::find(records)?;
    let mut out = String::from(
        "# Report\n\nMade by `cargo run --release -p wordmover-lab -- report` from the latest \
         records. Numbers of the paper are quoted, all others computed by us. \
         [METHODOLOGY.md](METHODOLOGY.md) says how experiments are run.\n",
    );
    let pictures = output.parent().unwrap_or(Path::new("."));
    if let Some(record) = records.read::<corpora::Record>("corpora")? {
        classification::corpora(&mut out, &record)?;
    }
    let compared = records.table_2()?;
    let distinct = records.comparisons("distinct-")?;
    if !compared.is_empty() {
        classification::comparison(&mut out, &compared)?;
        let file = "features.svg";
        plots::features(&pictures.join(file), &compared)?;
        classification::feature_plots(&mut out, file)?;
    }
    let best = records.comparisons("best-vectors-")?;
    if !best.is_empty() {
        let file = "more-features.svg";
        plots::features(&pictures.join(file), &best)?;
        classification::best_vectors(&mut out, &best, file)?;
    }
    let classifiers = |name: &str| -> Result<Vec<crate::classifier::Record>> {
        let mut found: Vec<crate::classifier::Record> = records.read_all(name)?;
        found.sort_by_key(|record| {
            let runs = &record.definition.run;
            let place = runs.iter().position(|run| run.corpus == record.corpus.name);
            (record.definition.n_features, place)
        });
        Ok(found)
    };
    let defaults = classifiers("classifier-")?;
    if !defaults.is_empty() {
        classifier::defaults(&mut out, &defaults)?;
        let with_glove = classifiers("glove-")?;
        if !with_glove.is_empty() {
            classifier::other_vectors(&mut out, &defaults, &with_glove)?;
        }
        let more = classifiers("features-")?;
        if !more.is_empty() {
            classifier::more_features(&mut out, &defaults, &more)?;
        }
    }
    let meanings = classifiers("meanings-")?;
    if !meanings.is_empty() {
        classifier::meanings(&mut out, &meanings)?;
    }
    let mut learnt: Vec<crate::neighbors::Record> = records.read_all("learnt-neighbors-")?;
    learnt.sort_by_key(|record| {
        let runs = &record.definition.run;
        runs.iter().position(|run| run.corpus == record.corpus.name)
    });
    if !learnt.is_empty() {
        neighbors::section(&mut out, &learnt)?;
    }
    let others: Vec<crate::baselines::Record> = records.read_all("baselines-")?;
    let systems = baselines::Systems::new(&others, &compared, &defaults);
    // Table 3; the appendix's come after table 4.
    let (first, rest) = paper.table.split_at(paper.table.len().min(1));
    for table in first {
        baselines::section(&mut out, table, &systems)?;
    }
    if let Some(record) = records.read("similarity")? {
        similarity::section(&mut out, &record)?;
    }
    if let Some(record) = records.read("similarity-peers")? {
        similarity::peers(&mut out, &record)?;
    }
    for table in rest {
        baselines::section(&mut out, table, &systems)?;
    }
    baselines::runs(&mut out, &others)?;
    let mut of_vectors: Vec<crate::vectors::Record> = records.read_all("vectors-")?;
    of_vectors.sort_by_key(|record| {
        let runs = &record.definition.run;
        runs.iter().position(|run| run.corpus == record.corpus.name)
    });
    if !of_vectors.is_empty() {
        vectors::section(&mut out, &of_vectors)?;
    }
    let mut lengths: Vec<lengths::Record> = records.read_all("lengths-")?;
    lengths.sort_by_key(|record| {
        let runs = &record.definition.run;
        runs.iter().position(|run| run.corpus == record.corpus.name)
    });
    if !lengths.is_empty() {
        let file = "lengths.svg";
        plots::lengths(&pictures.join(file), &lengths)?;
        classification::lengths(&mut out, &lengths, file)?;
    }
    if !distinct.is_empty() {
        classification::distinct(&mut out, &distinct, &compared)?;
    }
    crate::write(
        page,
        &page::html(&paper, &systems, &others, &compared, &lengths)?,
    )?;
    crate::write(output, &out)
}

/// The latest record of every name.
struct Records(BTreeMap<String, PathBuf>);

impl Records {
    fn find(folder: &Path) -> Result<Self> {
        let list = |folder: &Path| -> Result<Vec<PathBuf>> {
            let entries = std::fs::read_dir(folder)
                .with_context(|| format!("cannot read {}", folder.display()))?;
            let mut paths: Vec<PathBuf> = entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .collect();
            // Folders are named by date: the latest comes last.
            paths.sort();
            Ok(paths)
        };
        let mut latest = BTreeMap::new();
        for day in list(folder)?.iter().filter(|path| path.is_dir()) {
            for path in list(day)? {
                let name = path
                    .file_stem()
                    .map(|name| name.to_string_lossy().into_owned());
                if let (Some(name), true) = (name, path.extension().is_some_and(|e| e == "json")) {
                    latest.insert(name, path);
                }
            }
        }
        Ok(Records(latest))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        self.0.get(name).map(|path| open(path)).transpose()
    }

    fn read_all<T: DeserializeOwned>(&self, prefix: &str) -> Result<Vec<T>> {
        let named = self.0.iter().filter(|(name, _)| name.starts_with(prefix));
        named.map(|(_, path)| open(path)).collect()
    }

    /// Those of table 2, with KNN-WMD from a run of its own where theirs had none.
    fn table_2(&self) -> Result<Compared> {
        let mut compared = self.comparisons("comparison-")?;
        for alone in self.comparisons("knn-wmd-")? {
            let of_corpus = |record: &&mut comparison::Record| {
                record.corpus.name == alone.corpus.name && record.knn().next().is_none()
            };
            if let Some(record) = compared.iter_mut().find(of_corpus) {
                record.knn_alone = Some(Box::new(alone));
            }
        }
        Ok(compared)
    }

    /// In the order of the definition's runs.
    fn comparisons(&self, prefix: &str) -> Result<Vec<comparison::Record>> {
        let mut records: Vec<comparison::Record> = self.read_all(prefix)?;
        records.sort_by_key(|record| {
            let runs = &record.definition.run;
            runs.iter().position(|run| run.corpus == record.corpus.name)
        });
        Ok(records)
    }
}

fn open<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_str(&crate::read(path)?)
        .with_context(|| format!("{} cannot be read", path.display()))
}

/// When, with what and where something was run.
fn run_of(environment: &Environment) -> String {
    let device = environment.device.iter();
    let device: String = device.map(|name| format!(" and {name}")).collect();
    format!(
        "Recorded {} at {}, {}{device}, {} threads",
        environment.date,
        short(&environment.revision),
        environment.machine,
        environment.threads
    )
}

/// The same of several runs, of which many have much in common.
fn runs_of<'a>(environments: impl Iterator<Item = &'a Environment>) -> String {
    let mut runs: Vec<String> = environments.map(run_of).collect();
    runs.sort();
    runs.dedup();
    runs.join("; ")
}

/// The run of one corpus, as an item of a list.
fn list_run(
    out: &mut String,
    corpus: &str,
    environment: &Environment,
    seconds: f64,
) -> std::fmt::Result {
    let (run, definition) = (run_of(environment), short(&environment.definition));
    writeln!(
        out,
        "- {corpus}: {run}, {seconds:.0} s, definition sha256 {definition}"
    )
}

/// The first digits of a checksum or revision.
fn short(digits: &str) -> String {
    let mark = if digits.ends_with('+') {
        " with changes"
    } else {
        ""
    };
    format!("{}{mark}", digits.get(..12).unwrap_or(digits))
}
