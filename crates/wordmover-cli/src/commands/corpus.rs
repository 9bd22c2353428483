//! Documents read in batches, their words counted on all threads.

use anyhow::Result;
use indicatif::ProgressBar;
use rayon::prelude::*;
use wordmover::WordCounts;

use crate::input::{DocumentText, Documents};
use crate::progress::{CorpusSummary, Stages};

/// A batch ends at this many documents or bytes of text.
const BATCH_DOCUMENTS: usize = 4096;
const BATCH_BYTES: usize = 8 << 20;

/// One document, counted.
pub struct Counted {
    pub id: Option<String>,
    pub label: Option<String>,
    pub split: Option<String>,
    pub counts: WordCounts,
}

/// Reads the next documents and counts their words with `count`; empty at the end.
pub fn next_batch(
    documents: &mut Documents,
    count: impl Fn(&str) -> WordCounts + Sync,
    summary: &mut CorpusSummary,
    stages: &mut Stages,
    progress: &ProgressBar,
) -> Result<Vec<Counted>> {
    let texts = stages.time("reading", || read(documents))?;
    let counted: Vec<Counted> = stages.time("counting words", || {
        texts
            .into_par_iter()
            .map(|document| Counted {
                id: document.id,
                label: document.label,
                split: document.split,
                counts: count(&document.text),
            })
            .collect()
    });
    for document in &counted {
        summary.n_documents += 1;
        summary.n_known += document.counts.n_known;
        summary.n_unknown += document.counts.n_unknown;
    }
    progress.inc(counted.len() as u64);
    Ok(counted)
}

fn read(documents: &mut Documents) -> Result<Vec<DocumentText>> {
    let mut texts = Vec::new();
    let mut bytes = 0;
    while texts.len() < BATCH_DOCUMENTS && bytes < BATCH_BYTES {
        match documents.next() {
            Some(document) => {
                let document = document?;
                bytes += document.text.len();
                texts.push(document);
            }
            None => break,
        }
    }
    Ok(texts)
}
