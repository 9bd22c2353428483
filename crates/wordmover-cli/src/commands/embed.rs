//! `wordmover embed`: documents to a file of vectors.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use indicatif::ProgressBar;
use rayon::prelude::*;
use wordmover::{
    Document, Error, ModelFile, WordMoversEmbedding, document::WordCounts,
    embedding::EmbeddingStatistics,
};

use super::corpus::{Batches, Counted};
use super::fit::{self, read_corpus};
use crate::args::{EmbedArguments, OnEmpty};
use crate::input::{self, Documents};
use crate::output::{
    BackgroundWriter, Destination, Ids, OutputFile, check_outputs, is_closed_pipe,
};
use crate::progress::{self, CorpusSummary, Stages, count, say, say_coverage};
use crate::spool::SpoolReader;
use crate::usage::usage_error;

/// Memory for the rows being computed, and again for those before, which are being
/// written meanwhile. Small blocks compute the ground costs of frequent words often.
const BLOCK_BYTES: usize = 64 << 20;

pub fn run(arguments: &EmbedArguments, quiet: bool) -> Result<()> {
    // Whatever can be refused is refused before the work begins.
    if let (Some(_), Some(option)) = (&arguments.model, arguments.params.given().next()) {
        return Err(usage_error(format!(
            "{option} cannot be given with --model: the model settles it"
        )));
    }
    let force = arguments.writing.force;
    let destination = Destination::new(arguments.output.as_deref(), force)?;
    destination.check_ids(arguments.ids())?;
    let outputs = [
        ("--output", destination.path()),
        ("--save-model", arguments.save_model.as_deref()),
    ];
    let [frequencies, stop_words] = arguments.params.files();
    let inputs = [
        Some(arguments.documents.as_path()),
        arguments.model.as_deref(),
        arguments.vectors.vectors.as_deref(),
        frequencies,
        stop_words,
    ];
    check_outputs(&outputs, &inputs, force)?;
    let documents = input::open(&arguments.documents, &arguments.input.options())?;

    let mut run = Run {
        arguments,
        quiet,
        // Rows that are printed on the same terminal would mix with a bar.
        shows_progress: !quiet && (destination.path().is_some() || !io::stdout().is_terminal()),
        destination: Some(destination),
        summary: CorpusSummary::default(),
        stages: Stages::default(),
        start: Instant::now(),
    };
    let (model, n_rows) = match &arguments.model {
        Some(path) => run.with_model(path, documents)?,
        None => run.fitted_here(documents)?,
    };
    if !quiet {
        run.summarize(&model, n_rows);
    }
    Ok(())
}

impl EmbedArguments {
    fn ids(&self) -> Ids {
        match self.input.id_column {
            Some(_) => Ids::Given,
            None => Ids::RowNumbers,
        }
    }
}

struct Run<'a> {
    arguments: &'a EmbedArguments,
    quiet: bool,
    /// Whether a bar is shown while rows are written.
    shows_progress: bool,
    destination: Option<Destination>,
    summary: CorpusSummary,
    stages: Stages,
    start: Instant,
}

impl Run<'_> {
    /// One pass: every batch is read, embedded and written.
    fn with_model(
        &mut self,
        path: &Path,
        documents: Documents,
    ) -> Result<(WordMoversEmbedding, u64)> {
        let vectors = &self.arguments.vectors;
        let mut batches = Batches::of(documents);
        let model = self.stages.time("opening", || -> Result<_> {
            let file = ModelFile::open(path)?;
            let model = file.with_vectors(vectors.open_named()?)?;
            Ok(model.with_accelerator(self.arguments.device.open()?))
        })?;
        let mut embedder = self.embedder(&model)?;
        let progress = progress::counter(!self.shows_progress, "embedding");
        let mut n_distances = 0;
        let mut count_distances = |n| {
            n_distances += n;
            progress.set_position(n_distances / model.n_features() as u64);
        };
        loop {
            let (summary, stages) = (&mut self.summary, &mut self.stages);
            let count = |text: &str| model.word_counts(text);
            let batch = batches.next(count, summary, stages, &ProgressBar::hidden())?;
            if batch.is_empty() {
                break;
            }
            for Counted { id, counts, .. } in batch {
                embedder.push(id, counts, self, &mut count_distances)?;
            }
        }
        let n_rows = embedder.finish(self, &mut count_distances)?;
        progress.finish_and_clear();
        Ok((model, n_rows))
    }

    /// Two passes: the corpus is read and fitted on, then embedded.
    fn fitted_here(&mut self, documents: Documents) -> Result<(WordMoversEmbedding, u64)> {
        let (arguments, quiet) = (self.arguments, self.quiet);
        let params = arguments.params.params()?;
        let vectors = self.stages.time("opening", || arguments.vectors.open())?;
        let device = arguments.device.open()?;
        let fitter = arguments
            .params
            .fitter(&params, &vectors)?
            .accelerator(device);
        let (fitter, spool) = read_corpus(
            documents,
            fitter,
            true,
            quiet,
            &mut self.summary,
            &mut self.stages,
        )?;
        let model = self.stages.time("fitting", || {
            fit::finish(fitter, &params, &vectors, &arguments.documents, quiet)
        })?;
        let model_file = match &arguments.save_model {
            Some(path) => Some(self.stages.time("writing", || {
                OutputFile::holding(&model.to_bytes(false)?, path, arguments.writing.force)
            })?),
            None => None,
        };
        let embedded = self.embed_spool(&model, spool.expect("asked for").finish()?);
        // The model gets its name with the embeddings or not at all. Only a reader who
        // has seen enough of them makes it none the worse.
        let is_wanted = match &embedded {
            Ok(_) => true,
            Err(error) => is_closed_pipe(error),
        };
        if let (Some(file), true) = (model_file, is_wanted) {
            self.stages.time("writing", || file.commit())?;
        }
        Ok((model, embedded?))
    }

    /// Embeds what the fitting pass has kept. Returns the number of rows.
    fn embed_spool(&mut self, model: &WordMoversEmbedding, mut spool: SpoolReader) -> Result<u64> {
        let (arguments, quiet) = (self.arguments, !self.shows_progress);
        let n_documents = self.summary.n_documents;
        let n_distances = n_documents * model.n_features() as u64;
        let bar = progress::bar(quiet, "embedding", n_distances, "distances");
        let mut embedder = self.embedder(model)?;
        for _ in 0..n_documents {
            let (id, counts) = spool.next()?;
            let id = arguments.input.id_column.as_ref().map(|_| id);
            embedder.push(id, counts, self, &mut |n| bar.inc(n))?;
        }
        let n_rows = embedder.finish(self, &mut |n| bar.inc(n))?;
        bar.finish_and_clear();
        Ok(n_rows)
    }

    fn embedder<'m>(&mut self, model: &'m WordMoversEmbedding) -> Result<Embedder<'m>> {
        let ids = self.arguments.ids();
        let n_features = model.n_features();
        let destination = self.destination.take().expect("one output a run");
        Ok(Embedder {
            model,
            writer: BackgroundWriter::new(destination.create(n_features, ids)?),
            block: (BLOCK_BYTES / (4 * n_features)).clamp(16, 16_384),
            n_seen: 0,
            has_ids: ids == Ids::Given,
            ids: Vec::new(),
            counts: Vec::new(),
        })
    }

    fn summarize(&self, model: &WordMoversEmbedding, n_rows: u64) {
        let summary = &self.summary;
        say_coverage(summary, model.space());
        if summary.n_empty > 0 {
            let row = match self.arguments.on_empty {
                OnEmpty::Nan => "NaN",
                _ => "zeros",
            };
            let documents = count(summary.n_empty, "document");
            say(&format!("{documents} without a known word: rows of {row}"));
        }
        if summary.n_cut > 0 {
            let max_words = model.params().documents.bag.max_words;
            let documents = count(summary.n_cut, "document");
            say(&format!(
                "{documents} cut to the {max_words} most frequent distinct words"
            ));
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = n_rows as f64 / seconds.max(1e-9);
        say(&format!(
            "{}; {seconds:.2} s in all, {rate:.0} documents/s",
            self.stages
        ));
        let output = self.arguments.output.as_deref();
        if let Some(output) = output.filter(|path| *path != Path::new("-")) {
            say(&format!(
                "wrote {}: {n_rows} x {}",
                output.display(),
                model.n_features()
            ));
        }
        if let Some(path) = &self.arguments.save_model {
            say(&format!("wrote {}", path.display()));
        }
    }
}

/// Embeds a block of documents at a time, while the one before is being written.
struct Embedder<'m> {
    model: &'m WordMoversEmbedding,
    writer: BackgroundWriter,
    block: usize,
    /// Documents met so far.
    n_seen: u64,
    has_ids: bool,
    ids: Vec<String>,
    counts: Vec<WordCounts>,
}

impl Embedder<'_> {
    fn push(
        &mut self,
        id: Option<String>,
        counts: WordCounts,
        run: &mut Run,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        self.ids.extend(id);
        self.counts.push(counts);
        if self.counts.len() == self.block {
            self.flush(run, progress)?;
        }
        Ok(())
    }

    fn flush(&mut self, run: &mut Run, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let documents = run.stages.time("counting words", || self.documents());
        self.note(&documents, run)?;
        let n_features = self.model.n_features();
        let mut rows = vec![0.0; documents.len() * n_features];
        let mut total = EmbeddingStatistics::default();
        let embedded = self.model.embed_into(&documents, &mut rows, &mut |done| {
            total += *done;
            progress(done.distances);
            match self.writer.has_failed() {
                false => ControlFlow::Continue(()),
                true => ControlFlow::Break(()),
            }
        });
        run.stages.add("ground costs", total.ground_costs);
        run.stages.add("transport", total.transport);
        match embedded {
            Err(Error::Interrupted) => return Err(self.writer.failure()),
            embedded => embedded?,
        }
        if run.arguments.on_empty == OnEmpty::Nan {
            for (document, row) in documents.iter().zip(rows.chunks_mut(n_features)) {
                if document.is_empty() {
                    row.fill(f32::NAN);
                }
            }
        }
        let ids = std::mem::take(&mut self.ids);
        self.writer.write_rows(self.has_ids.then_some(ids), rows)
    }

    /// The documents whose counts have gathered.
    fn documents(&mut self) -> Vec<Document> {
        let documents = self.counts.par_iter();
        let documents = documents
            .map(|counts| self.model.document(counts))
            .collect();
        self.counts.clear();
        documents
    }

    /// Takes note of documents that need a word in the end, or at once.
    fn note(&mut self, documents: &[Document], run: &mut Run) -> Result<()> {
        for document in documents {
            self.n_seen += 1;
            if document.is_empty() {
                ensure!(
                    run.arguments.on_empty != OnEmpty::Error,
                    "{}: document {} has no word that the vectors know",
                    input::shown(&run.arguments.documents),
                    self.n_seen
                );
                run.summary.n_empty += 1;
            }
            run.summary.n_cut += u64::from(document.n_cut() > 0);
        }
        Ok(())
    }

    fn finish(mut self, run: &mut Run, progress: &mut dyn FnMut(u64)) -> Result<u64> {
        if !self.counts.is_empty() {
            self.flush(run, progress)?;
        }
        let (n_rows, spent) = self.writer.finish()?;
        run.stages.add("writing", spent);
        Ok(n_rows)
    }
}
