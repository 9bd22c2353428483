//! Search by embedding: exact distances of the candidates, against brute force.

use std::ops::ControlFlow;
use std::sync::Arc;

use wordmover::{
    Document, EmbeddingIndex, EmbeddingParams, Error, WmdIndex, WordMoversEmbedding, WordVectors,
    neighbors::SearchStatistics, similarity::cosine, wmd,
};

const TEXTS: [&str; 9] = [
    "Obama speaks to the media in Illinois",
    "The president greets the press in Chicago",
    "The band gave a concert in Japan",
    "",
    "A cat sat on the mat",
    "Dogs and cats are pets",
    "***",
    "Parliament votes on the budget",
    "The orchestra played in Tokyo",
];

fn index() -> EmbeddingIndex {
    let vectors = Arc::new(WordVectors::builtin());
    let params = EmbeddingParams::default().n_features(200);
    let model = WordMoversEmbedding::fit(params, vectors, &TEXTS).unwrap();
    let documents = TEXTS.map(|text| model.document(&model.word_counts(text)));
    EmbeddingIndex::new(model, documents.to_vec()).unwrap()
}

fn bag(index: &EmbeddingIndex, text: &str) -> Document {
    let model = index.model();
    model.document(&model.word_counts(text))
}

#[test]
fn with_all_candidates_it_is_exact_search() {
    let index = index();
    let exact = WmdIndex::new(index.model().space().clone(), index.documents().to_vec());
    let exact = exact.unwrap();
    for text in ["The senate debates taxes", "A kitten", "Music in Kyoto"] {
        let query = bag(&index, text);
        let found = index.search(&query, 3, TEXTS.len()).unwrap();
        assert_eq!(found, exact.search(&query, 3).unwrap());
        // More than there are, and never those without words.
        assert_eq!(index.search(&query, 50, 50).unwrap().len(), 7);
    }
}

#[test]
fn candidates_are_those_of_the_greatest_cosines() {
    let index = index();
    let query = bag(&index, "The government speaks to the press");
    let model = index.model();
    let row = model.embed(std::slice::from_ref(&query)).unwrap();
    let rows = model.embed(index.documents()).unwrap();
    let mut order: Vec<usize> = (0..TEXTS.len()).filter(|i| ![3, 6].contains(i)).collect();
    order.sort_by(|&a, &b| {
        let likeness = |i: usize| cosine(&row, &rows[i * 200..][..200]);
        likeness(b).total_cmp(&likeness(a))
    });
    for n in [1, 3, 7] {
        assert_eq!(index.candidates(&query, n).unwrap(), order[..n]);
    }
    let found = index.search(&query, 1, 2).unwrap();
    let distance =
        |&i: &usize| wmd::distance(model.space(), &query, &index.documents()[i]).unwrap();
    let nearest = order[..2]
        .iter()
        .map(distance)
        .fold(f64::INFINITY, f64::min);
    assert_eq!(found[0].distance, nearest);
}

#[test]
fn many_queries_find_what_each_finds_alone() {
    let index = index();
    let texts = [
        "The senate debates taxes",
        "",
        "A kitten",
        "Music in Kyoto",
        "***",
    ];
    let queries = texts.map(|text| bag(&index, text));
    let mut work = SearchStatistics::default();
    let found = index
        .search_batch(&queries, 2, 4, &mut |done| {
            work += *done;
            ControlFlow::Continue(())
        })
        .unwrap();
    for (query, found) in queries.iter().zip(&found) {
        match query.is_empty() {
            true => assert_eq!(found, &[]),
            false => assert_eq!(found, &index.search(query, 2, 4).unwrap()),
        }
    }
    assert_eq!((work.queries, work.pairs), (5, 3 * 4));
    assert!((3 * 2..=3 * 4).contains(&work.solved), "{work:?}");
    let stopped = index.search_batch(&queries, 2, 4, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn embeddings_made_earlier_serve_as_well() {
    let fresh = index();
    let (model, documents) = (fresh.model(), fresh.documents());
    let rows = model.embed(documents).unwrap();
    let with = |rows| EmbeddingIndex::with_embeddings(model.clone(), documents.to_vec(), rows);
    let stored = with(rows.clone()).unwrap();
    let query = bag(&fresh, "Music in Kyoto");
    assert_eq!(
        stored.candidates(&query, 9).unwrap(),
        fresh.candidates(&query, 9).unwrap()
    );
    assert_eq!(
        stored.search(&query, 2, 3).unwrap(),
        fresh.search(&query, 2, 3).unwrap()
    );
    let short = with(rows[1..].to_vec()).unwrap_err().to_string();
    let due =
        "embeddings is of 1799 values: it must be a row of the model's features for each document";
    assert_eq!(short, due);
    let mut broken = rows;
    broken[7] = f32::NAN;
    let said = with(broken).unwrap_err().to_string();
    assert_eq!(said, "embeddings is not finite (NaN): it must be finite");
}

#[test]
fn a_query_without_words_and_no_neighbours_are_refused() {
    let index = index();
    let empty = index.search(&Document::default(), 3, 9);
    assert!(matches!(empty, Err(Error::EmptyDocument)));
    let none = index.search(&bag(&index, "cat"), 0, 9);
    assert!(matches!(
        none,
        Err(Error::InvalidParameter { name: "k", .. })
    ));
}
