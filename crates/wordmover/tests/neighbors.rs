//! The search finds what a comparison with every document finds, bit for bit.

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use wordmover::{
    Document, Error, Neighbor, WmdIndex, WordVectors,
    neighbors::SearchStatistics,
    space::{Normalization, WordSpace},
    wmd,
};

const N_WORDS: u32 = 40;
const DIM: usize = 3;

/// Vectors on a small lattice: many words are equally far apart, some are the same point.
fn lattice() -> WordSpace {
    space_of(
        (0..N_WORDS as usize * DIM).map(|i| ((i * 7919 + i / 5) % 4) as f32 * 0.5 - 1.0),
        Normalization::None,
    )
}

/// Vectors in general position, scaled to length 1.
fn sphere() -> WordSpace {
    space_of(
        (0..N_WORDS as usize * DIM).map(|i| (i as f32 * 1.7).sin() + 0.1),
        Normalization::Unit,
    )
}

fn space_of(coordinates: impl Iterator<Item = f32>, normalization: Normalization) -> WordSpace {
    let words = (0..N_WORDS).map(|i| format!("w{i}")).collect();
    let vectors = WordVectors::from_rows("toy", words, coordinates.collect(), DIM).unwrap();
    WordSpace::new(Arc::new(vectors), normalization, &[]).unwrap()
}

fn bag(counts: impl IntoIterator<Item = (u32, u32)>) -> Document {
    let counts: Vec<(u32, u32)> = counts.into_iter().collect();
    let total: u32 = counts.iter().map(|&(_, n)| n).sum();
    let weights = counts
        .iter()
        .map(|&(word, n)| (word, f64::from(n) / f64::from(total)));
    Document::from_weights(weights).unwrap()
}

/// Bags of up to eight words, now and then empty.
fn documents() -> impl Strategy<Value = Document> {
    prop::collection::btree_map(0..N_WORDS, 1..4u32, 0..9).prop_map(bag)
}

/// A corpus in which some documents occur several times.
fn corpora() -> impl Strategy<Value = Vec<Document>> {
    (
        prop::collection::vec(documents(), 0..30),
        prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    )
        .prop_map(|(mut corpus, repeated)| {
            if !corpus.is_empty() {
                for index in repeated {
                    corpus.push(index.get(&corpus).clone());
                }
            }
            corpus
        })
}

fn by_brute_force(
    space: &WordSpace,
    corpus: &[Document],
    query: &Document,
    k: usize,
) -> Vec<Neighbor> {
    let with_words = corpus.iter().enumerate().filter(|(_, d)| !d.is_empty());
    let mut all: Vec<Neighbor> = with_words
        .map(|(index, document)| Neighbor {
            index,
            distance: wmd::distance(space, query, document).unwrap(),
        })
        .collect();
    all.sort_by(|a, b| {
        a.distance
            .total_cmp(&b.distance)
            .then(a.index.cmp(&b.index))
    });
    all.truncate(k);
    all
}

fn bits(neighbors: &[Neighbor]) -> Vec<(usize, u64)> {
    let bits = |neighbor: &Neighbor| (neighbor.index, neighbor.distance.to_bits());
    neighbors.iter().map(bits).collect()
}

/// The answers and the statistics of the whole.
fn batch(
    index: &WmdIndex,
    queries: &[Document],
    k: usize,
) -> (Vec<Vec<Neighbor>>, SearchStatistics) {
    let mut total = SearchStatistics::default();
    let found = index.search_batch(queries, k, &mut |done| {
        total += *done;
        ControlFlow::Continue(())
    });
    (found.unwrap(), total)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn the_search_equals_brute_force_bit_for_bit(
        corpus in corpora(),
        mut queries in prop::collection::vec(documents(), 1..4),
        k in 1..50usize,
        on_lattice in any::<bool>(),
    ) {
        let space = if on_lattice { lattice() } else { sphere() };
        let index = WmdIndex::new(space.clone(), corpus.clone()).unwrap();
        // A document of the corpus as query: distance 0, and a tie with its doubles.
        queries.extend(corpus.first().cloned());
        let (found, total) = batch(&index, &queries, k);
        prop_assert_eq!(found.len(), queries.len());
        for (query, found) in queries.iter().zip(&found) {
            if query.is_empty() {
                prop_assert!(found.is_empty());
                prop_assert!(matches!(index.search(query, k), Err(Error::EmptyDocument)));
                continue;
            }
            let expected = by_brute_force(&space, &corpus, query, k);
            prop_assert_eq!(bits(found), bits(&expected));
            prop_assert_eq!(bits(&index.search(query, k).unwrap()), bits(&expected));
        }
        let count = |documents: &[Document]| documents.iter().filter(|d| !d.is_empty()).count();
        prop_assert_eq!(total.queries, queries.len() as u64);
        prop_assert_eq!(total.pairs, (count(&corpus) * count(&queries)) as u64);
        prop_assert!(total.solved <= total.bounded_again && total.bounded_again <= total.pairs);
    }
}

#[test]
fn weights_that_sum_to_one_only_roughly_lose_no_neighbour() {
    // Both documents are equally far from the query, but for the last digits.
    let space = lattice();
    let corpus: Vec<Document> = [-9e-10, 0.0, 9e-10]
        .iter()
        .map(|off| Document::from_weights([(3, 0.5), (4, 0.25), (9, 0.25 + off)]).unwrap())
        .collect();
    let query = Document::from_weights([(1, 0.75), (2, 0.25 - 9e-10)]).unwrap();
    let index = WmdIndex::new(space.clone(), corpus.clone()).unwrap();
    for k in 1..4 {
        let expected = by_brute_force(&space, &corpus, &query, k);
        assert_eq!(bits(&index.search(&query, k).unwrap()), bits(&expected));
    }
}

/// Documents that equal the query end the search before those that wait to be solved had their turn.
#[test]
fn other_words_at_the_same_points_tie_with_doubles_of_the_query() {
    let corpus: Vec<Document> = [5, 1, 15, 5].iter().map(|&w| bag([(w, 1)])).collect();
    let space = lattice();
    let index = WmdIndex::new(space.clone(), corpus.clone()).unwrap();
    for k in 1..5 {
        let expected = by_brute_force(&space, &corpus, &corpus[0], k);
        assert_eq!(bits(&index.search(&corpus[0], k).unwrap()), bits(&expected));
    }
}

#[test]
fn equally_near_documents_come_in_the_order_of_the_corpus() {
    let (near, far) = (bag([(1, 1), (2, 1)]), bag([(30, 1)]));
    let corpus = vec![
        far.clone(),
        near.clone(),
        Document::default(),
        near.clone(),
        near.clone(),
    ];
    let index = WmdIndex::new(sphere(), corpus).unwrap();
    let indices = |k| -> Vec<usize> {
        let found = index.search(&bag([(1, 1), (5, 2)]), k).unwrap();
        found.iter().map(|neighbor| neighbor.index).collect()
    };
    assert_eq!(indices(2), [1, 3]);
    assert_eq!(indices(3), [1, 3, 4]);
    assert_eq!(indices(99), [1, 3, 4, 0]);
}

#[test]
fn in_a_corpus_of_clusters_most_pairs_are_never_solved() {
    // Words 10 c to 10 c + 9 make up topic c, far from the other topics.
    let topic = |word: usize| word / 10;
    let coordinates = (0..N_WORDS as usize * DIM).map(|i| {
        let far = if i % DIM == topic(i / DIM) % DIM {
            10.0
        } else {
            0.0
        };
        let side = if topic(i / DIM) == 3 { -1.0 } else { 1.0 };
        far * side + (i as f32 * 1.3).sin()
    });
    let space = space_of(coordinates, Normalization::None);
    let corpus: Vec<Document> = (0..400u32)
        .map(|i| bag((0..5).map(|j| (10 * (i % 4) + (i / 4 + j * j) % 10, 1 + (i + j) % 3))))
        .collect();
    let queries = &corpus[..40];
    let index = WmdIndex::new(space, corpus.clone()).unwrap();
    let (found, total) = batch(&index, queries, 3);
    for (i, neighbors) in found.iter().enumerate() {
        assert_eq!((neighbors[0].index % 40, neighbors[0].distance), (i, 0.0));
    }
    assert_eq!(total.pairs, 40 * 400);
    // Three quarters are other topics, which the first bound sees.
    assert!(total.bounded_again <= total.pairs / 4, "{total:?}");
    assert!(total.solved < total.pairs / 10, "{total:?}");
}

#[test]
fn answers_and_statistics_do_not_depend_on_the_number_of_threads() {
    let corpus: Vec<Document> = (0..100u32)
        .map(|i| bag((0..4).map(|j| ((i * 7 + j * j * 3) % N_WORDS, 1 + j))))
        .collect();
    let index = WmdIndex::new(sphere(), corpus.clone()).unwrap();
    let with_threads = |n| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .unwrap();
        pool.install(|| batch(&index, &corpus, 5))
    };
    assert_eq!(with_threads(1), with_threads(3));
}

#[test]
fn no_neighbours_at_all_cannot_be_asked_for() {
    let index = WmdIndex::new(sphere(), vec![bag([(1, 1)])]).unwrap();
    let error = index.search(&bag([(1, 1)]), 0).unwrap_err();
    assert_eq!(error.to_string(), "k is 0: it must be at least 1");
    let never = &mut |_: &SearchStatistics| ControlFlow::Continue(());
    assert!(index.search_batch(&[], 0, never).is_err());
}

#[test]
fn a_corpus_without_words_has_no_neighbours() {
    for corpus in [vec![], vec![Document::default(); 3]] {
        let index = WmdIndex::new(sphere(), corpus).unwrap();
        assert_eq!(index.search(&bag([(1, 1)]), 2).unwrap(), []);
    }
}

#[test]
fn only_documents_that_may_be_found_are_found() {
    let corpus: Vec<Document> = (0..12).map(|i| bag([(i, 1), (i / 2, 2)])).collect();
    let fold = |document: usize| document % 3;
    let may_find = |query: usize, document: usize| fold(query) != fold(document);
    let never = &mut |_: &SearchStatistics| ControlFlow::Continue(());
    let index = WmdIndex::new(sphere(), corpus.clone()).unwrap();
    let found = index
        .search_batch_among(&corpus, 5, &may_find, never)
        .unwrap();
    for (query, found) in found.iter().enumerate() {
        // A corpus without the others: their places are taken by documents without words.
        let others = corpus.iter().enumerate().map(|(i, document)| {
            if may_find(query, i) {
                document.clone()
            } else {
                Document::default()
            }
        });
        let others = WmdIndex::new(sphere(), others.collect()).unwrap();
        let expected = others.search(&corpus[query], 5).unwrap();
        assert_eq!(bits(found), bits(&expected));
    }
    let nobody = index.search_batch_among(&corpus, 5, &|_, _| false, never);
    assert!(nobody.unwrap().iter().all(Vec::is_empty));
}

#[test]
fn the_caller_may_break_off() {
    let corpus = vec![bag([(1, 1)]), bag([(2, 1)])];
    let index = WmdIndex::new(sphere(), corpus.clone()).unwrap();
    let result = index.search_batch(&corpus, 1, &mut |_| ControlFlow::Break(()));
    assert!(matches!(result, Err(Error::Interrupted)));
}
