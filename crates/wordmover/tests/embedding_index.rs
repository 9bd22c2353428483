//! Search by embedding: exact distances of the candidates, against brute force.

use std::sync::Arc;

use wordmover::{
    Document, EmbeddingIndex, EmbeddingParams, Error, WmdIndex, WordMoversEmbedding, WordVectors,
    cosine, wmd,
};

const TEXTS: [&str; 9] = [
    "Obama speaks to the media in Illinois",
    "The president greets the press in Chicago",
    "The band gave a concert in Japan",
    "",
    "A cat sat on the mat",
    "Dogs and cats are pets",
    "zzyx",
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
