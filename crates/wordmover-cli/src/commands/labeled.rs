//! Reading documents with classes.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use wordmover::WordVectors;
use wordmover::text::Tokenizer;
use wordmover_classify::{CountedText, Error, LabeledCorpus, Protocol};

use super::corpus::Batches;
use crate::input::Documents;
use crate::progress::{self, CorpusSummary, Stages};

/// The name a protocol has on the command line.
pub fn protocol_name(protocol: Protocol) -> String {
    format!("{protocol:?}").to_lowercase()
}

/// What went wrong, with the reason that the options may be.
pub fn explained(error: Error, min_count: u64) -> anyhow::Error {
    match error {
        Error::NoKnownWords { .. } if min_count > 1 => {
            anyhow!("{error} and that occurs at least {min_count} times")
        }
        other => other.into(),
    }
}

/// A corpus, and the value of its split column for each document.
pub struct Labeled {
    pub corpus: LabeledCorpus,
    pub splits: Vec<Option<String>>,
    pub summary: CorpusSummary,
}

/// Reads all documents and counts their words.
pub fn read(
    documents: Documents,
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
        let count = |text: &str| CountedText::from_text(text, &tokenizer, &vectors);
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
    Ok(Labeled {
        corpus: LabeledCorpus::new(labeled, tokenizer, vectors)?,
        splits,
        summary,
    })
}
