//! `wordmover evaluate`: how well a method classifies documents it has not seen.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use wordmover::space::UnknownWords;
use wordmover_classify::{CrossValidation, Evaluation, LabeledCorpus, evaluate_splits};
use wordmover_learn::split::Split;

use super::class_figures;
use super::labeled::{self, protocol_name};
use crate::args::{ClassifierMethod, EvaluateArguments};
use crate::input;
use crate::output::{OutputFile, check_outputs, print};
use crate::progress::{CorpusSummary, Stages, Watcher, count, say};
use crate::report::{self, Heading};
use crate::usage::usage_error;
use crate::version::PROGRAM;

/// Number of random splits if not given.
const DEFAULT_SPLITS: usize = 5;

pub fn run(arguments: &EvaluateArguments, quiet: bool) -> Result<()> {
    let learning = &arguments.learning;
    let outputs = [("--report", arguments.report.as_deref())];
    let documents = arguments.documents.iter().map(|path| Some(path.as_path()));
    let inputs: Vec<_> = documents
        .chain([arguments.vectors.vectors.as_deref(), learning.text.file()])
        .collect();
    check_outputs(&outputs, &inputs, arguments.writing.force)?;
    let method = arguments.method()?;
    let separator = arguments.input.label_separator.as_deref();
    if separator.is_some() && arguments.method == ClassifierMethod::KnnWmd {
        return Err(usage_error(
            "--label-separator is for --method wme: neighbours vote for one class",
        ));
    }
    labeled::check_separator(separator, learning.protocol())?;
    let tokenizer = learning.text.tokenizer()?;
    let options = arguments.input.options(arguments.split_column.as_ref());
    let documents = input::open_all(&arguments.documents, &options)?;
    let cache = learning.cache()?;
    let start = Instant::now();
    let mut stages = Stages::default();
    let vectors = stages.time("opening", || arguments.vectors.open())?;
    arguments.learning.text.check_vectors(&vectors)?;
    let device = arguments.device.open()?;
    let labeled = labeled::read(documents, separator, tokenizer, vectors, quiet, &mut stages)?;
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
            input::shown_all(&arguments.documents)
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
        ClassifierMethod::Wme => "a text classifier, evaluated",
        ClassifierMethod::KnnWmd => "nearest neighbours under the Word Mover's Distance, evaluated",
    };
    Heading {
        title: title.to_owned(),
        corpus: input::shown_all(&arguments.documents),
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
    let figures = &evaluation.figures;
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
        "macro_f1": figures.macro_f1,
        "all_right": figures.accuracy,
        "classes": class_figures::classes_as_json(classes, figures),
        "confusion": class_figures::confusion_as_json(classes, figures),
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
    let figures = &evaluation.figures;
    let summary = class_figures::summary(figures, evaluation.accuracy, &spread);
    summary.lines().for_each(|text| line(text.to_owned()));
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

    line(String::new());
    let table = class_figures::table(corpus.classes(), figures);
    table.lines().for_each(|text| line(text.to_owned()));
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
