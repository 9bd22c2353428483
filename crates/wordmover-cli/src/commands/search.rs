//! `wordmover search`: the documents nearest to a text, exactly or by embedding.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use rayon::prelude::*;
use serde::Serialize;
use wordmover::index::SearchBy;
use wordmover::{
    Document, DocumentModel, EmbeddingIndex, EmbeddingParams, Error, ModelFile, Neighbor, WmdIndex,
    WordMoversEmbedding, WordVectors,
    document::WordCounts,
    document_model::{DocumentFitter, DocumentParams},
    embedding::Fitter,
    neighbors::SearchStatistics,
};

use super::distance::{quoted, unknown_words};
use super::neighbor_table::{NeighborTable, Row};
use super::search_index;
use crate::args::{SearchArguments, set};
use crate::input::{self, DocumentText, Documents, Format, InputOptions};
use crate::output::print;
use crate::progress::{self, CorpusSummary, Stages, count, say, say_coverage};
use crate::usage::usage_error;

/// Candidates re-ranked by exact distance if not given.
pub const DEFAULT_CANDIDATES: usize = 100;

pub fn run(arguments: &SearchArguments, quiet: bool) -> Result<()> {
    // Whatever can be refused is refused before the work begins.
    if let (Some(_), Some(option)) = (&arguments.model, arguments.given().next()) {
        return Err(usage_error(format!(
            "{option} cannot be given with --model: the model settles it"
        )));
    }
    let queries_of = || match (&arguments.queries, &arguments.query) {
        (Some(path), _) => read_queries(path),
        (None, query) => Ok(query.iter().cloned().collect()),
    };
    let is_named_index = arguments
        .documents
        .extension()
        .is_some_and(|suffix| suffix == "wmi");
    if arguments.documents.is_dir() || (is_named_index && arguments.input.format.is_none()) {
        return search_index::run(arguments, &queries_of()?, quiet);
    }
    let by = arguments.by.unwrap_or(SearchBy::Wmd);
    if by == SearchBy::Hybrid {
        return Err(usage_error(
            "--by hybrid needs an index: see wordmover index build",
        ));
    }
    if by != SearchBy::Embedding {
        let embeddings = arguments.embeddings.as_ref().map(|_| "--embeddings");
        let candidates = arguments.candidates.map(|_| "--candidates");
        if let Some(option) = embeddings.or(candidates) {
            return Err(usage_error(format!("{option} needs --by embedding")));
        }
    }
    let is_standard_input = |path: &Path| path == Path::new("-");
    if is_standard_input(&arguments.documents)
        && arguments.queries.as_deref().is_some_and(is_standard_input)
    {
        return Err(usage_error(
            "CORPUS and --queries cannot both be standard input",
        ));
    }
    let documents = input::open(&arguments.documents, &arguments.input.options())?;
    let queries = queries_of()?;

    let mut stages = Stages::default();
    let source = stages.time("opening", || Source::new(arguments))?;
    let corpus = Corpus::read(documents, source, arguments, quiet, &mut stages)?;
    let bags: Vec<Document> = stages.time("counting words", || {
        let queries = queries.par_iter();
        queries.map(|text| corpus.model.document_of(text)).collect()
    });
    let vectors = corpus.model.vectors();
    if let (Some(query), [bag]) = (&arguments.query, &bags[..]) {
        if bag.is_empty() {
            bail!(
                "{} has no Word Mover's Distance: it has no word that {} knows, apart from stop words",
                quoted(query),
                vectors.name()
            );
        }
        let unknown = unknown_words([query.as_str()], &corpus.model);
        if !quiet && !unknown.is_empty() {
            say(&format!("unknown words: {}", unknown.join(" ")));
        }
    }

    let documents = corpus.model.documents(&corpus.counts);
    let n_without_words = documents.iter().filter(|bag| bag.is_empty()).count();
    if n_without_words == documents.len() {
        bail!(nothing_to_find(&arguments.documents, vectors));
    }
    let (found, work) = match by {
        SearchBy::Wmd => {
            let space = corpus.model.space().clone();
            let index = stages.time("indexing", || {
                progress::while_working(quiet, "indexing", || WmdIndex::new(space, documents))
            })?;
            let search = |progress: Progress| index.search_batch(&bags, arguments.k, progress);
            let (found, statistics) =
                stages.time("searching", || with_progress(bags.len(), quiet, search))?;
            (found, describe(&statistics))
        }
        _ => {
            let model = stages.time("fitting", || {
                progress::while_working(quiet, "fitting", || corpus.embedding())
            })?;
            let index = match &arguments.embeddings {
                None => stages.time("embedding", || {
                    progress::while_working(quiet, "embedding", || {
                        Ok(EmbeddingIndex::new(model, documents)?)
                    })
                }),
                Some(path) => stages.time("opening", || stored(path, model, documents)),
            }?;
            let search = |progress: Progress| {
                let n_candidates = arguments.candidates.unwrap_or(DEFAULT_CANDIDATES);
                index.search_batch(&bags, arguments.k, n_candidates, progress)
            };
            let (found, statistics) =
                stages.time("searching", || with_progress(bags.len(), quiet, search))?;
            let work = describe(&statistics);
            (
                found,
                format!("{work}; only documents whose embeddings are most alike"),
            )
        }
    };
    print_answers(&corpus, &queries, &found, arguments)?;

    if !quiet {
        say_coverage(&corpus.summary, corpus.model.space());
        if n_without_words > 0 {
            let documents = count(n_without_words as u64, "document");
            say(&format!("{documents} without a known word: never found"));
        }
        let n_empty = bags.iter().filter(|bag| bag.is_empty()).count();
        if n_empty > 0 {
            let queries = count(n_empty as u64, "query");
            say(&format!("{queries} without a known word: nothing found"));
        }
        say(&work);
        say(&stages.to_string());
    }
    Ok(())
}

fn nothing_to_find(path: &Path, vectors: &WordVectors) -> String {
    format!(
        "{} holds nothing to find: no word that {} knows, apart from stop words",
        input::shown(path),
        vectors.name()
    )
}

/// Every line is a query; an empty one is a query without words.
fn read_queries(path: &Path) -> Result<Vec<String>> {
    let queries = read_lines(path)?;
    if queries.is_empty() {
        bail!("{} holds no queries", input::shown(path));
    }
    Ok(queries)
}

/// The lines of a file.
pub fn read_lines(path: &Path) -> Result<Vec<String>> {
    let options = InputOptions {
        format: Some(Format::Text),
        ..InputOptions::default()
    };
    let lines = input::open(path, &options)?;
    lines.map(|line| Ok(line?.text)).collect()
}

/// What settles how texts become documents: a model, or parameters to fit one with.
enum Source {
    Model(WordMoversEmbedding),
    Corpus(DocumentFitter),
}

impl Source {
    fn new(arguments: &SearchArguments) -> Result<Self> {
        if let Some(path) = &arguments.model {
            let file = ModelFile::open(path)?;
            let model = file.with_vectors(arguments.vectors.open_named()?)?;
            return Ok(Source::Model(model));
        }
        let mut params = DocumentParams::default().tokenizer(arguments.text.tokenizer()?);
        // All words count, as they do for `wordmover distance`.
        params.bag.max_words = 1 << 24;
        set(&mut params.normalization, arguments.normalize);
        set(&mut params.bag.weighting, arguments.weights);
        params.unknown = arguments.text.unknown;
        let vectors = arguments.vectors.open()?;
        arguments.text.check_vectors(&vectors)?;
        let fitter = DocumentFitter::new(params.check()?, vectors);
        // SIF weights take the probabilities of the corpus.
        Ok(Source::Corpus(fitter.word_probabilities(None)))
    }

    fn counts(&self, text: &str) -> WordCounts {
        match self {
            Source::Model(model) => model.word_counts(text),
            Source::Corpus(fitter) => fitter.word_counts(text),
        }
    }
}

/// The documents to search, read and counted.
struct Corpus {
    source: Source,
    model: Arc<DocumentModel>,
    texts: Vec<DocumentText>,
    counts: Vec<WordCounts>,
    summary: CorpusSummary,
}

impl Corpus {
    fn read(
        documents: Documents,
        mut source: Source,
        arguments: &SearchArguments,
        quiet: bool,
        stages: &mut Stages,
    ) -> Result<Self> {
        let path = &arguments.documents;
        let progress = progress::counter(quiet, "reading");
        let texts: Vec<DocumentText> = stages.time("reading", || {
            let documents = documents.inspect(|_| progress.inc(1));
            documents.collect::<Result<_>>()
        })?;
        progress.finish_and_clear();
        if texts.is_empty() {
            bail!("{} holds no documents", input::shown(path));
        }
        let (counts, summary) = stages.time("counting words", || {
            let texts = texts.par_iter();
            let counts: Vec<WordCounts> = texts.map(|t| source.counts(&t.text)).collect();
            let mut summary = CorpusSummary::default();
            for counts in &counts {
                summary.observe(counts);
                if let Source::Corpus(fitter) = &mut source {
                    fitter.observe(counts);
                }
            }
            (counts, summary)
        });
        let model = match &source {
            Source::Model(model) => model.documents().clone(),
            Source::Corpus(fitter) => match fitter.clone().finish() {
                Ok(model) => Arc::new(model),
                Err(Error::EmptyCorpus { .. }) => bail!(nothing_to_find(path, fitter.vectors())),
                Err(error) => return Err(error.into()),
            },
        };
        Ok(Corpus {
            source,
            model,
            texts,
            counts,
            summary,
        })
    }

    /// The model given, or one fitted on the corpus with the same words and weights.
    fn embedding(&self) -> Result<WordMoversEmbedding> {
        match &self.source {
            Source::Model(model) => Ok(model.clone()),
            Source::Corpus(_) => {
                let mut params = EmbeddingParams::default();
                let max_words = params.documents.bag.max_words;
                params.documents = self.model.params();
                params.documents.bag.max_words = max_words;
                let vectors = self.model.vectors().clone();
                let mut fitter = Fitter::new(params.check()?, vectors).word_probabilities(None);
                self.counts.iter().for_each(|counts| fitter.observe(counts));
                Ok(fitter.finish()?)
            }
        }
    }

    /// A line of the table.
    fn row(&self, neighbor: &Neighbor) -> Row<'_> {
        let document = &self.texts[neighbor.index];
        Row {
            value: neighbor.distance,
            id: match &document.id {
                Some(id) => Cow::Borrowed(id),
                None => Cow::Owned(neighbor.index.to_string()),
            },
            text: Cow::Borrowed(&document.text),
        }
    }

    fn answer<'a>(&'a self, query: &'a str, neighbors: &[Neighbor]) -> Answer<'a> {
        let neighbors = neighbors.iter().map(|neighbor| {
            let document = &self.texts[neighbor.index];
            AnswerNeighbor {
                id: match &document.id {
                    Some(id) => AnswerId::Given(id),
                    None => AnswerId::Number(neighbor.index),
                },
                distance: neighbor.distance,
                text: &document.text,
            }
        });
        Answer {
            query,
            neighbors: neighbors.collect(),
        }
    }
}

/// What a search of many queries tells of its work.
type Progress<'p> = &'p mut dyn FnMut(&SearchStatistics) -> ControlFlow<()>;

/// Runs a search with a bar, and adds up its work.
fn with_progress(
    n_queries: usize,
    quiet: bool,
    search: impl FnOnce(Progress) -> wordmover::Result<Vec<Vec<Neighbor>>>,
) -> Result<(Vec<Vec<Neighbor>>, SearchStatistics)> {
    let quiet = quiet || n_queries == 1;
    let bar = progress::bar(quiet, "searching", n_queries as u64, "queries");
    let mut statistics = SearchStatistics::default();
    let found = search(&mut |done| {
        statistics += *done;
        bar.inc(done.queries);
        ControlFlow::Continue(())
    })?;
    bar.finish_and_clear();
    Ok((found, statistics))
}

/// The index of embeddings written earlier. A few of them are made again, because those
/// of another corpus or model would find nonsense without a word.
fn stored(
    path: &Path,
    model: WordMoversEmbedding,
    documents: Vec<Document>,
) -> Result<EmbeddingIndex> {
    let rows = input::npy::read(path)?;
    let due = (documents.len(), model.n_features());
    let found = (rows.values.len() / rows.width.max(1), rows.width);
    if found != due {
        bail!(
            "{} holds {} embeddings of {} features; the documents and the model need {} of {}",
            path.display(),
            found.0,
            found.1,
            due.0,
            due.1
        );
    }
    for i in [0, documents.len() / 2, documents.len() - 1] {
        let again = model.embed(std::slice::from_ref(&documents[i]))?;
        if again != rows.values[i * rows.width..][..rows.width] {
            bail!(
                "{} does not hold what this model makes of these documents: number {i} differs",
                path.display()
            );
        }
    }
    Ok(EmbeddingIndex::with_embeddings(
        model,
        documents,
        rows.values,
    )?)
}

/// What `--json` prints for a query, in this order.
#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    neighbors: Vec<AnswerNeighbor<'a>>,
}

#[derive(Serialize)]
struct AnswerNeighbor<'a> {
    id: AnswerId<'a>,
    distance: f64,
    text: &'a str,
}

/// A document's id, or else its number.
#[derive(Serialize)]
#[serde(untagged)]
pub enum AnswerId<'a> {
    Given(&'a str),
    Number(usize),
}

fn print_answers(
    corpus: &Corpus,
    queries: &[String],
    found: &[Vec<Neighbor>],
    arguments: &SearchArguments,
) -> Result<()> {
    let table = NeighborTable::for_terminal("distance");
    let rows =
        |neighbors: &[Neighbor]| -> Vec<Row> { neighbors.iter().map(|n| corpus.row(n)).collect() };
    for (number, (query, neighbors)) in queries.iter().zip(found).enumerate() {
        let text = if arguments.json {
            serde_json::to_string(&corpus.answer(query, neighbors))? + "\n"
        } else if arguments.queries.is_some() {
            table.titled(number, query, &rows(neighbors))
        } else {
            table.lines(&rows(neighbors))
        };
        print(&text)?;
    }
    Ok(())
}

/// `1 query, 40 pairs, 7.5% of them solved exactly ...`
pub fn describe(statistics: &SearchStatistics) -> String {
    let share = match statistics.pairs {
        0 => String::new(),
        pairs => format!(
            ", {:.1}% of them solved exactly and the others shown to be farther",
            100.0 * statistics.solved as f64 / pairs as f64
        ),
    };
    format!(
        "{}, {}{share}",
        count(statistics.queries, "query"),
        count(statistics.pairs, "pair")
    )
}
