//! An index with a graph, through every change.

use super::*;
use crate::index::IndexError;

fn with_graph() -> IndexParams {
    params(UnknownWords::Random).graph(true)
}

#[cfg(not(feature = "hnsw"))]
#[test]
fn a_program_without_graphs_says_so_before_it_begins() {
    let place = Place::new();
    let built = SearchIndex::build(
        &place.path(),
        &with_graph(),
        vectors(),
        &numbered(&texts(9, 1)),
    );
    match built {
        Err(crate::Error::InvalidIndex { problem, .. }) => {
            assert_eq!(problem, IndexError::NoGraphs)
        }
        other => panic!("{other:?}"),
    }
    assert!(!place.path().exists());
}

#[cfg(feature = "hnsw")]
mod with_the_feature {
    use super::*;
    use crate::index::{SearchBy, SearchOptions};
    use std::ops::ControlFlow;

    /// Ids and distances for some queries, few candidates each.
    fn answers(index: &SearchIndex, queries: &[String]) -> Vec<Vec<(String, u64)>> {
        let options = SearchOptions::default()
            .k(2)
            .by(SearchBy::Embedding)
            .n_candidates(4);
        let all = index.search_batch(queries, &options, &mut |_| ControlFlow::Continue(()));
        let all = all.unwrap().into_iter();
        all.map(|hits| {
            hits.iter()
                .map(|hit| (hit.id.clone(), hit.score.to_bits()))
                .collect()
        })
        .collect()
    }

    fn share_of_equals<T: PartialEq>(a: &[T], b: &[T]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
    }

    #[test]
    fn a_graph_finds_what_comparing_all_finds_through_every_change() {
        let (with, without) = (Place::new(), Place::new());
        let all = texts(700, 3);
        let queries = texts(60, 8);
        let mut graph =
            SearchIndex::build(&with.path(), &with_graph(), vectors(), &numbered(&all)).unwrap();
        let mut plain = without.build(&numbered(&all));
        assert_eq!((graph.info().in_graph, plain.info().in_graph), (700, 0));
        let check = |graph: &SearchIndex, plain: &SearchIndex| {
            let share = share_of_equals(&answers(graph, &queries), &answers(plain, &queries));
            assert!(share >= 0.9, "{share}");
            graph.verify().unwrap();
        };
        check(&graph, &plain);

        // Documents that the graph does not know are found, those removed are not.
        let more = texts(50, 8);
        graph.add(&numbered(&more)).unwrap();
        plain.add(&numbered(&more)).unwrap();
        let gone: Vec<String> = (0..700).step_by(3).map(|i| i.to_string()).collect();
        graph.remove(&gone).unwrap();
        plain.remove(&gone).unwrap();
        assert_eq!(graph.info().in_graph, 700);
        check(&graph, &plain);

        let copy = Place::new();
        let copied = graph
            .copy_to(&copy.path(), false, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(answers(&copied, &queries), answers(&graph, &queries));

        graph.compact().unwrap();
        plain.compact().unwrap();
        assert_eq!((graph.info().in_graph, plain.info().in_graph), (516, 0));
        check(&graph, &plain);
        plain.compact_with_graph().unwrap();
        assert_eq!(answers(&plain, &queries), answers(&graph, &queries));
    }

    #[test]
    fn a_graph_has_the_same_bytes_each_time_and_damage_is_told() {
        let texts = texts(300, 3);
        let graph_of = |place: &Place| {
            SearchIndex::build(&place.path(), &with_graph(), vectors(), &numbered(&texts)).unwrap();
            let name = files(&place.path())
                .into_iter()
                .find(|name| name.starts_with("graph"));
            place.path().join(name.unwrap())
        };
        let (first, second) = (Place::new(), Place::new());
        let (a, b) = (graph_of(&first), graph_of(&second));
        let mut bytes = std::fs::read(&a).unwrap();
        assert_eq!(bytes, std::fs::read(b).unwrap());

        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        std::fs::write(&a, &bytes).unwrap();
        let damaged = first.open();
        let is_damaged = |error| {
            matches!(error, Err(crate::Error::InvalidIndex {
            problem: IndexError::Damaged { file, .. }, ..
        }) if file.starts_with("graph"))
        };
        assert!(is_damaged(damaged.verify()));
        let options = SearchOptions::default()
            .k(2)
            .by(SearchBy::Embedding)
            .n_candidates(4);
        let answered =
            damaged.search_batch(&["w1 w2"], &options, &mut |_| ControlFlow::Continue(()));
        assert!(is_damaged(answered.map(|_| ())));
    }
}
