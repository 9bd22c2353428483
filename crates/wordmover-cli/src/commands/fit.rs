//! `wordmover fit`: a corpus to a model file.

use std::io::Write;

use anyhow::Result;
use wordmover::Fitter;

use super::corpus::{Counted, next_batch};
use crate::args::FitArguments;
use crate::input::{self, Documents};
use crate::output::{AsideFile, check_target};
use crate::progress::{self, CorpusSummary, Stages, say};
use crate::spool::SpoolWriter;

pub fn run(arguments: &FitArguments) -> Result<()> {
    check_target(&arguments.output, arguments.writing.force)?;
    let params = arguments.params.params()?.check()?;
    let documents = input::open(&arguments.documents, &arguments.input.options())?;
    let mut stages = Stages::default();
    let mut summary = CorpusSummary::default();
    let vectors = stages.time("opening", || arguments.vectors.open())?;
    let fitter = Fitter::new(params, vectors);
    let quiet = arguments.writing.quiet;
    let (fitter, _) = read_corpus(documents, fitter, false, quiet, &mut summary, &mut stages)?;
    let model = stages.time("fitting", || fitter.finish())?;
    stages.time("writing", || -> Result<()> {
        let mut file = AsideFile::create(&arguments.output, arguments.writing.force)?;
        file.write_all(&model.to_bytes(arguments.bundle_vectors)?)?;
        file.commit()
    })?;
    if !quiet {
        let vectors = model.space().vectors().name();
        say(&summary.describe(vectors));
        if let Some(gamma) = model.gamma() {
            say(&format!("gamma {gamma}"));
        }
        say(&stages.to_string());
        let path = arguments.output.display();
        say(&format!("wrote {path}: {} features", model.n_features()));
    }
    Ok(())
}

/// Shows every document to the fitter and, if asked, keeps its counts for later.
pub fn read_corpus(
    mut documents: Documents,
    mut fitter: Fitter,
    keep: bool,
    quiet: bool,
    summary: &mut CorpusSummary,
    stages: &mut Stages,
) -> Result<(Fitter, Option<SpoolWriter>)> {
    let mut spool = keep.then(SpoolWriter::new);
    let progress = progress::counter(quiet, "reading");
    loop {
        let count = |text: &str| fitter.word_counts(text);
        let batch = next_batch(&mut documents, count, summary, stages, &progress)?;
        if batch.is_empty() {
            break;
        }
        stages.time("counting words", || -> Result<()> {
            for Counted { id, counts } in &batch {
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
