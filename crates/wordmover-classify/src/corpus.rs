//! Labelled documents: what is learnt from, and what is judged on.

use std::sync::Arc;

use wordmover::accelerator::Accelerator;
use wordmover::text::Tokenizer;
use wordmover::{WordVectors, document::WordCounts};

use crate::counted_text::CountedText;
use crate::error::{Error, Result};

/// Documents with their classes, counted by one tokenizer against one table of word
/// vectors.
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
    labels: Vec<usize>,
    documents: Vec<WordCounts>,
    /// Their words in order, for the view of words.
    words: Vec<Box<str>>,
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
        if labeled.is_empty() {
            return Err(Error::NoDocuments { what: "documents" });
        }
        let mut classes: Vec<String> = labeled.iter().map(|(class, _)| class.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let id = |class: &String| classes.partition_point(|other| other < class);
        let n_documents = labeled.len();
        let mut labels = Vec::with_capacity(n_documents);
        let mut documents = Vec::with_capacity(n_documents);
        let mut words = Vec::with_capacity(n_documents);
        for (class, counted) in labeled {
            labels.push(id(&class));
            documents.push(counted.counts);
            words.push(counted.words);
        }
        Ok(LabeledCorpus {
            tokenizer,
            vectors,
            accelerator: None,
            classes: classes.into(),
            labels,
            documents,
            words,
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
        LabeledCorpus {
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            documents: rows
                .iter()
                .map(|&row| self.documents[row].clone())
                .collect(),
            words: rows.iter().map(|&row| self.words[row].clone()).collect(),
            ..self.clone_without_documents()
        }
    }

    fn clone_without_documents(&self) -> Self {
        LabeledCorpus {
            tokenizer: self.tokenizer.clone(),
            vectors: self.vectors.clone(),
            accelerator: self.accelerator.clone(),
            classes: self.classes.clone(),
            labels: Vec::new(),
            documents: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Names of the classes, ascending; a class' number is its position.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of each document's class.
    #[must_use]
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The counted documents.
    #[must_use]
    pub fn documents(&self) -> &[WordCounts] {
        &self.documents
    }

    /// The words of each document in their order, with a space between two.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.words.iter().map(|words| &**words).collect()
    }

    /// A document as it was counted.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    #[must_use]
    pub fn document(&self, row: usize) -> CountedText {
        CountedText {
            counts: self.documents[row].clone(),
            words: self.words[row].clone(),
        }
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
        let known: u64 = self.documents.iter().map(|counts| counts.n_known).sum();
        let unknown: u64 = self.documents.iter().map(|counts| counts.n_unknown).sum();
        known as f64 / (known + unknown).max(1) as f64
    }

    /// Refuses documents of one class only; `what` they are called.
    pub(crate) fn check_classes(&self, what: &'static str) -> Result<()> {
        let Some(&first) = self.labels.first() else {
            return Err(Error::NoDocuments { what });
        };
        if self.labels.iter().any(|&label| label != first) {
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
        self.labels.iter().for_each(|&label| n_members[label] += 1);
        let mut best = 0;
        for (class, &n) in n_members.iter().enumerate() {
            if n > n_members[best] {
                best = class;
            }
        }
        best
    }
}
