//! Documents read in batches ahead of the work, their words counted on all threads.

use std::borrow::Borrow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::ProgressBar;
use rayon::prelude::*;
use wordmover::document::WordCounts;

use crate::input::{DocumentText, Documents};
use crate::progress::{CorpusSummary, Stages};

/// A batch ends at this many documents or bytes of text.
const BATCH_DOCUMENTS: usize = 4096;
const BATCH_BYTES: usize = 8 << 20;

/// One document, counted.
pub struct Counted<C> {
    pub id: Option<String>,
    pub label: Option<String>,
    pub split: Option<String>,
    pub counts: C,
}

/// Batches of documents, read on a thread of their own while those before are worked on.
pub struct Batches {
    /// What messages call the input.
    name: String,
    read: Receiver<Read>,
    is_first: bool,
}

struct Read {
    texts: Result<Vec<DocumentText>>,
    spent: Duration,
}

impl Batches {
    /// Starts reading. The thread ends with the documents, with the first error, or
    /// when nobody asks for more; it is not waited for, since standard input may never end.
    pub fn of(documents: Documents) -> Self {
        let (sender, read) = sync_channel(1);
        let name = documents.name().to_owned();
        thread::spawn(move || read_all(documents, &sender));
        Batches {
            name,
            read,
            is_first: true,
        }
    }

    /// Counts the words of the next documents with `count`; empty at the end. An input
    /// without any document is an error: an empty file is a mistake, and an empty output
    /// would hide it.
    pub fn next<C: Borrow<WordCounts> + Send>(
        &mut self,
        count: impl Fn(&str) -> C + Sync,
        summary: &mut CorpusSummary,
        stages: &mut Stages,
        progress: &ProgressBar,
    ) -> Result<Vec<Counted<C>>> {
        let Ok(Read { texts, spent }) = self.read.recv() else {
            return Ok(Vec::new());
        };
        stages.add("reading", spent);
        let texts = texts?;
        if std::mem::take(&mut self.is_first) && texts.is_empty() {
            bail!("{} holds no documents", self.name);
        }
        let counted: Vec<Counted<C>> = stages.time("counting words", || {
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
            summary.observe(document.counts.borrow());
        }
        progress.inc(counted.len() as u64);
        Ok(counted)
    }
}

fn read_all(mut documents: Documents, sender: &SyncSender<Read>) {
    loop {
        let start = Instant::now();
        let texts = read_batch(&mut documents);
        let is_last = !matches!(&texts, Ok(texts) if !texts.is_empty());
        let spent = start.elapsed();
        let is_unwanted = sender.send(Read { texts, spent }).is_err();
        if is_last || is_unwanted {
            return;
        }
    }
}

fn read_batch(documents: &mut Documents) -> Result<Vec<DocumentText>> {
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
