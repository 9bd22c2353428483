//! What happens to an index while it is changed.

use std::ops::ControlFlow;

use super::*;
use crate::Error;
use crate::index::{IndexError, SearchBy};

#[track_caller]
fn problem<T: std::fmt::Debug>(result: crate::Result<T>) -> IndexError {
    match result {
        Err(Error::InvalidIndex { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ids_are_given_to_all_or_to_none_and_only_once() {
    let place = Place::new();
    let mut index = place.build(&named(&texts(5, 1), "a"));
    let duplicate = |id: &str| IndexError::DuplicateId { id: id.to_owned() };
    let document = |id: &str| NewDocument::named(id, "w1 w2");
    assert_eq!(
        problem(index.add(&[document("b"), document("a3")])),
        duplicate("a3")
    );
    assert_eq!(
        problem(index.add(&[document("b"), document("b")])),
        duplicate("b")
    );
    let needed = true;
    assert_eq!(
        problem(index.add(&[NewDocument::numbered("w1")])),
        IndexError::Ids { needed }
    );
    let unknown = IndexError::UnknownId { id: "z".to_owned() };
    assert_eq!(problem(index.remove(&["a1", "z"])), unknown);
    assert_eq!(index.info().documents, 5, "all of a change or nothing");
    assert!(place.open().is_current().unwrap() && index.is_current().unwrap());

    index
        .add_with(&[document("a3")], true, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!(index.text("a3").unwrap(), Some("w1 w2"));
    assert_eq!((index.info().documents, index.info().removed), (5, 1));
    index.remove(&["a3"]).unwrap();
    assert_eq!(
        problem(index.remove(&["a3"])),
        IndexError::UnknownId {
            id: "a3".to_owned()
        }
    );
    index.add(&[document("a3")]).unwrap();

    let numbers = Place::new();
    let mut index = numbers.build(&numbered(&texts(3, 1)));
    assert_eq!(
        problem(index.add(&[document("b")])),
        IndexError::Ids { needed: false }
    );
    index.remove(&["2"]).unwrap();
    index.add(&numbered(&texts(1, 8))).unwrap();
    assert_eq!(
        problem(index.remove(&["2"])),
        IndexError::UnknownId { id: "2".to_owned() }
    );
    assert!(
        index.text("3").unwrap().is_some(),
        "numbers are never given twice"
    );
}

#[test]
fn an_index_is_not_replaced_unless_told_and_nothing_else_ever() {
    let place = Place::new();
    let documents = numbered(&texts(6, 1));
    place.build(&documents);
    let again = |replace: bool| {
        let params = params(UnknownWords::Random).replace(replace);
        SearchIndex::build(&place.path(), &params, vectors(), &documents[..2])
    };
    assert_eq!(problem(again(false)), IndexError::Exists);
    let reader = place.open();
    assert_eq!(again(true).unwrap().info().documents, 2);
    assert!(!reader.is_current().unwrap());
    assert_eq!(reader.search("w1 w2", 9, SearchBy::Wmd).unwrap().len(), 6);
    assert_eq!(files(&place.path()).len(), 4, "{:?}", files(&place.path()));

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("precious.txt"), "mine").unwrap();
    let params = params(UnknownWords::Random).replace(true);
    let refused = SearchIndex::build(folder.path(), &params, vectors(), &documents);
    assert_eq!(problem(refused), IndexError::Foreign);
    assert_eq!(
        problem(SearchIndex::build(
            &folder.path().join("x"),
            &params,
            vectors(),
            &[]
        )),
        IndexError::Empty
    );
    assert_eq!(files(folder.path()), ["precious.txt"]);
}

#[test]
fn a_change_that_is_broken_off_leaves_the_index_as_it_was() {
    let place = Place::new();
    let mut index = place.build(&named(&texts(5, 1), "a"));
    let before = (files(&place.path()), index.info());
    let mut replacing = named(&texts(3, 7), "a");
    replacing.push(NewDocument::named("new", "w5 w6"));
    let broken = index.add_with(&replacing, true, &mut |_| ControlFlow::Break(()));
    assert!(matches!(broken, Err(Error::Interrupted)));
    assert_eq!((files(&place.path()), index.info()), before);
    assert_eq!(place.open().info(), before.1);
    index
        .add_with(&replacing, true, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!(index.info().documents, 6);

    // A build that breaks off leaves nothing at all.
    let other = Place::new();
    let documents = numbered(&texts(4, 2));
    let texts = texts(4, 2);
    let params = params(UnknownWords::Random);
    let stop = &mut |_| ControlFlow::Break(());
    let broken = SearchIndex::build_with(
        &other.path(),
        &params,
        model(&texts, &params),
        &documents,
        stop,
    );
    assert!(matches!(broken, Err(Error::Interrupted)));
    assert!(!other.path().exists());
}

#[test]
fn a_copy_answers_as_the_index_does_and_lives_by_itself() {
    let (place, other) = (Place::new(), Place::new());
    let mut index = place.build(&named(&texts(30, 1), "a"));
    index.add(&named(&texts(7, 3), "b")).unwrap();
    index.remove(&["a3", "b2"]).unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let copy = index.copy_to(&other.path(), false, go_on).unwrap();
    copy.verify().unwrap();
    let answers = |index: &SearchIndex| {
        let by = [SearchBy::Wmd, SearchBy::Embedding, SearchBy::Hybrid];
        by.map(|by| index.search("w1 w9 unknown3", 8, by).unwrap())
    };
    assert_eq!(answers(&copy), answers(&index));
    assert_eq!(answers(&other.open()), answers(&index));

    // What is open is copied, whatever has become of its folder.
    let before = answers(&index);
    place.open().compact().unwrap();
    let exists = index.copy_to(&other.path(), false, go_on);
    assert_eq!(problem(exists), IndexError::Exists);
    index.copy_to(&other.path(), true, go_on).unwrap();
    assert_eq!(answers(&other.open()), before);
    assert!(!copy.is_current().unwrap());

    let third = Place::new();
    let broken = index.copy_to(&third.path(), false, &mut |_| ControlFlow::Break(()));
    assert!(matches!(broken, Err(Error::Interrupted)));
    assert!(!third.path().exists());
}

#[test]
fn one_program_writes_at_a_time_and_a_killed_one_leaves_no_trace() {
    let place = Place::new();
    let mut index = place.build(&numbered(&texts(5, 1)));
    {
        let _other = crate::index::manifest::Writing::begin(&place.path()).unwrap();
        assert_eq!(
            problem(index.add(&numbered(&texts(1, 2)))),
            IndexError::Locked
        );
        assert_eq!(problem(index.compact()), IndexError::Locked);
    }
    // What a killed writer may leave: a segment that no manifest names, and a file half written.
    let segment = files(&place.path())
        .into_iter()
        .find(|name| name.starts_with("segment"))
        .unwrap();
    std::fs::copy(
        place.path().join(segment),
        place.path().join("segment-000077.safetensors"),
    )
    .unwrap();
    std::fs::write(
        place.path().join(".segment-000078.safetensors.abc123.part"),
        "half",
    )
    .unwrap();
    assert_eq!(place.open().info().documents, 5);
    index.add(&numbered(&texts(1, 2))).unwrap();
    assert_eq!(files(&place.path()).len(), 5, "{:?}", files(&place.path()));
    // A stale view takes up what others did.
    let mut stale = place.open();
    index.add(&numbered(&texts(2, 3))).unwrap();
    stale.add(&numbered(&texts(2, 4))).unwrap();
    assert_eq!(place.open().info().documents, 10);
}

#[test]
fn readers_answer_while_a_writer_works() {
    let place = Place::new();
    let mut index = place.build(&numbered(&texts(30, 1)));
    let path = place.path();
    let expected = index.search("w1 w2 w3", 3, SearchBy::Wmd).unwrap();
    let kept = place.open();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let (mut opened, mut last) = (0, 0);
                    while opened < 5 || !done.load(std::sync::atomic::Ordering::Relaxed) {
                        let index = SearchIndex::open(&path, None).unwrap();
                        assert!(index.info().generation >= last);
                        last = index.info().generation;
                        assert!(
                            !index
                                .search("w1 w2 w3", 3, SearchBy::Hybrid)
                                .unwrap()
                                .is_empty()
                        );
                        assert_eq!(index.search("w1 w2 w3", 3, SearchBy::Wmd).unwrap().len(), 3);
                        opened += 1;
                    }
                })
            })
            .collect();
        for round in 0..4 {
            index.add(&numbered(&texts(3, round * 9 + 2))).unwrap();
            if round == 2 {
                index.remove(&[(round + 30).to_string()]).unwrap();
                index.compact().unwrap();
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(kept.search("w1 w2 w3", 3, SearchBy::Wmd).unwrap(), expected);
    assert_eq!(index.info().documents, 30 + 12 - 1);
}
