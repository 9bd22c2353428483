//! `wordmover evaluate`: how well a method classifies documents it has not seen.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use wordmover::space::UnknownWords;
use wordmover_classify::{CrossValidation, Evaluation, LabeledCorpus, evaluate_splits};
use wordmover_learn::split::Split;

use super::labeled::{self, protocol_name};
use crate::args::{ClassifierMethod, EvaluateArguments};
use crate::input;
use crate::output::{OutputFile, check_outputs, print};
use crate::progress::{CorpusSummary, Stages, Watcher, count, say};
use crate::report::{self, Heading, Judged};
use crate::usage::usage_error;
use crate::version::PROGRAM;

/// With more classes, a row of the confusion matrix is longer than a line.
const MAX_MATRIX_CLASSES: usize = 20;

/// Number of random splits if not given.
const DEFAULT_SPLITS: usize = 5;

pub fn run(arguments: &EvaluateArguments, quiet: bool) -> Result<()> {
    let learning = &arguments.learning;
    let outputs = [("--report", arguments.report.as_deref())];
    let inputs = [
        Some(arguments.documents.as_path()),
        arguments.vectors.vectors.as_deref(),
        learning.text.file(),
    ];
    check_outputs(&outputs, &inputs, arguments.writing.force)?;
    let method = arguments.method()?;
    let tokenizer = learning.text.tokenizer()?;
    let options = arguments.input.options(arguments.split_column.as_ref());
    let documents = input::open(&arguments.documents, &options)?;
    let cache = learning.cache()?;
    let start = Instant::now();
    let mut stages = Stages::default();
    let vectors = stages.time("opening", || arguments.vectors.open())?;
    arguments.learning.text.check_vectors(&vectors)?;
    let device = arguments.device.open()?;
    let labeled = labeled::read(documents, tokenizer, vectors, quiet, &mut stages)?;
    let corpus = labeled.corpus.with_accelerator(device);
    let splits = match given_split(&labeled.splits)? {
        Some(_) if arguments.splits.is_some() => {
            return Err(usage_error(
                "--splits is for random splits; here --split-column gives the split",
            ));
        }
        Some(split) => vec![split],
        None if labeled.splits.len() < 2 => bail!(
            "{} holds one document: none would be left to test on",
            input::shown(&arguments.documents)
        ),
        None => {
            let n_splits = arguments.splits.unwrap_or(DEFAULT_SPLITS);
            wordmover_classify::random_splits(&corpus, n_splits, learning.seed)?
        }
    };
    if !quiet {
        let n_classes = count(corpus.classes().len() as u64, "class");
        let described = labeled
            .summary
            .describe(corpus.vectors(), unknown(arguments, &corpus));
        say(&format!("{n_classes}, {described}"));
        if let Some(warning) = labeled.summary.coverage_warning() {
            say(&warning);
        }
    }

    let watcher = Watcher::new(quiet);
    let observer = |event: wordmover_classify::Event| watcher.observe(event);
    let evaluated = evaluate_splits(&method, &corpus, &splits, &cache, &observer);
    watcher.finish();
    let evaluation = evaluated.map_err(|error| labeled::explained(error, learning.min_count))?;
    for time in evaluation.outcomes.iter().flat_map(|o| &o.times) {
        stages.add(time.stage, Duration::from_secs_f64(time.seconds));
    }
    let seconds = start.elapsed().as_secs_f64();

    if let Some(path) = &arguments.report {
        let heading = heading(arguments, &corpus, &labeled.summary);
        let html = report::of_evaluation(&heading, corpus.classes(), &evaluation, &stages);
        OutputFile::holding(html.as_bytes(), path, arguments.writing.force)?.commit()?;
        if !quiet {
            say(&format!("wrote {}", path.display()));
        }
    }
    if arguments.json {
        let value = as_json(arguments, &corpus, &labeled.summary, &evaluation, seconds);
        return print(&format!("{value}\n"));
    }
    print(&as_text(&corpus, &evaluation))?;
    if !quiet {
        say(&stages.to_string());
    }
    Ok(())
}

/// The split that the split column gives; none where it says `-` for every document or
/// was not asked for.
fn given_split(column: &[Option<String>]) -> Result<Option<Split>> {
    let mut split = Split {
        train: Vec::new(),
        test: Vec::new(),
    };
    let mut n_unsplit = 0;
    for (row, value) in column.iter().enumerate() {
        match value.as_deref() {
            Some("train") => split.train.push(row),
            Some("test") => split.test.push(row),
            None | Some("-") => n_unsplit += 1,
            Some(other) => bail!(
                "the split of document {} is `{other}`; it must be train or test, or - for all",
                row + 1
            ),
        }
    }
    if n_unsplit == column.len() {
        return Ok(None);
    }
    if n_unsplit > 0 {
        bail!("the split is - for {n_unsplit} documents, and train or test for others");
    }
    for (part, rows) in [("train", &split.train), ("test", &split.test)] {
        if rows.is_empty() {
            bail!("no document has the split {part}");
        }
    }
    Ok(Some(split))
}

fn method_name(arguments: &EvaluateArguments) -> &'static str {
    match arguments.method {
        ClassifierMethod::Wme => "wme",
        ClassifierMethod::KnnWmd => "knn-wmd",
    }
}

fn heading(
    arguments: &EvaluateArguments,
    corpus: &LabeledCorpus,
    summary: &CorpusSummary,
) -> Heading {
    let title = match arguments.method {
        ClassifierMethod::Wme => "a linear SVM on Word Mover's Embeddings, evaluated",
        ClassifierMethod::KnnWmd => "nearest neighbours under the Word Mover's Distance, evaluated",
    };
    Heading {
        title: title.to_owned(),
        corpus: input::shown(&arguments.documents),
        facts: vec![
            ("method", method_name(arguments).to_owned()),
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

fn as_json(
    arguments: &EvaluateArguments,
    corpus: &LabeledCorpus,
    summary: &CorpusSummary,
    evaluation: &Evaluation,
    seconds: f64,
) -> Value {
    let classes = corpus.classes();
    let confusion = &evaluation.confusion;
    let figures = confusion.class_figures();
    let figures = figures.iter().map(|figures| {
        json!({
            "class": classes[figures.class],
            "documents": figures.n_rows,
            "predicted": figures.n_predicted,
            "precision": figures.precision,
            "recall": figures.recall,
            "f1": figures.f1,
        })
    });
    let seen = confusion.classes().iter().map(|&class| &classes[class]);
    let vectors = corpus.vectors();
    json!({
        "method": method_name(arguments),
        "protocol": arguments.learning.protocol(),
        "seed": arguments.learning.seed,
        "documents": summary.n_documents,
        "coverage": corpus.coverage(),
        "vectors": {
            "name": vectors.name(),
            "words": vectors.len(),
            "dim": vectors.dim(),
            "checksum": vectors.checksum(),
        },
        "accuracy": evaluation.accuracy,
        "deviation": evaluation.deviation,
        "macro_f1": confusion.macro_f1(),
        "classes": figures.collect::<Vec<_>>(),
        "confusion": {
            "classes": seen.collect::<Vec<_>>(),
            "counts": confusion.rows().collect::<Vec<_>>(),
        },
        "splits": evaluation.outcomes,
        "seconds": seconds,
    })
}

fn as_text(corpus: &LabeledCorpus, evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    let n_splits = evaluation.outcomes.len();
    let spread = match n_splits {
        1 => String::new(),
        n => format!(" ± {:.2} over {n} splits", 100.0 * evaluation.deviation),
    };
    line(format!(
        "accuracy  {:.2} %{spread}",
        100.0 * evaluation.accuracy
    ));
    let confusion = &evaluation.confusion;
    line(format!("macro F1  {:.2} %", 100.0 * confusion.macro_f1()));
    let without: usize = evaluation
        .outcomes
        .iter()
        .map(|outcome| outcome.n_test_without_words)
        .sum();
    if without > 0 {
        let documents = count(without as u64, "test document");
        line(format!(
            "{documents} without a known word: given the class most frequent in training"
        ));
    }

    let judged = Judged::new(corpus.classes(), confusion);
    let width = judged.names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max("class".len());
    let has_matrix = judged.names.len() <= MAX_MATRIX_CLASSES;
    line(String::new());
    line(format!(
        "{:width$}  documents  precision    recall        F1  {}",
        "class",
        match has_matrix {
            true => "predicted as each class, in this order",
            false => "most often predicted as",
        }
    ));
    for (i, (name, figures)) in judged.names.iter().zip(&judged.figures).enumerate() {
        let predicted = match has_matrix {
            true => matrix_row(&judged, i),
            false => frequent_confusions(&judged, i),
        };
        line(format!(
            "{name:width$}  {:9}  {:7.2} %  {:6.2} %  {:6.2} %  {predicted}",
            figures.n_rows,
            100.0 * figures.precision,
            100.0 * figures.recall,
            100.0 * figures.f1,
        ));
    }

    line(String::new());
    for (i, outcome) in evaluation.outcomes.iter().enumerate() {
        let chosen = report::choice(&outcome.cross_validation);
        let held_out = match &outcome.cross_validation {
            CrossValidation::Wme { rounds, .. } => rounds.last().map_or(0, |round| round.n_folds),
            _ => 0,
        };
        let folds = match held_out {
            0 => String::new(),
            n => format!(" in {n} folds"),
        };
        line(format!(
            "split {}: {:.2} % of {} (trained on {}); {chosen}: {:.2} %{folds}",
            i + 1,
            100.0 * outcome.accuracy,
            outcome.n_test,
            outcome.n_train,
            100.0 * outcome.cross_validation.accuracy(),
        ));
    }
    text
}

fn matrix_row(judged: &Judged, class: usize) -> String {
    let greatest = judged.counts.iter().flatten().max();
    let widest = greatest.map_or(1, |n| n.to_string().len());
    let counts = judged.counts[class].iter();
    let counts = counts.map(|n| format!("{n:widest$}"));
    counts.collect::<Vec<_>>().join(" ")
}

/// The three other classes that documents of a class are most often taken for.
fn frequent_confusions(judged: &Judged, class: usize) -> String {
    let confusions = judged.confusions().into_iter();
    let confusions = confusions.filter(|&(truth, _, _)| truth == class).take(3);
    let confusions = confusions.map(|(_, other, n)| format!("{} ({n})", judged.names[other]));
    confusions.collect::<Vec<_>>().join(", ")
}

/// What becomes of words that the vectors do not know.
fn unknown(arguments: &EvaluateArguments, corpus: &LabeledCorpus) -> UnknownWords {
    let unknown = arguments.learning.unknown();
    unknown.unwrap_or_else(|| UnknownWords::default_for(corpus.vectors()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(values: &[&str]) -> Result<Option<Split>> {
        let column: Vec<_> = values.iter().map(|v| Some((*v).to_owned())).collect();
        given_split(&column)
    }

    #[test]
    fn a_split_is_whole_or_absent() {
        let found = split(&["train", "test", "train"]).unwrap().unwrap();
        assert_eq!((found.train, found.test), (vec![0, 2], vec![1]));
        assert_eq!(split(&["-", "-"]).unwrap(), None);
        assert_eq!(given_split(&[None, None]).unwrap(), None);
        for (values, problem) in [
            (
                &["train", "dev"][..],
                "the split of document 2 is `dev`; it must be train or test, or - for all",
            ),
            (
                &["train", "-", "test"],
                "the split is - for 1 documents, and train or test for others",
            ),
            (&["train", "train"], "no document has the split test"),
            (&["test"], "no document has the split train"),
        ] {
            assert_eq!(split(values).unwrap_err().to_string(), problem);
        }
    }
}
