//! The classification experiments beside the paper's tables.

use std::fmt::Write;

use anyhow::Result;
use wordmover::names::Named;
use wordmover_classify::CurvePoint;
use wordmover_learn::metrics::mean_and_deviation;

use crate::comparison::{OfKnn, Record};
use crate::report::{list_run, run_of, runs_of};
use crate::{corpora, lengths};

/// Table 1.
pub fn corpora(out: &mut String, record: &corpora::Record) -> Result<()> {
    writeln!(out, "\n## {}\n", record.definition.title)?;
    writeln!(
        out,
        "Distinct words of the corpus and of a document are counted after lower-casing and \
         dropping SMART's stop words (not on TWITTER) and, on 20NEWS, words seen less than five \
         times; before words without a vector are dropped. The paper's are counted after that. \
         \"Repeated\": documents whose text was there before. \"Known\": share of the words that \
         GloVe 6B, GloVe 840B and Google News hold.\n\n{}.\n",
        run_of(&record.environment)
    )?;
    writeln!(
        out,
        "| corpus | | classes | train / test | vocabulary | words a document | repeated | known | \
         paper: train / test | vocabulary | words |"
    )?;
    writeln!(out, "{}|", "| --- ".repeat(11))?;
    for row in &record.rows {
        let sizes = match row.test {
            0 => format!("{} unsplit", row.train),
            test => format!("{} / {test}", row.train),
        };
        let known = row
            .known
            .iter()
            .map(|share| format!("{:.0}", 100.0 * share));
        let paper = match &row.corpus.paper {
            Some(paper) => format!(
                "{} / {} | {} | {}",
                paper.train, paper.test, paper.vocabulary, paper.words
            ),
            None => " | | ".to_owned(),
        };
        writeln!(
            out,
            "| {} | {} | {} | {sizes} | {} | {:.1} | {} | {} % | {paper} |",
            row.corpus.name,
            row.corpus.about,
            row.classes,
            row.vocabulary,
            row.words,
            row.repeated,
            known.collect::<Vec<_>>().join(" / ")
        )?;
    }
    Ok(())
}

/// Mean and standard deviation over splits.
pub struct Over {
    mean: f64,
    deviation: f64,
    n: usize,
}

impl Over {
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let (mean, deviation) = mean_and_deviation(&values).unwrap_or((f64::NAN, 0.0));
        Over {
            mean,
            deviation,
            n: values.len(),
        }
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// A share in per cent.
    pub fn percent(&self) -> String {
        let percent = |share: f64| 100.0 * share;
        match self.n {
            0 => "–".to_owned(),
            1 => format!("{:.2}", percent(self.mean)),
            _ => format!("{:.2} ± {:.2}", percent(self.mean), percent(self.deviation)),
        }
    }
}

impl Record {
    pub fn at(&self, n_features: usize) -> impl Iterator<Item = &CurvePoint> {
        let of_splits = self.splits.iter().flat_map(|split| &split.curve);
        of_splits.filter(move |point| point.n_features == n_features)
    }

    pub fn accuracy_at(&self, n_features: usize) -> Over {
        Over::of(self.at(n_features).map(|point| point.accuracy))
    }

    pub fn knn(&self) -> impl Iterator<Item = &OfKnn> {
        let alone = self.knn_alone.iter().flat_map(|record| &record.splits);
        let splits = self.splits.iter().chain(alone);
        splits.filter_map(|split| split.knn.as_ref())
    }

    pub fn knn_accuracy(&self) -> Option<Over> {
        let over = Over::of(self.knn().map(|knn| knn.accuracy));
        (over.n > 0).then_some(over)
    }

    pub fn n_most(&self) -> usize {
        self.definition.features.last().copied().unwrap_or(0)
    }
}

/// Table 2, and what the vectors do.
pub fn comparison(out: &mut String, records: &[Record]) -> Result<()> {
    let records: Vec<&Record> = records.iter().collect();
    let definition = &records[0].definition;
    writeln!(out, "\n## {}\n", definition.title)?;
    writeln!(
        out,
        "Accuracy on test documents in per cent, with the sample standard deviation over random \
         70/30 splits where the corpus has no split of its own. Everything is chosen by \
         cross-validation on training documents: the vectors (with {} features, on the first \
         split), weighting, D_max and C (`fast` protocol, [protocols.md](../docs/protocols.md)), \
         and K. Against the paper's: how far our last column is above (+) or below (-).\n",
        definition.vectors_features
    )?;
    let shown: Vec<usize> = [512, 1024, 4096]
        .into_iter()
        .filter(|n| definition.features.contains(n))
        .collect();
    let columns: Vec<String> = shown.iter().map(|n| format!("WME R = {n}")).collect();
    writeln!(
        out,
        "| corpus | vectors | known | splits | KNN-WMD | {} | paper KNN-WMD | paper WME small | paper WME large | against KNN-WMD | against WME |",
        columns.join(" | ")
    )?;
    writeln!(out, "{}|", "| --- ".repeat(10 + shown.len()))?;
    for record in &records {
        let knn = record
            .knn_accuracy()
            .map_or("–".to_owned(), |knn| knn.percent());
        let ours: Vec<String> = shown
            .iter()
            .map(|&n| record.accuracy_at(n).percent())
            .collect();
        let last = 100.0 * record.accuracy_at(record.n_most()).mean;
        let paper = match &record.corpus.paper {
            None => "| | | |".to_owned(),
            Some(paper) => format!(
                "{} | {} | {} | {:+.2} | {:+.2}",
                quoted(paper.knn_wmd),
                quoted(paper.wme_small),
                quoted(paper.wme_large),
                last - paper.knn_wmd[0],
                last - paper.wme_large[0]
            ),
        };
        writeln!(
            out,
            "| {} | {} | {:.0} % | {} | {knn} | {} | {paper} |",
            record.corpus.name,
            record.best,
            100.0 * record.known,
            record.splits.len(),
            ours.join(" | ")
        )?;
    }
    times(out, &records)?;
    vectors(out, &records)?;
    writeln!(out, "\nRuns:\n")?;
    for record in &records {
        list_run(
            out,
            &record.corpus.name,
            &record.environment,
            record.seconds,
        )?;
        if let Some(alone) = &record.knn_alone {
            let name = format!("{}, KNN-WMD alone", record.corpus.name);
            list_run(out, &name, &alone.environment, alone.seconds)?;
        }
    }
    Ok(())
}

pub fn quoted([mean, deviation]: [f64; 2]) -> String {
    if deviation > 0.0 {
        format!("{mean:.1} ± {deviation:.1}")
    } else {
        format!("{mean:.1}")
    }
}

/// How much faster WME is where it is as accurate as KNN-WMD.
fn times(out: &mut String, records: &[&Record]) -> Result<()> {
    writeln!(
        out,
        "\n### Time at equal accuracy\n\nSeconds of the first split. \"Equal accuracy\": the smallest R of the \
         list whose mean accuracy on test documents reaches that of KNN-WMD (read off afterwards, \
         not chosen by training documents); the largest, marked *, where none does. KNN-WMD is our own \
         exact search, which solves a small share of the pairs. Choosing: neighbours of all \
         training documents for K; cross-validation of weighting, D_max and C for WME. Speed-up: \
         neighbours of the test documents over embedding and fitting the training documents and \
         embedding and predicting the test documents; in brackets over the latter alone. The \
         paper timed neighbours with every pair solved: over those, with POT by way of gensim, the \
         speed-up is in [the benchmarks](../bench/REPORT.md#exact-nearest-neighbours).\n"
    )?;
    writeln!(
        out,
        "| corpus | KNN-WMD choosing | predicting | WME R | choosing | training | predicting | speed-up | paper |"
    )?;
    writeln!(out, "{}|", "| --- ".repeat(9))?;
    for record in records {
        let (Some(knn), Some(accuracy)) = (record.knn().next(), record.knn_accuracy()) else {
            continue;
        };
        let features = &record.definition.features;
        let reaches = |n: &&usize| record.accuracy_at(**n).mean >= accuracy.mean;
        let (n, mark) = match features.iter().find(reaches) {
            Some(&n) => (n, ""),
            None => (record.n_most(), "*"),
        };
        let Some(point) = record.at(n).next() else {
            continue;
        };
        let wme = point.training_seconds + point.prediction_seconds;
        let paper = record.corpus.paper.as_ref();
        writeln!(
            out,
            "| {} | {:.1} | {:.1} | {n}{mark} | {:.1} | {:.2} | {:.2} | {:.1} ({:.0}) | {} |",
            record.corpus.name,
            knn.choosing_seconds,
            knn.prediction_seconds,
            record.splits[0].choosing_seconds,
            point.training_seconds,
            point.prediction_seconds,
            knn.prediction_seconds / wme,
            knn.prediction_seconds / point.prediction_seconds,
            paper.map_or(String::new(), |paper| paper.speed_up.to_string())
        )?;
    }
    Ok(())
}

fn vectors(out: &mut String, records: &[&Record]) -> Result<()> {
    writeln!(
        out,
        "\n### Word vectors\n\nOn the first split, R = {}: accuracy on training documents held out / on test documents, \
         with the share of words known; the chosen in bold.\n",
        records[0].definition.vectors_features
    )?;
    let most = records.iter().max_by_key(|record| record.vectors.len());
    let names: Vec<&str> = most
        .iter()
        .flat_map(|record| &record.vectors)
        .map(|vectors| vectors.name.as_str())
        .collect();
    let has_knn = records.iter().any(|record| record.knn().next().is_some());
    let k = if has_knn { " K |" } else { "" };
    writeln!(
        out,
        "| corpus | {} | weighting | D_max |{k}",
        names.join(" | ")
    )?;
    writeln!(
        out,
        "{}|",
        "| --- ".repeat(3 + usize::from(has_knn) + names.len())
    )?;
    for record in records {
        let cells = names.iter().map(|&name| {
            let Some(vectors) = record.vectors.iter().find(|v| v.name == name) else {
                return "–".to_owned();
            };
            let mark = if name == record.best { "**" } else { "" };
            format!(
                "{mark}{:.1} / {:.1}{mark} ({:.0} %)",
                100.0 * vectors.choice.accuracy,
                100.0 * vectors.accuracy,
                100.0 * vectors.known
            )
        });
        let splits = || record.splits.iter();
        let mut weightings: Vec<&str> = splits()
            .map(|split| split.choice.candidate.weighting.name())
            .collect();
        weightings.sort_unstable();
        weightings.dedup();
        writeln!(
            out,
            "| {} | {} | {} | {} |{}",
            record.corpus.name,
            cells.collect::<Vec<_>>().join(" | "),
            weightings.join(", "),
            each(splits().map(|split| split.choice.candidate.d_max)),
            match has_knn {
                true => format!(" {} |", each(record.knn().map(|knn| knn.choice.k))),
                false => String::new(),
            }
        )?;
    }
    Ok(())
}

/// The distinct values, ascending.
fn each(values: impl Iterator<Item = usize>) -> String {
    let values: std::collections::BTreeSet<usize> = values.collect();
    let values: Vec<String> = values.iter().map(usize::to_string).collect();
    values.join(", ")
}

/// Figure 2.
pub fn feature_plots(out: &mut String, file: &str) -> Result<()> {
    writeln!(
        out,
        "\n### The number of random documents\n\nAccuracy on training (dashed) and test documents by R, means over the splits above; \
         D_max and weighting as chosen, C over R.\n\n![accuracy by the number of random documents]({file})"
    )?;
    Ok(())
}

/// The embedding alone with more features and vectors to choose from, beside the paper's.
pub fn best_vectors(out: &mut String, records: &[Record], file: &str) -> Result<()> {
    let definition = &records[0].definition;
    writeln!(
        out,
        "\n## {}\n\nThe embedding alone, as in table 2, but no word is dropped: the built-in \
         vectors compose those that they do not know, the others draw them from a hash. The \
         vectors are chosen on training documents held out ({} features, first split). Below the \
         paper's: by how much our R = 4096 misses it.\n",
        definition.title, definition.vectors_features
    )?;
    let shown: Vec<usize> = [1024, 4096, 8192]
        .into_iter()
        .filter(|n| definition.features.contains(n))
        .collect();
    let columns: Vec<String> = shown.iter().map(|n| format!("R = {n}")).collect();
    writeln!(
        out,
        "| corpus | vectors | splits | {} | paper, R up to 4096 | below it |",
        columns.join(" | ")
    )?;
    writeln!(out, "{}|", "| --- ".repeat(5 + shown.len()))?;
    for record in records {
        let ours: Vec<String> = shown
            .iter()
            .map(|&n| record.accuracy_at(n).percent())
            .collect();
        let paper = match &record.corpus.paper {
            None => " | ".to_owned(),
            Some(paper) => {
                let below = paper.wme_large[0] - 100.0 * record.accuracy_at(4096).mean;
                let below = match below > 0.0 {
                    true => format!("{below:.2}"),
                    false => "no".to_owned(),
                };
                format!("{} | {below}", quoted(paper.wme_large))
            }
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {paper} |",
            record.corpus.name,
            record.best,
            record.splits.len(),
            ours.join(" | ")
        )?;
    }
    writeln!(
        out,
        "\nBy R, training documents dashed:\n\n![accuracy by the number of random documents]({file})"
    )?;
    vectors(out, &records.iter().collect::<Vec<_>>())?;
    let runs = runs_of(records.iter().map(|r| &r.environment));
    writeln!(out, "\n{runs}.")?;
    Ok(())
}

/// Figure 3.
pub fn lengths(out: &mut String, records: &[lengths::Record], file: &str) -> Result<()> {
    let definition = &records[0].definition;
    writeln!(
        out,
        "\n## {}\n\nAccuracy on training (dashed) and test documents by D_max, R = {}, on one split; weighting, gamma and C \
         are those chosen by cross-validation.\n\n![accuracy by the length of random documents]({file})\n",
        definition.title, definition.n_features
    )?;
    let d_maxes: Vec<String> = records[0]
        .points
        .iter()
        .map(|point| point.d_max.to_string())
        .collect();
    writeln!(out, "| corpus | vectors | {} |", d_maxes.join(" | "))?;
    writeln!(out, "{}|", "| --- ".repeat(2 + d_maxes.len()))?;
    for record in records {
        let cells = record.points.iter();
        let cells = cells.map(|point| format!("{:.1}", 100.0 * point.point.accuracy));
        writeln!(
            out,
            "| {} | {} | {} |",
            record.corpus.name,
            record.vectors,
            cells.collect::<Vec<_>>().join(" | ")
        )?;
    }
    let seconds: f64 = records.iter().map(|record| record.seconds).sum();
    writeln!(
        out,
        "\n{}, {seconds:.0} s in all.",
        runs_of(records.iter().map(|r| &r.environment))
    )?;
    Ok(())
}

/// What repeated documents do.
pub fn distinct(out: &mut String, records: &[Record], compared: &[Record]) -> Result<()> {
    let n = records[0].n_most();
    writeln!(
        out,
        "\n## {}\n\nA document whose known words were there before is left out, so that no test document has a \
         training document at distance 0 (Sato et al., ICML 2022). Accuracy in per cent, R = {n}; \
         in brackets with all documents.\n",
        records[0].definition.title
    )?;
    writeln!(
        out,
        "| corpus | vectors | left out | splits | KNN-WMD | WME |"
    )?;
    writeln!(out, "{}|", "| --- ".repeat(6))?;
    for record in records {
        let whole = compared
            .iter()
            .find(|other| other.corpus.name == record.corpus.name);
        let with_all = |of: &dyn Fn(&Record) -> Option<Over>| {
            let all = whole
                .and_then(of)
                .map(|over| format!(" ({})", over.percent()));
            let distinct = of(record).map_or("–".to_owned(), |over| over.percent());
            distinct + &all.unwrap_or_default()
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            record.corpus.name,
            record.best,
            record.n_repeated,
            record.splits.len(),
            with_all(&Record::knn_accuracy),
            with_all(&|record| Some(record.accuracy_at(n)).filter(|over| over.n > 0))
        )?;
    }
    writeln!(
        out,
        "\n{}.",
        runs_of(records.iter().map(|r| &r.environment))
    )?;
    Ok(())
}
