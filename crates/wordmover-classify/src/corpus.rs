//! Labelled documents: what is learnt from, and what is judged on.

use std::sync::Arc;

use wordmover::accelerator::Accelerator;
use wordmover::text::Tokenizer;
use wordmover::{WordVectors, document::WordCounts};
use wordmover_learn::Targets;

use crate::counted_text::CountedText;
use crate::error::{Error, Result};

/// Documents with their classes, counted by one tokenizer against one table of word
/// vectors. Every document has one class, or any of them may have several.
///
/// ```
/// use std::sync::Arc;
/// use wordmover::{WordVectors, text::Tokenizer};
/// use wordmover_classify::LabeledCorpus;
///
/// let texts = [("sport", "The striker scores a goal"), ("news", "The senate votes")];
/// let vectors = Arc::new(WordVectors::builtin());
/// let corpus = LabeledCorpus::from_texts(texts, Tokenizer::default(), vectors)?;
/// assert_eq!(corpus.classes(), ["news", "sport"]);
/// assert_eq!(corpus.labels(), [1, 0]);
/// # Ok::<(), wordmover_classify::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabeledCorpus {
    tokenizer: Tokenizer,
    vectors: Arc<WordVectors>,
    accelerator: Option<Arc<dyn Accelerator>>,
    classes: Arc<[String]>,
    /// The first of each document.
    labels: Vec<usize>,
    /// All of each document, ascending, if a document may have several.
    label_sets: Option<Vec<Vec<usize>>>,
    texts: Vec<CountedText>,
}

impl LabeledCorpus {
    /// Documents that were counted with this tokenizer and these vectors, each with the
    /// name of its class. Classes are numbered in the order of their names.
    ///
    /// # Errors
    ///
    /// [`Error::NoDocuments`].
    pub fn new(
        labeled: Vec<(String, CountedText)>,
        tokenizer: Tokenizer,
        vectors: Arc<WordVectors>,
    ) -> Result<Self> {
        let sets = labeled.into_iter().map(|(class, text)| (vec![class], text));
        let mut corpus = Self::with_label_sets(sets.collect(), tokenizer, vectors)?;
        corpus.label_sets = None;
        Ok(corpus)
    }

    /// As [`new`](Self::new), with any number of classes for each document, one at least. A
    /// class that is named twice counts once.
    ///
    /// # Errors
    ///
    /// [`Error::NoDocuments`], [`Error::NoLabel`].
    pub fn with_label_sets(
        labeled: Vec<(Vec<String>, CountedText)>,
        tokenizer: Tokenizer,
        vectors: Arc<WordVectors>,
    ) -> Result<Self> {
        if labeled.is_empty() {
            return Err(Error::NoDocuments { what: "documents" });
        }
        let names = labeled.iter().flat_map(|(names, _)| names);
        let mut classes: Vec<String> = names.cloned().collect();
        classes.sort_unstable();
        classes.dedup();
        let id = |class: &String| classes.partition_point(|other| other < class);
        let mut labels = Vec::with_capacity(labeled.len());
        let mut label_sets = Vec::with_capacity(labeled.len());
        let mut texts = Vec::with_capacity(labeled.len());
        for (names, text) in labeled {
            let mut set: Vec<usize> = names.iter().map(id).collect();
            set.sort_unstable();
            set.dedup();
            let row = texts.len();
            labels.push(*set.first().ok_or(Error::NoLabel { row })?);
            label_sets.push(set);
            texts.push(text);
        }
        Ok(LabeledCorpus {
            tokenizer,
            vectors,
            accelerator: None,
            classes: classes.into(),
            labels,
            label_sets: Some(label_sets),
            texts,
        })
    }

    /// Counts the words of labelled texts.
    ///
    /// # Errors
    ///
    /// [`Error::NoDocuments`].
    pub fn from_texts<'t>(
        labeled: impl IntoIterator<Item = (&'t str, &'t str)>,
        tokenizer: Tokenizer,
        vectors: Arc<WordVectors>,
    ) -> Result<Self> {
        let count = |text| CountedText::from_text(text, &tokenizer, &vectors);
        let labeled = labeled
            .into_iter()
            .map(|(class, text)| (class.to_owned(), count(text)))
            .collect();
        Self::new(labeled, tokenizer, vectors)
    }

    /// The same corpus, with distances to random documents computed by an accelerator in
    /// whatever is trained or judged on it.
    #[must_use]
    pub fn with_accelerator(mut self, accelerator: Option<Arc<dyn Accelerator>>) -> Self {
        self.accelerator = accelerator;
        self
    }

    /// What computes distances to random documents, if not the CPU.
    #[must_use]
    pub fn accelerator(&self) -> Option<&Arc<dyn Accelerator>> {
        self.accelerator.as_ref()
    }

    /// Some of the documents, in the order given. Classes keep their numbers, also those
    /// that are left without a document.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let sets = self.label_sets.as_ref();
        LabeledCorpus {
            tokenizer: self.tokenizer.clone(),
            vectors: self.vectors.clone(),
            accelerator: self.accelerator.clone(),
            classes: self.classes.clone(),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            label_sets: sets.map(|sets| rows.iter().map(|&row| sets[row].clone()).collect()),
            texts: rows.iter().map(|&row| self.texts[row].clone()).collect(),
        }
    }

    /// Names of the classes, ascending; a class' number is its position.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of each document's class; of several the first.
    #[must_use]
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The numbers of each document's classes, ascending, if a document may have several.
    #[must_use]
    pub fn label_sets(&self) -> Option<&[Vec<usize>]> {
        self.label_sets.as_deref()
    }

    /// The numbers of a document's classes.
    pub(crate) fn classes_of(&self, row: usize) -> &[usize] {
        match &self.label_sets {
            Some(sets) => &sets[row],
            None => std::slice::from_ref(&self.labels[row]),
        }
    }

    /// What is learnt from some of the documents.
    pub(crate) fn targets(&self, rows: &[usize]) -> Result<Targets> {
        Ok(match &self.label_sets {
            None => {
                let labels: Vec<usize> = rows.iter().map(|&row| self.labels[row]).collect();
                Targets::one_each(&labels)?
            }
            Some(sets) => {
                let sets: Vec<Vec<usize>> = rows.iter().map(|&row| sets[row].clone()).collect();
                Targets::any_number(&sets)?
            }
        })
    }

    /// The counted documents.
    #[must_use]
    pub fn texts(&self) -> &[CountedText] {
        &self.texts
    }

    /// Number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none, which a [selection](Self::select) can be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The counts of all documents, with stop words or without.
    pub(crate) fn counts(&self, keeps_stop_words: bool) -> Vec<&WordCounts> {
        let texts = self.texts.iter();
        texts
            .map(|text| text.counts_with(keeps_stop_words))
            .collect()
    }

    /// The words of each document in their order, with a space between two.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.texts.iter().map(|text| &*text.words).collect()
    }

    /// How texts became words.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The table the words are from.
    #[must_use]
    pub fn vectors(&self) -> &Arc<WordVectors> {
        &self.vectors
    }

    /// Share of the words that the vectors know, stop words apart.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        let counts = || self.texts.iter().map(|text| &text.counts);
        let known: u64 = counts().map(|counts| counts.n_known).sum();
        let unknown: u64 = counts().map(|counts| counts.n_unknown).sum();
        known as f64 / (known + unknown).max(1) as f64
    }

    /// Refuses documents of one class only; `what` they are called. Where a document may have
    /// several classes, one that not all have is enough.
    pub(crate) fn check_classes(&self, what: &'static str) -> Result<()> {
        let Some(&first) = self.labels.first() else {
            return Err(Error::NoDocuments { what });
        };
        let mut rows = 0..self.len();
        if rows.any(|row| self.classes_of(row) != self.classes_of(0)) {
            return Ok(());
        }
        Err(Error::OneClass {
            what,
            class: self.classes[first].clone(),
            n_documents: self.labels.len(),
        })
    }

    /// The class with the most documents; of equal ones the first.
    pub(crate) fn most_frequent_class(&self) -> usize {
        let mut n_members = vec![0u64; self.classes.len()];
        for row in 0..self.len() {
            let classes = self.classes_of(row);
            classes.iter().for_each(|&class| n_members[class] += 1);
        }
        let mut best = 0;
        for (class, &n) in n_members.iter().enumerate() {
            if n > n_members[best] {
                best = class;
            }
        }
        best
    }
}
