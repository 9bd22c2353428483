//! Measures exact nearest neighbours on a labelled corpus.
//!
//! Reads lines of `split<TAB>label<TAB>text`, gzipped, finds for every test document
//! its 19 nearest training documents, and prints as JSON how long that took, how many of
//! the pairs needed an exact solve and how often the majority of the neighbours is right.
//! 200 queries (`--verify`) are compared with a search of every pair. A corpus without a split
//! (`-`) gets one: after a seeded shuffle, the first 70 % are for training. `--pairs FILE`
//! writes 500 random pairs of a test and a training document with their distance, for a
//! peer: `distance<TAB>words<TAB>words`, every word as often as it occurs. `--features R` also
//! embeds the documents and classifies them by a linear machine.
//!
//! ```sh
//! cargo run --release -p wordmover-bench --bin knn_corpus -- twitter.tsv.gz --stop-words none
//! ```

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use flate2::read::MultiGzDecoder;
use rayon::prelude::*;
use wordmover::text::{StopWords, Tokenizer};
use wordmover::{
    Document, EmbeddingParams, Neighbor, WmdIndex, WordMoversEmbedding, WordVectors,
    document::WordCounts,
    neighbors::SearchStatistics,
    space::{Normalization, UnknownWords, WordSpace},
    wmd,
};
use wordmover_learn::linear::{LinearSearchParams, search};
use wordmover_learn::{FeatureBlocks, Features, LinearClassifier, LinearParams, Targets, split};

const K: usize = 19;
const N_PAIRS: usize = 500;
const USAGE: &str = "usage: knn_corpus FILE [--vectors FILE] [--stop-words none] [--verify N] [--pairs FILE] \
     [--features R]";
const SEED: u64 = 0;
const D_MAX: usize = 12;
/// Values of C for standardised features.
const COSTS: [f64; 5] = [0.001, 0.003, 0.01, 0.03, 0.1];

type Error = Box<dyn std::error::Error>;

struct Labelled {
    split: String,
    label: String,
    text: String,
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or(USAGE)?;
    let mut tokenizer = Tokenizer::default();
    let mut n_verified = 200;
    let mut vectors = None;
    let mut pairs = None;
    let mut n_features = None;
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match (option.as_str(), value.as_str()) {
            ("--stop-words", "none") => tokenizer.stop_words = StopWords::None,
            ("--verify", number) => n_verified = number.parse()?,
            ("--vectors", file) => vectors = Some(WordVectors::open(Path::new(file), None)?),
            ("--pairs", file) => pairs = Some(file.to_owned()),
            ("--features", number) => n_features = Some(number.parse()?),
            _ => return Err(USAGE.into()),
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let (train, test) = read(&path, &mut random)?;
    let vectors = Arc::new(vectors.unwrap_or_else(WordVectors::builtin));
    let space = WordSpace::new(vectors, Normalization::Unit, &[])?;
    let counts = |text: &str| WordCounts::from_text(text, &tokenizer, space.vectors());
    let bags = |texts: &[Labelled]| -> Vec<Document> {
        let bag = |labelled: &Labelled| Document::nbow(&counts(&labelled.text));
        texts.par_iter().map(bag).collect()
    };
    let queries = bags(&test);
    let index = WmdIndex::new(space.clone(), bags(&train))?;
    let n_words: usize = index.documents().iter().map(Document::len).sum();

    let start = Instant::now();
    let mut total = SearchStatistics::default();
    let found = index.search_batch(&queries, K, &mut |done| {
        total += *done;
        ControlFlow::Continue(())
    })?;
    let seconds = start.elapsed().as_secs_f64();

    let chosen: Vec<usize> = (0..n_verified)
        .map(|_| below(queries.len(), &mut random))
        .collect();
    let start = Instant::now();
    for &i in &chosen {
        assert_eq!(
            found[i],
            nearest_of_all(&space, &index, &queries[i])?,
            "query {i}"
        );
    }
    let brute_seconds = start.elapsed().as_secs_f64() / n_verified.max(1) as f64;
    let embedded = n_features.map(|n| {
        let params = EmbeddingParams::default()
            .tokenizer(tokenizer.clone())
            .n_features(n)
            .d_max(D_MAX)
            .raw();
        classify(params, space.vectors().clone(), &train, &test)
    });
    println!(
        "{}",
        serde_json::json!({
            "embedded": embedded.transpose()?,
            "train": train.len(),
            "test": test.len(),
            "words": n_words as f64 / train.len() as f64,
            "k": K,
            "threads": rayon::current_num_threads(),
            "seconds": seconds,
            "pairs": total.pairs,
            "bounded_again": total.bounded_again,
            "solved": total.solved,
            "accuracy": accuracy(&train, &test, &found),
            "brute_seconds_a_query": brute_seconds,
        })
    );
    if let Some(path) = pairs {
        let mut lines = String::new();
        for _ in 0..N_PAIRS {
            let query = &test[below(test.len(), &mut random)].text;
            let document = &train[below(train.len(), &mut random)].text;
            lines += &pair(&space, &counts(query), &counts(document))?.unwrap_or_default();
        }
        std::fs::write(path, lines)?;
    }
    Ok(())
}

/// Embeds the documents, classifies them by a linear machine whose C is chosen by five folds of
/// the training documents, and tells seconds by stage and the share of test documents right.
fn classify(
    mut params: EmbeddingParams,
    vectors: Arc<WordVectors>,
    train: &[Labelled],
    test: &[Labelled],
) -> Result<serde_json::Value, Error> {
    let texts = |documents: &[Labelled]| -> Vec<String> {
        documents.iter().map(|it| it.text.clone()).collect()
    };
    let names: BTreeSet<&str> = train.iter().map(|it| it.label.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let label = |it: &Labelled| {
        names
            .binary_search(&it.label.as_str())
            .unwrap_or(usize::MAX)
    };
    let labels: Vec<usize> = train.iter().map(label).collect();
    let (train_texts, test_texts) = (texts(train), texts(test));
    // As the paper does.
    params.documents.unknown = Some(UnknownWords::Skip);

    let start = Instant::now();
    let model = WordMoversEmbedding::fit(params, vectors, &train_texts)?;
    let rows = model.transform(&train_texts)?;
    let embedding_seconds = start.elapsed().as_secs_f64();
    let features = FeatureBlocks::dense(Features::new(&rows, model.n_features())?);
    let targets = Targets::one_each(&labels)?;
    let machine = LinearParams::default().standardize(true).bias(Some(1.0));
    let folds = split::k_folds(labels.len(), 5, SEED)?;
    let search_params = LinearSearchParams::default()
        .costs(COSTS)
        .linear(machine.clone().tolerance(1e-2));
    let go_on = |_| ControlFlow::Continue(());
    let surface = search(&search_params.check()?, features, &targets, &folds, &go_on)?;
    let cost = surface.best().cost;

    let start = Instant::now();
    let classifier = LinearClassifier::fit(machine.cost(cost), features, &targets)?;
    let fitting_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let rows = model.transform(&test_texts)?;
    let features = FeatureBlocks::dense(Features::new(&rows, model.n_features())?);
    let predicted = classifier.predict(features)?;
    let prediction_seconds = start.elapsed().as_secs_f64();
    let right = test
        .iter()
        .zip(&predicted)
        .filter(|(it, class)| label(it) == **class);
    Ok(serde_json::json!({
        "embedding_seconds": embedding_seconds,
        "fitting_seconds": fitting_seconds,
        "prediction_seconds": prediction_seconds,
        "cost": cost,
        "accuracy": right.count() as f64 / test.len() as f64,
    }))
}

/// A pair for a peer; `None` if one has no word.
fn pair(
    space: &WordSpace,
    query: &WordCounts,
    document: &WordCounts,
) -> Result<Option<String>, wordmover::Error> {
    if query.words.is_empty() || document.words.is_empty() {
        return Ok(None);
    }
    let (x, y) = (Document::nbow(query), Document::nbow(document));
    let distance = wmd::distance(space, &x, &y)?;
    let words = |counts: &WordCounts| {
        let each = counts.words.iter();
        let words = each.flat_map(|&(word, n)| vec![space.vectors().word(word); n as usize]);
        words.collect::<Vec<_>>().join(" ")
    };
    Ok(Some(format!(
        "{distance}\t{}\t{}\n",
        words(query),
        words(document)
    )))
}

/// Training and test documents.
fn read(path: &str, random: &mut ChaCha8Rng) -> Result<(Vec<Labelled>, Vec<Labelled>), Error> {
    let mut all = Vec::new();
    for line in BufReader::new(MultiGzDecoder::new(File::open(path)?)).lines() {
        let line = line?;
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let (Some(split), Some(label), Some(text)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("expected split<TAB>label<TAB>text".into());
        };
        all.push(Labelled { split, label, text });
    }
    if all.iter().all(|document| document.split == "-") {
        shuffle(&mut all, random);
        let test = all.split_off(all.len() * 7 / 10);
        return Ok((all, test));
    }
    Ok(all
        .into_iter()
        .partition(|document| document.split == "train"))
}

fn shuffle<T>(items: &mut [T], random: &mut ChaCha8Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(i + 1, random));
    }
}

fn below(n: usize, random: &mut ChaCha8Rng) -> usize {
    (random.next_u64() % n as u64) as usize
}

/// Share of the test documents whose neighbours' most frequent label is theirs; among
/// equally frequent ones the label of the nearest.
fn accuracy(train: &[Labelled], test: &[Labelled], found: &[Vec<Neighbor>]) -> f64 {
    let right = test.iter().zip(found).filter(|(query, neighbors)| {
        let mut votes = BTreeMap::<&str, (usize, usize)>::new();
        for (rank, neighbor) in neighbors.iter().enumerate() {
            let label = train[neighbor.index].label.as_str();
            votes.entry(label).or_insert((0, neighbors.len() - rank)).0 += 1;
        }
        let winner = votes.iter().max_by_key(|(_, votes)| **votes);
        winner.is_some_and(|(label, _)| *label == query.label)
    });
    right.count() as f64 / test.len() as f64
}

/// The neighbours of a query by its distance from every document.
fn nearest_of_all(
    space: &WordSpace,
    index: &WmdIndex,
    query: &Document,
) -> Result<Vec<Neighbor>, wordmover::Error> {
    let documents = index.documents().par_iter().enumerate();
    let pairs = documents.filter(|(_, document)| !document.is_empty() && !query.is_empty());
    let distances = pairs.map(|(index, document)| {
        let distance = wmd::distance(space, query, document)?;
        Ok(Neighbor { index, distance })
    });
    let mut all: Vec<Neighbor> = distances.collect::<Result<_, wordmover::Error>>()?;
    // Stable: equal distances stay in the order of the corpus.
    all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    all.truncate(K);
    Ok(all)
}
