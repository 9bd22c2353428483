//! `wordmover fit`: a corpus to a model file.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Result, anyhow};
use wordmover::{
    EmbeddingParams, Error, WordMoversEmbedding, WordVectors, checked::Checked, embedding::Fitter,
};

use super::corpus::{Batches, Counted};
use crate::args::FitArguments;
use crate::input::{self, Documents};
use crate::output::{OutputFile, check_outputs};
use crate::progress::{self, CorpusSummary, Stages, say, say_coverage};
use crate::spool::SpoolWriter;

pub fn run(arguments: &FitArguments, quiet: bool) -> Result<()> {
    let [frequencies, stop_words] = arguments.params.files();
    let inputs = [
        Some(arguments.documents.as_path()),
        arguments.vectors.vectors.as_deref(),
        frequencies,
        stop_words,
    ];
    let outputs = [("--output", Some(arguments.output.as_path()))];
    check_outputs(&outputs, &inputs, arguments.writing.force)?;
    let params = arguments.params.params()?;
    let documents = input::open(&arguments.documents, &arguments.input.options())?;
    let mut stages = Stages::default();
    let mut summary = CorpusSummary::default();
    let vectors = stages.time("opening", || arguments.vectors.open())?;
    let device = arguments.device.open()?;
    let fitter = arguments
        .params
        .fitter(&params, &vectors)?
        .accelerator(device);
    let (fitter, _) = read_corpus(documents, fitter, false, quiet, &mut summary, &mut stages)?;
    let model = stages.time("fitting", || {
        finish(fitter, &params, &vectors, &arguments.documents, quiet)
    })?;
    stages.time("writing", || -> Result<()> {
        let bytes = model.to_bytes(arguments.bundle_vectors)?;
        OutputFile::holding(&bytes, &arguments.output, arguments.writing.force)?.commit()
    })?;
    if !quiet {
        say_coverage(&summary, model.space());
        if let Some(gamma) = model.gamma() {
            say(&format!("gamma {gamma}"));
        }
        say(&stages.to_string());
        let path = arguments.output.display();
        say(&format!("wrote {path}: {} features", model.n_features()));
    }
    Ok(())
}

/// The model of what the fitter has seen, or what it lacks to make one.
pub fn finish(
    fitter: Fitter,
    params: &Checked<EmbeddingParams>,
    vectors: &WordVectors,
    documents: &Path,
    quiet: bool,
) -> Result<WordMoversEmbedding> {
    let bar = progress::bar(quiet, "fitting", fitter.n_distances(), "distances");
    let drawn = fitter.draw(&mut |done| {
        bar.inc(done.distances);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let drawn = drawn.map_err(|error| match error {
        Error::EmptyCorpus { .. } => {
            let rare = match params.documents.bag.min_count {
                0 | 1 => String::new(),
                least => format!(" and those that occur less than {least} times"),
            };
            anyhow!(
                "{} holds nothing to fit on: no word that {} knows, apart from stop words{rare}",
                input::shown(documents),
                vectors.name()
            )
        }
        other => other.into(),
    })?;
    let (n_sampled, n_distinct) = drawn.sample_variety();
    if !quiet && n_sampled >= MANY && n_distinct * HARDLY < n_sampled {
        say(&format!(
            "the corpus hardly varies: {n_distinct} of {n_sampled} documents looked at are \
             distinct; features are scaled with the help of texts of random words"
        ));
    }
    Ok(drawn.scale(params.gamma)?)
}

/// A corpus of so many documents of which only one in so many is distinct hardly varies.
const MANY: usize = 32;
const HARDLY: usize = 10;

/// Shows every document to the fitter and, if asked, keeps its counts for later.
pub fn read_corpus(
    documents: Documents,
    mut fitter: Fitter,
    keep: bool,
    quiet: bool,
    summary: &mut CorpusSummary,
    stages: &mut Stages,
) -> Result<(Fitter, Option<SpoolWriter>)> {
    let mut spool = keep.then(SpoolWriter::new);
    let progress = progress::counter(quiet, "reading");
    let mut batches = Batches::of(documents);
    loop {
        let count = |text: &str| fitter.word_counts(text);
        let batch = batches.next(count, summary, stages, &progress)?;
        if batch.is_empty() {
            break;
        }
        stages.time("counting words", || -> Result<()> {
            for Counted { id, counts, .. } in &batch {
                fitter.observe(counts);
                if let Some(spool) = &mut spool {
                    spool.push(id.as_deref(), counts)?;
                }
            }
            Ok(())
        })?;
    }
    progress.finish_and_clear();
    Ok((fitter, spool))
}
