//! Answers are those of the indexes in memory, to the bit.

use std::ops::ControlFlow;

use super::*;
use crate::document::{Document, Weighting};
use crate::index::{Hit, SearchBy, SearchOptions};
use crate::neighbors::{EmbeddingIndex, Neighbor, WmdIndex};

const QUERIES: [&str; 6] = [
    "w1 w2 w3",
    "w5",
    "w7 w7 unknown3 w39",
    "unknown1",
    "nothing like it w0",
    "w11 w12 w13 w14 w15 w16 w17 w18",
];

fn bags(index: &SearchIndex, texts: &[String]) -> Vec<Document> {
    let model = index.model().documents();
    let weighed = texts
        .iter()
        .map(|text| model.document_by(&model.word_counts(text), &index.rules()));
    weighed.collect()
}

fn ids_and_distances(hits: &[Hit]) -> Vec<(String, u64)> {
    let each = hits.iter();
    each.map(|hit| (hit.id.clone(), hit.parts.distance.unwrap().to_bits()))
        .collect()
}

/// Both ways of search, with ids that are positions in `ids`.
fn assert_same(index: &SearchIndex, ids: &[String], texts: &[String]) {
    let documents = bags(index, texts);
    let exact = WmdIndex::new(index.model().space().clone(), documents.clone()).unwrap();
    let by_embedding = EmbeddingIndex::new(index.model().clone(), documents).unwrap();
    let expected = |neighbors: Vec<Neighbor>| -> Vec<(String, u64)> {
        let each = neighbors.into_iter();
        each.map(|n| (ids[n.index].clone(), n.distance.to_bits()))
            .collect()
    };
    for (query, k) in QUERIES
        .iter()
        .flat_map(|query| [(query, 1), (query, 7), (query, 100)])
    {
        let bag = &bags(index, &[query.to_string()])[0];
        let (wmd, embedding) = match bag.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => (
                exact.search(bag, k).unwrap(),
                by_embedding.search(bag, k, 20).unwrap(),
            ),
        };
        let found = index.search(query, k, SearchBy::Wmd).unwrap();
        assert_eq!(ids_and_distances(&found), expected(wmd), "{query} {k}");
        let options = SearchOptions::default()
            .k(k)
            .by(SearchBy::Embedding)
            .n_candidates(20);
        let found = index.search_batch(&[query], &options, &mut |_| {
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!(
            ids_and_distances(&found.unwrap()[0]),
            expected(embedding),
            "{query} {k}"
        );
    }
}

#[test]
fn answers_are_those_of_the_indexes_in_memory_through_every_change() {
    for unknown in [UnknownWords::Random, UnknownWords::Skip] {
        let place = Place::new();
        let mut all = texts(60, 1);
        let params = params(unknown);
        let mut index =
            SearchIndex::build(&place.path(), &params, vectors(), &numbered(&all)).unwrap();
        assert_eq!(index.model().params(), model(&all, &params).params());
        let ids = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        assert_same(&index, &ids(60), &all);

        for seed in 2..5 {
            let more = texts(25, seed * 100);
            index.add(&numbered(&more)).unwrap();
            all.extend(more);
        }
        assert_same(&index, &ids(135), &all);
        assert_same(&place.open(), &ids(135), &all);

        let (mut left, mut left_texts) = (ids(135), all.clone());
        for removed in [133, 60, 3, 2] {
            index.remove(&[&left[removed]]).unwrap();
            left.remove(removed);
            left_texts.remove(removed);
        }
        assert_same(&index, &left, &left_texts);
        let before: Vec<_> = QUERIES
            .map(|query| index.search(query, 9, SearchBy::Hybrid).unwrap())
            .into();
        index.compact().unwrap();
        assert_eq!((index.info().segments, index.info().removed), (1, 0));
        assert_same(&index, &left, &left_texts);
        let after: Vec<_> = QUERIES
            .map(|query| index.search(query, 9, SearchBy::Hybrid).unwrap())
            .into();
        assert_eq!(before, after);
        index.verify().unwrap();
    }
}

#[test]
fn hits_say_what_their_score_is_made_of_and_which_words_are_shared() {
    let place = Place::new();
    let documents = [
        NewDocument::named("a", "w1 w2 unknown1"),
        NewDocument::named("b", "w3 w4"),
        NewDocument::named("c", ""),
    ];
    let index = place.build(&documents);
    let hits = index.search("unknown1 w9 w2", 5, SearchBy::Hybrid).unwrap();
    assert_eq!(hits.len(), 2, "a document without words is never found");
    assert_eq!(
        (hits[0].id.as_str(), &hits[0].words[..]),
        ("a", &["w2".to_owned(), "unknown1".to_owned()][..])
    );
    assert!(hits[0].parts.words.unwrap() > 0.0 && hits[1].parts.words == Some(0.0));
    assert!(hits[0].score > hits[1].score);
    let exact = index.search("unknown1 w9 w2", 5, SearchBy::Wmd).unwrap();
    let mean = (exact[0].parts.distance.unwrap() + exact[1].parts.distance.unwrap()) / 2.0;
    for hit in &hits {
        let parts = hit.parts;
        let alone = exact.iter().find(|exact| exact.id == hit.id).unwrap();
        assert_eq!(parts.distance, alone.parts.distance);
        let nearer = 1.0 - parts.distance.unwrap() / mean;
        let sum = parts.words.unwrap() + parts.cosine.unwrap() + 4.0 * parts.feedback.unwrap();
        assert!((hit.score - sum - 3.0 * nearer).abs() < 1e-6, "{hit:?}");
    }
    let hits = index.search("w1", 5, SearchBy::Wmd).unwrap();
    assert_eq!(hits[0].score, -hits[0].parts.distance.unwrap());
    assert_eq!(index.text("b").unwrap(), Some("w3 w4"));
    assert_eq!(index.text("z").unwrap(), None);
    for by in [SearchBy::Hybrid, SearchBy::Wmd, SearchBy::Embedding] {
        assert_eq!(index.search("", 5, by).unwrap(), []);
        assert!(index.search("w1", 0, by).is_err());
    }
}

#[test]
fn words_without_a_vector_are_found_as_words() {
    let place = Place::new();
    let documents = numbered(&[
        "w1 xyzzy".to_owned(),
        "w2 w3".to_owned(),
        "xyzzy plugh".to_owned(),
    ]);
    let params = params(UnknownWords::Skip);
    let index = SearchIndex::build(&place.path(), &params, vectors(), &documents).unwrap();
    let hits = index.search("plugh", 5, SearchBy::Hybrid).unwrap();
    assert_eq!(
        hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(),
        ["2"]
    );
    assert_eq!(hits[0].parts.cosine, None);
    assert!(
        !index.has_words("plugh") && index.search("plugh", 5, SearchBy::Wmd).unwrap().is_empty()
    );
}

/// Otherwise the time to open an index would grow with its vocabulary.
#[test]
fn frequencies_of_words_are_kept_only_where_weights_ask_for_them() {
    let texts = texts(30, 3);
    for (weighting, is_kept) in [(Weighting::Nbow, false), (Weighting::Tfidf, true)] {
        let place = Place::new();
        let mut params = params(UnknownWords::Random);
        params.embedding.documents.bag.weighting = weighting;
        let documents = numbered(&texts);
        let built = SearchIndex::build(&place.path(), &params, vectors(), &documents).unwrap();
        let opened = SearchIndex::open(&place.path(), None).unwrap();
        for index in [built, opened] {
            let corpus = index.model().corpus();
            assert_eq!(!corpus.words().is_empty(), is_kept, "{weighting}");
            assert_eq!(corpus.n_documents(), 30);
        }
    }
}

#[test]
fn a_removed_document_has_no_part_in_the_evidence_of_words() {
    // So few documents that those without a common word count in the mean of the ten best.
    let (place, other) = (Place::new(), Place::new());
    let texts = texts(8, 1);
    let params = params(UnknownWords::Random);
    let model = model(&texts, &params);
    let go_on = &mut |_| ControlFlow::Continue(());
    let build = |place: &Place, texts: &[String], go_on: &mut dyn FnMut(usize) -> _| {
        let documents = numbered(texts);
        SearchIndex::build_with(&place.path(), &params, model.clone(), &documents, go_on).unwrap()
    };
    let mut index = build(&place, &texts, go_on);
    index.remove(&["6", "7"]).unwrap();
    let never_there = build(&other, &texts[..6], go_on);
    for query in &texts {
        let [found, expected] =
            [&index, &never_there].map(|index| index.search(query, 8, SearchBy::Hybrid).unwrap());
        assert_eq!(found, expected, "{query}");
    }
}
