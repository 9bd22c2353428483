//! Reading documents with classes.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use wordmover::text::Tokenizer;
use wordmover::{WordCounts, WordVectors};
use wordmover_classify::LabeledCorpus;

use super::corpus::Batches;
use crate::input::{self, Documents};
use crate::progress::{self, CorpusSummary, Stages};

/// A corpus, and what its split column said of each document.
pub struct Labeled {
    pub corpus: LabeledCorpus,
    pub splits: Vec<Option<String>>,
    pub summary: CorpusSummary,
}

/// Reads all documents and counts their words.
pub fn read(
    documents: Documents,
    path: &Path,
    tokenizer: Tokenizer,
    vectors: Arc<WordVectors>,
    quiet: bool,
    stages: &mut Stages,
) -> Result<Labeled> {
    let mut labeled = Vec::new();
    let mut splits = Vec::new();
    let mut summary = CorpusSummary::default();
    let progress = progress::counter(quiet, "reading");
    let mut batches = Batches::of(documents);
    loop {
        let count = |text: &str| WordCounts::from_text(text, &tokenizer, &vectors);
        let batch = batches.next(count, &mut summary, stages, &progress)?;
        if batch.is_empty() {
            break;
        }
        for document in batch {
            // The reader was asked for labels, so there is one.
            labeled.push((document.label.unwrap_or_default(), document.counts));
            splits.push(document.split);
        }
    }
    progress.finish_and_clear();
    if labeled.is_empty() {
        bail!("{} holds no documents", input::shown(path));
    }
    Ok(Labeled {
        corpus: LabeledCorpus::new(labeled, tokenizer, vectors)?,
        splits,
        summary,
    })
}
