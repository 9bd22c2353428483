//! `wordmover train`: labelled documents to a classifier file.

use std::time::Duration;

use anyhow::Result;
use wordmover_classify::TextClassifier;

use super::labeled;
use crate::args::TrainArguments;
use crate::input;
use crate::output::{AsideFile, check_target};
use crate::progress::{Stages, Watcher, count, say};

pub fn run(arguments: &TrainArguments) -> Result<()> {
    let (learning, quiet) = (&arguments.learning, arguments.writing.quiet);
    check_target(&arguments.output, arguments.writing.force)?;
    let params = learning.wme()?;
    let tokenizer = learning.text.tokenizer()?;
    let options = learning.input(&arguments.input, None);
    let documents = input::open(&arguments.documents, &options)?;
    let cache = learning.cache()?;
    let mut stages = Stages::default();
    let vectors = stages.time("opening", || arguments.vectors.open())?;
    let path = &arguments.documents;
    let labeled = labeled::read(documents, path, tokenizer, vectors, quiet, &mut stages)?;
    let corpus = labeled.corpus;
    if !quiet {
        let n_classes = count(corpus.classes().len() as u64, "class");
        let described = labeled.summary.describe(corpus.vectors().name());
        say(&format!("{n_classes}, {described}"));
    }

    let watcher = Watcher::new(quiet);
    let trained = TextClassifier::train(&params, &corpus, &cache, &|event| watcher.hear(event));
    watcher.finish();
    let (classifier, training) = trained?;
    for time in &training.times {
        stages.add(time.stage, Duration::from_secs_f64(time.seconds));
    }
    stages.time("writing", || -> Result<()> {
        let bytes = classifier.to_bytes(arguments.bundle_vectors)?;
        AsideFile::holding(&bytes, &arguments.output, arguments.writing.force)?.commit()
    })?;

    if !quiet {
        if training.n_without_words > 0 {
            let documents = count(training.n_without_words as u64, "document");
            say(&format!("{documents} without a known word: left out"));
        }
        say(&stages.to_string());
        say(&format!(
            "wrote {}: {:.2} % right in cross-validation",
            arguments.output.display(),
            100.0 * training.choice.accuracy
        ));
    }
    Ok(())
}
