//! `wordmover test`: how good a classifier is on documents whose classes are known.

use anyhow::Result;
use serde_json::json;
use wordmover_classify::{CountedText, Test, TextClassifier};

use super::{class_figures, labeled};
use crate::args::TestArguments;
use crate::input;
use crate::output::{OutputFile, check_outputs, print};
use crate::progress::{CorpusSummary, Stages, Watcher, count, say, say_coverage};
use crate::report::{self, Heading};
use crate::version::PROGRAM;

pub fn run(arguments: &TestArguments, quiet: bool) -> Result<()> {
    let outputs = [("--report", arguments.report.as_deref())];
    let documents = arguments.documents.iter().map(|path| Some(path.as_path()));
    let inputs: Vec<_> = documents
        .chain([
            Some(arguments.classifier.as_path()),
            arguments.vectors.vectors.as_deref(),
        ])
        .collect();
    check_outputs(&outputs, &inputs, arguments.writing.force)?;
    let documents = input::open_all(&arguments.documents, &arguments.input.options(None))?;
    let mut stages = Stages::default();
    let classifier = stages.time("opening", || -> Result<TextClassifier> {
        let vectors = arguments.vectors.open_named()?;
        let classifier = TextClassifier::load(&arguments.classifier, vectors)?;
        Ok(classifier.with_accelerator(arguments.device.open()?))
    })?;
    let separator = arguments.input.label_separator.as_deref();
    let count_text = |text: &str| classifier.count(text);
    let texts =
        labeled::read_texts::<CountedText>(documents, separator, count_text, quiet, &mut stages)?;
    let watcher = Watcher::new(quiet);
    let tested = stages.time("predicting", || {
        classifier.test(&texts.labeled, &|event| watcher.observe(event))
    });
    watcher.finish();
    let test = tested?;
    if let Some(path) = &arguments.report {
        let heading = heading(arguments, &texts.summary, &classifier);
        let html = report::of_test(&heading, &test, &classifier, &stages)?;
        OutputFile::holding(html.as_bytes(), path, arguments.writing.force)?.commit()?;
        if !quiet {
            say(&format!("wrote {}", path.display()));
        }
    }
    if arguments.json {
        let figures = &test.figures;
        let value = json!({
            "classifier": arguments.classifier.display().to_string(),
            "test": test,
            "classes": class_figures::classes_as_json(&test.classes, figures),
            "confusion": class_figures::confusion_as_json(&test.classes, figures),
        });
        return print(&format!("{value}\n"));
    }
    print(&as_text(&test))?;
    if !quiet {
        say_coverage(&texts.summary, classifier.embedding().space());
        say(&stages.to_string());
    }
    Ok(())
}

fn as_text(test: &Test) -> String {
    let mut text = class_figures::summary(&test.figures, test.figures.score(), "");
    if let Some(loss) = test.log_loss {
        text.push_str(&format!("log loss  {loss:.4}\n"));
    }
    for line in remarks(test) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push('\n');
    text + &class_figures::table(&test.classes, &test.figures)
}

/// What to know of documents that no classifier could have got right.
pub fn remarks(test: &Test) -> Vec<String> {
    let mut remarks = Vec::new();
    if test.n_without_words > 0 {
        let documents = count(test.n_without_words as u64, "document");
        remarks.push(format!(
            "{documents} without a known word: given the class most frequent in training"
        ));
    }
    if test.n_of_unknown_classes > 0 {
        let documents = count(test.n_of_unknown_classes as u64, "document");
        remarks.push(format!(
            "{documents} of classes that the classifier does not know"
        ));
    }
    remarks
}

fn heading(
    arguments: &TestArguments,
    summary: &CorpusSummary,
    classifier: &TextClassifier,
) -> Heading {
    let space = classifier.embedding().space();
    let vectors = space.vectors();
    Heading {
        title: format!("{}, tested", arguments.classifier.display()),
        corpus: input::shown_all(&arguments.documents),
        facts: vec![
            ("classifier", arguments.classifier.display().to_string()),
            ("documents", summary.describe(vectors, space.unknown())),
            ("vectors", report::describe(vectors)),
            ("program", PROGRAM.to_owned()),
        ],
    }
}
