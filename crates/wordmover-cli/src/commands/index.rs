//! `wordmover index`: an index that is kept.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Result, bail};
use rayon::prelude::*;
use serde_json::json;
use wordmover::document::WordCounts;
use wordmover::index::{
    IndexError, IndexInfo, IndexParams, NewDocument, SearchIndex, check_place, is_index,
};
use wordmover::{ModelFile, Weighting};

use super::fit;
use super::search::read_lines;
use crate::args::{IndexAddArguments, IndexBuildArguments, IndexCommand, IndexRemoveArguments};
use crate::input::{self, InputOptions};
use crate::interrupt;
use crate::output::print;
use crate::progress::{self, CorpusSummary, Stages, count, say, say_coverage};
use crate::usage::usage_error;

pub fn run(command: &IndexCommand, quiet: bool) -> Result<()> {
    match command {
        IndexCommand::Build(arguments) => build(arguments, quiet),
        IndexCommand::Add(arguments) => add(arguments, quiet),
        IndexCommand::Remove(arguments) => remove(arguments, quiet),
        IndexCommand::Info { index, json } => info(index, *json),
        IndexCommand::Verify { index } => verify(index, quiet),
        IndexCommand::Compact { index, graph } => compact(index, *graph, quiet),
    }
}

fn build(arguments: &IndexBuildArguments, quiet: bool) -> Result<()> {
    if let (Some(_), Some(option)) = (&arguments.model, arguments.params.given().next()) {
        return Err(usage_error(format!(
            "{option} cannot be given with --model: the model settles it"
        )));
    }
    let (path, force) = (&arguments.output, arguments.writing.force);
    if path == Path::new("-") {
        return Err(usage_error("an index is a folder: it cannot be printed"));
    }
    if is_index(path) && !force {
        bail!("{} exists; pass --force to replace it", path.display());
    }
    check_place(path, force)?;
    if arguments.graph && !cfg!(feature = "hnsw") {
        bail!(IndexError::NoGraphs);
    }
    let mut stages = Stages::default();
    let params = arguments.params.params()?;
    let given = match &arguments.model {
        None => None,
        Some(model) => Some(stages.time("opening", || -> Result<_> {
            let file = ModelFile::open(model)?;
            Ok(file.with_vectors(arguments.vectors.open_named()?)?)
        })?),
    };
    let documents = read(
        &arguments.documents,
        &arguments.input.options(),
        quiet,
        &mut stages,
    )?;
    let max_words = match &given {
        Some(model) => model.documents().rules().max_words,
        None => arguments.params.max_words.unwrap_or(1 << 24),
    };
    let mut summary = CorpusSummary::default();
    let model = match given {
        Some(model) => {
            let counts = stages.time("counting words", || {
                count_words(&documents, |t| model.word_counts(t))
            });
            counts.iter().for_each(|counts| summary.observe(counts));
            model
        }
        None => {
            let vectors = stages.time("opening", || arguments.vectors.open())?;
            let mut fitter = arguments.params.fitter(&params, &vectors)?;
            let is_sif = params.documents.bag.weighting == Weighting::Sif;
            if is_sif && arguments.params.frequencies.is_none() {
                // As `wordmover search` has it: the probabilities of the corpus.
                fitter = fitter.word_probabilities(None);
            }
            let counts = stages.time("counting words", || {
                count_words(&documents, |t| fitter.word_counts(t))
            });
            for counts in &counts {
                summary.observe(counts);
                fitter.observe(counts);
            }
            stages.time("fitting", || {
                fit::finish(fitter, &params, &vectors, &arguments.documents, quiet)
            })?
        }
    };
    let space = model.space().clone();
    let params = IndexParams::default()
        .max_words(max_words)
        .replace(force)
        .graph(arguments.graph);
    if !path.exists() {
        interrupt::remove_unless_built(path);
    }
    let index = stages.time("indexing", || {
        with_bar(documents.len(), quiet, |progress| {
            SearchIndex::build_with(path, &params, model, &documents, progress)
        })
    })?;
    if !quiet {
        say_coverage(&summary, &space);
        say(&stages.to_string());
        say(&format!(
            "wrote {}: {}",
            path.display(),
            in_short(&index.info())
        ));
    }
    Ok(())
}

fn add(arguments: &IndexAddArguments, quiet: bool) -> Result<()> {
    let mut stages = Stages::default();
    let mut index = stages.time("opening", || SearchIndex::open(&arguments.index, None))?;
    let documents = read(
        &arguments.documents,
        &arguments.input.options(),
        quiet,
        &mut stages,
    )?;
    stages.time("indexing", || {
        with_bar(documents.len(), quiet, |progress| {
            index.add_with(&documents, arguments.replace, progress)
        })
    })?;
    if !quiet {
        say(&stages.to_string());
        let added = count(documents.len() as u64, "document");
        let (path, now) = (arguments.index.display(), in_short(&index.info()));
        say(&format!("added {added} to {path}: {now}"));
    }
    Ok(())
}

fn remove(arguments: &IndexRemoveArguments, quiet: bool) -> Result<()> {
    let ids = match &arguments.ids_from {
        Some(path) => read_lines(path)?,
        None => arguments.ids.clone(),
    };
    if ids.is_empty() {
        bail!("there are no ids of documents to remove");
    }
    let mut index = SearchIndex::open(&arguments.index, None)?;
    index.remove(&ids)?;
    if !quiet {
        let removed = count(ids.len() as u64, "document");
        let (path, now) = (arguments.index.display(), in_short(&index.info()));
        say(&format!("removed {removed} from {path}: {now}"));
    }
    Ok(())
}

fn info(path: &Path, json: bool) -> Result<()> {
    let index = SearchIndex::open(path, None)?;
    let info = index.info();
    let vectors = index.model().space().vectors();
    if json {
        let value = json!({
            "documents": info.documents,
            "removed": info.removed,
            "ids": info.has_ids,
            "segments": info.segments,
            "words": info.words,
            "words_with_vectors": info.vectors,
            "in_graph": info.in_graph,
            "features": info.n_features,
            "bytes": info.bytes,
            "generation": info.generation,
            "vectors": vectors.name(),
            "parameters": index.model().params(),
            "written_by": info.written_by,
        });
        return print(&format!("{value}\n"));
    }
    let known_by = if info.has_ids { "ids" } else { "numbers" };
    let weights = index.model().params().documents.bag.weighting;
    let graph = match info.in_graph {
        0 => "none".to_owned(),
        n => format!("of the first {n} documents"),
    };
    let lines = [
        (
            "documents",
            format!("{}, known by {known_by}", info.documents),
        ),
        (
            "removed",
            format!("{}, until the index is compacted", info.removed),
        ),
        ("segments", info.segments.to_string()),
        (
            "words",
            format!("{}, {} of them with a vector", info.words, info.vectors),
        ),
        ("graph", graph),
        ("weights", weights.to_string()),
        ("features", info.n_features.to_string()),
        ("vectors", vectors.name().to_owned()),
        ("size", megabytes(info.bytes)),
        ("written by", info.written_by),
    ];
    let lines = lines
        .iter()
        .map(|(name, value)| format!("{name:12}{value}\n"));
    print(&lines.collect::<String>())
}

fn verify(path: &Path, quiet: bool) -> Result<()> {
    let index = SearchIndex::open(path, None)?;
    progress::while_working(quiet, "verifying", || index.verify())?;
    if !quiet {
        let info = index.info();
        say(&format!("{} is sound: {}", path.display(), in_short(&info)));
    }
    Ok(())
}

fn compact(path: &Path, graph: bool, quiet: bool) -> Result<()> {
    let mut index = SearchIndex::open(path, None)?;
    let before = index.info().bytes;
    progress::while_working(quiet, "compacting", || match graph {
        true => index.compact_with_graph(),
        false => index.compact(),
    })?;
    if !quiet {
        let now = in_short(&index.info());
        let before = megabytes(before);
        say(&format!(
            "compacted {}: {now}, was {before}",
            path.display()
        ));
    }
    Ok(())
}

/// `5 documents, 0.4 MB`
fn in_short(info: &IndexInfo) -> String {
    let documents = count(info.documents as u64, "document");
    format!("{documents}, {}", megabytes(info.bytes))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// All documents of a file.
fn read(
    path: &Path,
    options: &InputOptions,
    quiet: bool,
    stages: &mut Stages,
) -> Result<Vec<NewDocument>> {
    let documents = input::open(path, options)?;
    let progress = progress::counter(quiet, "reading");
    let documents: Vec<NewDocument> = stages.time("reading", || {
        let documents = documents.inspect(|_| progress.inc(1));
        let new = documents.map(|document| {
            let document = document?;
            Ok(NewDocument {
                id: document.id,
                text: document.text,
            })
        });
        new.collect::<Result<_>>()
    })?;
    progress.finish_and_clear();
    if documents.is_empty() {
        bail!("{} holds no documents", input::shown(path));
    }
    Ok(documents)
}

fn count_words(
    documents: &[NewDocument],
    count: impl Fn(&str) -> WordCounts + Sync,
) -> Vec<WordCounts> {
    let documents = documents.par_iter();
    documents.map(|new| count(&new.text)).collect()
}

/// Runs work that tells of the documents it has done, with a bar.
fn with_bar<T>(
    n_documents: usize,
    quiet: bool,
    work: impl FnOnce(&mut dyn FnMut(usize) -> ControlFlow<()>) -> wordmover::Result<T>,
) -> Result<T> {
    let bar = progress::bar(quiet, "indexing", n_documents as u64, "documents");
    let done = work(&mut |n| {
        bar.inc(n as u64);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    Ok(done?)
}
