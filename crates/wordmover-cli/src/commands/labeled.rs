//! Reading documents with classes.

use std::borrow::Borrow;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use wordmover::WordVectors;
use wordmover::document::WordCounts;
use wordmover::text::Tokenizer;
use wordmover_classify::{CountedText, Error, LabeledCorpus, Protocol};

use super::corpus::Batches;
use crate::input::Documents;
use crate::progress::{self, CorpusSummary, Stages};
use crate::usage::usage_error;

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

/// Refuses several labels a document where the protocol has none of it.
pub fn check_separator(separator: Option<&str>, protocol: Protocol) -> Result<()> {
    match (separator, protocol) {
        (Some(_), Protocol::Paper) => Err(usage_error(
            "--protocol paper gives one class to a document: leave --label-separator out",
        )),
        _ => Ok(()),
    }
}

/// The labels of a document that may have several: what stands between separators, without
/// the blanks around it. None may be empty.
fn labels(label: &str, separator: &str, row: usize) -> Result<Vec<String>> {
    let labels: Vec<&str> = label.split(separator).map(str::trim).collect();
    if labels.iter().any(|label| label.is_empty()) {
        bail!(
            "document {}: one of the labels in `{label}` is empty",
            row + 1
        );
    }
    Ok(labels.into_iter().map(str::to_owned).collect())
}

/// The labels and the words of every document.
pub fn read_texts<C: Borrow<WordCounts> + Send>(
    documents: Documents,
    separator: Option<&str>,
    count: impl Fn(&str) -> C + Sync,
    quiet: bool,
    stages: &mut Stages,
) -> Result<Texts<C>> {
    let mut texts = Texts {
        labeled: Vec::new(),
        splits: Vec::new(),
        summary: CorpusSummary::default(),
    };
    let progress = progress::counter(quiet, "reading");
    let mut batches = Batches::of(documents);
    loop {
        let batch = batches.next(&count, &mut texts.summary, stages, &progress)?;
        if batch.is_empty() {
            break;
        }
        for document in batch {
            // The reader was asked for labels, so there is one.
            let label = document.label.unwrap_or_default();
            let labels = match separator {
                Some(separator) => labels(&label, separator, texts.labeled.len())?,
                None => vec![label],
            };
            texts.labeled.push((labels, document.counts));
            texts.splits.push(document.split);
        }
    }
    progress.finish_and_clear();
    Ok(texts)
}

/// Documents with labels, and the value of the split column of each.
pub struct Texts<C> {
    pub labeled: Vec<(Vec<String>, C)>,
    pub splits: Vec<Option<String>>,
    pub summary: CorpusSummary,
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
    separator: Option<&str>,
    tokenizer: Tokenizer,
    vectors: Arc<WordVectors>,
    quiet: bool,
    stages: &mut Stages,
) -> Result<Labeled> {
    let count = |text: &str| CountedText::from_text(text, &tokenizer, &vectors);
    let texts = read_texts(documents, separator, count, quiet, stages)?;
    let labeled = texts.labeled;
    let corpus = match separator {
        Some(_) => LabeledCorpus::with_label_sets(labeled, tokenizer, vectors)?,
        None => {
            let labeled = labeled.into_iter();
            let labeled = labeled.map(|(mut labels, text)| (labels.swap_remove(0), text));
            LabeledCorpus::new(labeled.collect(), tokenizer, vectors)?
        }
    };
    Ok(Labeled {
        corpus,
        splits: texts.splits,
        summary: texts.summary,
    })
}
