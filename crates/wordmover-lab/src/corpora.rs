//! The corpora: how they are read, and what the paper's table 1 says of them.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use wordmover::accelerator::Accelerator;
use wordmover::space::UnknownWords;
use wordmover::text::{Case, StopWords, Tokenizer};
use wordmover::{EmbeddingParams, WordVectors, document::WordCounts};
use wordmover_classify::{CountedText, LabeledCorpus, random_splits};
use wordmover_learn::split::{self, Split};

use crate::record::{Environment, Files, checksum};
use crate::say;

/// The program's own vectors, which no file of the vectors' folder holds.
const BUILTIN: &str = "built-in";

/// The share of documents to train with, as in `wordmover_classify::random_splits`.
const TRAIN_SHARE: f64 = 0.7;

/// `experiments/corpora.toml`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpora {
    pub vectors: Vec<Vectors>,
    pub corpus: Vec<Corpus>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vectors {
    pub name: String,
    pub note: String,
    file: String,
    case: Case,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    pub name: String,
    file: String,
    pub about: String,
    #[serde(default)]
    keep_stop_words: bool,
    #[serde(default)]
    min_count: Option<u64>,
    pub paper: Option<Paper>,
}

/// What the paper says of a corpus; accuracies with their standard deviations.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub classes: usize,
    pub train: usize,
    pub test: usize,
    pub vocabulary: usize,
    pub words: f64,
    pub knn_wmd: [f64; 2],
    pub wme_small: [f64; 2],
    pub wme_large: [f64; 2],
    pub speed_up: u32,
}

impl Corpora {
    pub fn vectors(&self, name: &str) -> Result<Vectors> {
        if name == BUILTIN {
            return Ok(Vectors::builtin());
        }
        let found = self.vectors.iter().find(|vectors| vectors.name == name);
        let found = found.with_context(|| format!("there are no vectors named {name}"))?;
        Ok(found.clone())
    }

    pub fn corpus(&self, name: &str) -> Result<&Corpus> {
        let found = self.corpus.iter().find(|corpus| corpus.name == name);
        found.with_context(|| format!("there is no corpus named {name}"))
    }
}

/// Where files are, and where distances are computed.
#[derive(Debug)]
pub struct Folders {
    pub data: PathBuf,
    pub vectors: PathBuf,
    pub cache: PathBuf,
    /// What computes distances to random documents, if not the CPU.
    pub accelerator: Option<Arc<dyn Accelerator>>,
}

impl Vectors {
    /// Those of the program.
    pub fn builtin() -> Self {
        Vectors {
            name: BUILTIN.to_owned(),
            note: String::new(),
            file: String::new(),
            case: Case::Lower,
        }
    }

    pub fn path(&self, folders: &Folders) -> PathBuf {
        folders.vectors.join(&self.file)
    }

    pub fn open(&self, folders: &Folders, files: &mut Files) -> Result<Arc<WordVectors>> {
        if self.name == BUILTIN {
            return Ok(Arc::new(WordVectors::builtin()));
        }
        files.read(&folders.vectors, &self.file)?;
        Ok(Arc::new(WordVectors::open(&self.path(folders), None)?))
    }
}

/// A corpus as one set of vectors sees it.
pub struct Loaded {
    pub corpus: LabeledCorpus,
    /// Which documents the corpus itself gives to train with and which to judge on.
    given: Option<Split>,
    /// Share of the words that the vectors know.
    pub known: f64,
    /// Documents left out because an earlier one has the same known words.
    pub n_repeated: usize,
}

impl Loaded {
    /// The split of the corpus, or so many at random.
    pub fn splits(&self, n: usize, seed: u64) -> Result<Vec<Split>> {
        match &self.given {
            Some(split) => Ok(vec![split.clone()]),
            None => Ok(random_splits(&self.corpus, n, seed)?),
        }
    }
}

impl Corpus {
    /// Without the rules that the paper has for it.
    pub fn as_it_comes(&self) -> Self {
        Corpus {
            keep_stop_words: false,
            min_count: None,
            ..self.clone()
        }
    }

    fn tokenizer(&self, case: Case) -> Tokenizer {
        Tokenizer {
            case,
            stop_words: if self.keep_stop_words {
                StopWords::None
            } else {
                StopWords::default()
            },
            ..Tokenizer::default()
        }
    }

    /// The corpus' rules for the bags of an embedding. Words that the vectors do not know are
    /// dropped, as in the paper.
    pub fn embedding(&self, seed: u64) -> EmbeddingParams {
        let mut params = EmbeddingParams::default().seed(seed);
        params.documents.unknown = Some(UnknownWords::Skip);
        let bag = &mut params.documents.bag;
        bag.min_count = self.min_count.unwrap_or(bag.min_count);
        params
    }

    /// Lines of split, class and text.
    fn read(&self, folders: &Folders, files: &mut Files) -> Result<String> {
        let bytes = files.read(&folders.data.join("classification"), &self.file)?;
        let mut text = String::new();
        GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .with_context(|| format!("{} cannot be read", self.file))?;
        Ok(text)
    }

    /// How often each word occurs in lower case, stop words apart, in the order of the
    /// words.
    pub fn words(&self, folders: &Folders, files: &mut Files) -> Result<BTreeMap<String, u64>> {
        let text = self.read(folders, files)?;
        let tokenizer = self.tokenizer(Case::Lower);
        let mut words = BTreeMap::new();
        for document in documents(&text) {
            let (_, _, text) = document.with_context(|| self.file.clone())?;
            tokenizer.for_each(
                text,
                |_| false,
                |word| match words.get_mut(word) {
                    Some(n) => *n += 1,
                    None => drop(words.insert(word.to_owned(), 1)),
                },
            );
        }
        Ok(words)
    }

    /// Writes every document for other programs, one JSON object a line: its class, its text, its
    /// words in lower case, and those of them that are no stop words. Returns where.
    pub fn write_documents(
        &self,
        folder: &Path,
        folders: &Folders,
        files: &mut Files,
    ) -> Result<PathBuf> {
        let text = self.read(folders, files)?;
        let tokenizer = self.tokenizer(Case::Lower);
        let all = Tokenizer {
            stop_words: StopWords::None,
            ..tokenizer.clone()
        };
        let words_of = |tokenizer: &Tokenizer, text: &str| {
            let mut words = Vec::new();
            tokenizer.for_each(text, |_| false, |word| words.push(word.to_owned()));
            words
        };
        let mut lines = String::new();
        for document in documents(&text) {
            let (_, class, text) = document.with_context(|| self.file.clone())?;
            let line = serde_json::json!({
                "label": class,
                "text": text,
                "words": words_of(&all, text),
                "tokens": words_of(&tokenizer, text),
            });
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        let digits = &checksum(lines.as_bytes())[..12];
        let path = folder.join(format!("{}-{digits}.jsonl", self.name));
        if !path.exists() {
            crate::write(&path, &lines)?;
        }
        Ok(path)
    }

    /// The corpus' own split, or the random ones of our own experiments.
    pub fn splits(
        &self,
        n: usize,
        seed: u64,
        folders: &Folders,
        files: &mut Files,
    ) -> Result<Vec<Split>> {
        let text = self.read(folders, files)?;
        let (mut train, mut test, mut n_documents) = (Vec::new(), Vec::new(), 0);
        for (i, document) in documents(&text).enumerate() {
            match document.with_context(|| self.file.clone())?.0 {
                "train" => train.push(i),
                "test" => test.push(i),
                _ => {}
            }
            n_documents = i + 1;
        }
        match train.is_empty() {
            false => Ok(vec![Split { train, test }]),
            true => Ok(split::random_splits(n_documents, TRAIN_SHARE, n, seed)?),
        }
    }

    /// How often a word must occur to be one of the corpus.
    pub fn min_count(&self) -> u64 {
        self.min_count.unwrap_or(1)
    }

    /// Counts the words of the corpus; of documents with the same known words only the
    /// first if they are to be distinct.
    pub fn load(
        &self,
        vectors: &Vectors,
        table: &Arc<WordVectors>,
        distinct: bool,
        folders: &Folders,
        files: &mut Files,
    ) -> Result<Loaded> {
        let text = self.read(folders, files)?;
        let tokenizer = self.tokenizer(vectors.case);
        let mut seen = HashSet::new();
        let mut labeled = Vec::new();
        let (mut train, mut test) = (Vec::new(), Vec::new());
        let (mut n_known, mut n_words, mut n_repeated) = (0, 0, 0);
        for document in documents(&text) {
            let (split, class, text) = document.with_context(|| self.file.clone())?;
            let counted = CountedText::from_text(text, &tokenizer, table);
            let counts = &counted.counts;
            n_known += counts.n_known;
            n_words += counts.n_known + counts.n_unknown;
            if distinct && !seen.insert(bag(counts)) {
                n_repeated += 1;
                continue;
            }
            match split {
                "train" => train.push(labeled.len()),
                "test" => test.push(labeled.len()),
                _ => {}
            }
            labeled.push((class.to_owned(), counted));
        }
        let given = (!train.is_empty()).then_some(Split { train, test });
        Ok(Loaded {
            corpus: LabeledCorpus::new(labeled, tokenizer, table.clone())?
                .with_accelerator(folders.accelerator.clone()),
            given,
            known: n_known as f64 / n_words.max(1) as f64,
            n_repeated,
        })
    }
}

/// The words and counts of a document in the order of the words.
fn bag(counts: &WordCounts) -> Vec<(u32, u32)> {
    let mut bag = counts.words.clone();
    bag.sort_unstable();
    bag
}

/// Split, class and text of every line.
fn documents(lines: &str) -> impl Iterator<Item = Result<(&str, &str, &str)>> {
    lines.lines().enumerate().map(|(i, line)| {
        let fields: Vec<&str> = line.splitn(3, '\t').collect();
        let [split, class, text] = fields[..] else {
            bail!("line {}: not a split, a class and a text", i + 1);
        };
        Ok((split, class, text))
    })
}

/// Table 1.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub title: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    pub environment: Environment,
    pub definition: Definition,
    pub files: BTreeMap<String, String>,
    pub rows: Vec<Properties>,
}

/// One line of table 1.
#[derive(Debug, Serialize, Deserialize)]
pub struct Properties {
    pub corpus: Corpus,
    pub classes: usize,
    /// Documents to train with and to judge on; all and none where there is no split.
    pub train: usize,
    pub test: usize,
    /// Distinct words of the corpus.
    pub vocabulary: usize,
    /// Mean number of distinct words of a document.
    pub words: f64,
    /// Documents whose text was there before.
    pub repeated: usize,
    /// Share of the words that each set of vectors knows.
    pub known: Vec<f64>,
}

pub fn run(
    definition: Definition,
    environment: Environment,
    corpora: &Corpora,
    folders: &Folders,
) -> Result<Record> {
    let mut files = Files::default();
    let tables = corpora.vectors.iter().map(|vectors| {
        let table = vectors.open(folders, &mut files)?;
        Ok((vectors, table))
    });
    let tables = tables.collect::<Result<Vec<_>>>()?;
    let mut rows = Vec::new();
    for corpus in &corpora.corpus {
        say(&corpus.name);
        rows.push(properties(corpus, &tables, folders, &mut files)?);
    }
    Ok(Record {
        environment,
        definition,
        files: files.checksums,
        rows,
    })
}

fn properties(
    corpus: &Corpus,
    tables: &[(&Vectors, Arc<WordVectors>)],
    folders: &Folders,
    files: &mut Files,
) -> Result<Properties> {
    let text = corpus.read(folders, files)?;
    let tokenizer = corpus.tokenizer(Case::Lower);
    let mut words = corpus.words(folders, files)?;
    let (mut classes, mut texts) = (HashSet::new(), HashSet::new());
    let (mut train, mut test, mut repeated) = (0, 0, 0);
    for document in documents(&text) {
        let (split, class, text) = document.with_context(|| corpus.file.clone())?;
        classes.insert(class);
        repeated += usize::from(!texts.insert(text));
        *(if split == "test" {
            &mut test
        } else {
            &mut train
        }) += 1;
    }
    let known = tables.iter().map(|(_, table)| known(&words, table));
    let known = known.collect();
    words.retain(|_, n| *n >= corpus.min_count());
    let mut n_distinct = 0;
    for text in documents(&text).filter_map(|document| Some(document.ok()?.2)) {
        let mut distinct = HashSet::new();
        tokenizer.for_each(
            text,
            |_| false,
            |word| {
                if let Some((word, _)) = words.get_key_value(word) {
                    distinct.insert(word);
                }
            },
        );
        n_distinct += distinct.len();
    }
    Ok(Properties {
        corpus: corpus.clone(),
        classes: classes.len(),
        train,
        test,
        vocabulary: words.len(),
        words: n_distinct as f64 / (train + test) as f64,
        repeated,
        known,
    })
}

/// Share of the running words that a table knows.
pub fn known(words: &BTreeMap<String, u64>, table: &WordVectors) -> f64 {
    let is_known = |(word, _): &(&String, &u64)| table.id(word).is_some();
    let n_known: u64 = words.iter().filter(is_known).map(|(_, n)| n).sum();
    n_known as f64 / words.values().sum::<u64>().max(1) as f64
}
