//! Words, meanings or both: which is chosen, and what each knows of a text.

mod toy;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use toy::{Numbers, corpus, corpus_of, silent};
use wordmover::embedding::PostProcessing;
use wordmover::format::Attachment;
use wordmover::{ModelFile, WordVectors};
use wordmover_classify::{
    Cache, Error, Event, LabeledCorpus, Method, Protocol, TextClassifier, Training, Views,
    WmeParams, evaluate,
};

fn params(views: &[Views]) -> WmeParams {
    let mut params = toy::params(Protocol::Fast);
    params.embedding.n_features = 64;
    params.d_maxes = vec![3];
    params.views = views.to_vec();
    params
}

fn train(views: &[Views], corpus: &LabeledCorpus) -> (TextClassifier, Training) {
    TextClassifier::train(&params(views), corpus, &Cache::none(), &silent).unwrap()
}

/// Ten vectors of one place, which tell nothing, and ten more on each of two sides.
fn vectors() -> Arc<WordVectors> {
    let mut numbers = Numbers(3);
    let (mut words, mut matrix) = (Vec::new(), Vec::new());
    for (letter, place) in [
        ("n", [0.0, 0.0, 1.0]),
        ("l", [1.0, 0.0, 0.0]),
        ("r", [0.0, 1.0, 0.0]),
    ] {
        for i in 0..40 {
            words.push(format!("{letter}{i}"));
            let noise = if letter == "n" { 0.0 } else { 0.2 };
            matrix.extend(place.map(|x| x + noise * (numbers.below(1000) as f32 / 1000.0 - 0.5)));
        }
    }
    Arc::new(WordVectors::from_rows("sides", words, matrix, 3).unwrap())
}

fn labeled(texts: &[(&str, String)]) -> LabeledCorpus {
    let texts = texts.iter().map(|(class, text)| (*class, text.as_str()));
    LabeledCorpus::from_texts(texts, toy::tokenizer(), vectors()).unwrap()
}

/// Names that lie in one place, each used by one class alone.
fn names(n: usize, seed: u64) -> LabeledCorpus {
    let mut numbers = Numbers(seed);
    let texts: Vec<_> = (0..n)
        .map(|i| {
            let name = 2 * numbers.below(4) + i % 2;
            let filler = (0..3).map(|_| format!("n{}", 20 + numbers.below(20)));
            let text = format!("n{name} {}", filler.collect::<Vec<_>>().join(" "));
            (["even", "odd"][i % 2], text)
        })
        .collect();
    labeled(&texts)
}

/// Words of two sides, no two documents with the same: at most 80 from the first on.
fn sides(n: usize, first: usize) -> LabeledCorpus {
    let texts: Vec<_> = (0..n)
        .map(|i| {
            let side = ["l", "r"][i % 2];
            (side, format!("{side}{} n1 n2", first + i / 2))
        })
        .collect();
    labeled(&texts)
}

fn accuracy(views: &[Views], train: &LabeledCorpus, test: &LabeledCorpus) -> f64 {
    let method = Method::Wme(params(views));
    evaluate(&method, train, test, &Cache::none(), &silent)
        .unwrap()
        .accuracy
}

#[test]
fn where_only_words_tell_words_are_looked_at() {
    let (learnt, test) = (names(80, 1), names(40, 2));
    assert!(accuracy(&[Views::Meanings], &learnt, &test) < 0.8);
    assert_eq!(accuracy(&[Views::Words], &learnt, &test), 1.0);
    assert!(accuracy(&Views::ALL, &learnt, &test) > 0.95);
    let (_, training) = train(&Views::ALL, &learnt);
    assert!(training.choice.views.have_words());
}

#[test]
fn where_only_meanings_tell_meanings_are_looked_at() {
    // The words of the test documents are not those learnt from.
    let (learnt, test) = (sides(60, 0), sides(20, 30));
    assert_eq!(accuracy(&[Views::Meanings], &learnt, &test), 1.0);
    assert!(accuracy(&[Views::Words], &learnt, &test) < 0.6);
    assert_eq!(accuracy(&Views::ALL, &learnt, &test), 1.0);
}

#[test]
fn both_know_what_either_knows() {
    // One half of the documents is told by names, the other by sides.
    let mut numbers = Numbers(5);
    let mut mixed = |n: usize, first: usize| {
        let texts: Vec<_> = (0..n)
            .map(|i| {
                let class = i % 2;
                let filler = |numbers: &mut Numbers| format!("n{}", 20 + numbers.below(20));
                let text = match i % 4 {
                    0 | 1 => format!("n{} {}", 2 * numbers.below(4) + class, filler(&mut numbers)),
                    _ => format!(
                        "{}{} {}",
                        ["l", "r"][class],
                        first + numbers.below(20),
                        filler(&mut numbers)
                    ),
                };
                (["x", "y"][class], text)
            })
            .collect();
        labeled(&texts)
    };
    let (learnt, test) = (mixed(200, 0), mixed(100, 20));
    let both = accuracy(&[Views::Both], &learnt, &test);
    assert!(
        both > accuracy(&[Views::Words], &learnt, &test) + 0.1,
        "{both}"
    );
    assert!(
        both > accuracy(&[Views::Meanings], &learnt, &test) + 0.1,
        "{both}"
    );
    let (_, training) = train(&Views::ALL, &learnt);
    assert_eq!(training.choice.views, Views::Both);
    assert!(training.choice.meanings_weight.unwrap() > 0.0);
    goes_on_beyond_ends(&training, Views::Meanings, 3);
    goes_on_beyond_ends(&training, Views::Both, 2 * 3);
    let of_words = training.views.iter().filter(|p| p.views == Views::Words);
    assert_eq!(of_words.count(), 5);
}

/// The best point of a view has neighbours on both sides, of those beyond the ends one that is
/// no better, unless as many steps were made as there may be.
fn goes_on_beyond_ends(training: &Training, views: Views, n_first: usize) {
    let points = training.views.iter().filter(|point| point.views == views);
    let points: Vec<_> = points.collect();
    let place = |i: usize| points[i].meanings_weight.unwrap_or(points[i].cost);
    let most = points
        .iter()
        .map(|point| point.accuracy)
        .fold(0.0, f64::max);
    let best = points.iter().position(|point| point.accuracy == most);
    let best = best.unwrap();
    let sides = [f64::lt as fn(&f64, &f64) -> bool, f64::gt];
    for is_beyond in sides {
        let has_more = (0..points.len()).any(|i| is_beyond(&place(i), &place(best)));
        let n_steps = points.len() - n_first;
        assert!(has_more || n_steps >= 4, "{views}: {points:?}");
    }
}

#[test]
fn what_is_best_at_an_end_is_looked_for_beyond_it() {
    let mut n_beyond = 0;
    for seed in 0..8 {
        let corpus = toy::corpus(60, seed);
        let (_, training) = train(&Views::ALL, &corpus);
        goes_on_beyond_ends(&training, Views::Meanings, 3);
        goes_on_beyond_ends(&training, Views::Both, 2 * 3);
        n_beyond += training.views.len() - (3 + 2 * 3 + 5);
    }
    assert!(n_beyond > 0);
}

#[test]
fn a_text_without_a_known_word_is_classified_by_its_words() {
    let mut texts = toy::texts(60, 1);
    for (class, text) in &mut texts {
        text.push_str(&format!(" the unknown{class}"));
    }
    let corpus = corpus_of(&texts);
    for views in [Views::Words, Views::Both] {
        let (classifier, _) = train(&[views], &corpus);
        assert_eq!(classifier.choice().views, views);
        let found = classifier
            .predict(&["unknownb", "the unknownc", "", "never", "a1"])
            .unwrap();
        let class = |i: usize| &classifier.classes()[found[i].class];
        assert_eq!((class(0).as_str(), class(1).as_str()), ("b", "c"));
        assert!(found[0].decision_values.is_some());
        for nothing in &found[2..4] {
            assert_eq!((nothing.class, &nothing.decision_values), (0, &None));
        }
        assert_eq!(class(4), "a");
    }
}

#[test]
fn the_features_of_a_document_without_meanings_are_the_means() {
    // With both, a text of no term at all that has meanings is judged by these.
    let (classifier, _) = train(&[Views::Both], &sides(60, 0));
    let found = classifier.predict(&["l39", "r39"]).unwrap();
    let names = found.iter().map(|p| classifier.classes()[p.class].as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["l", "r"]);
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_after_interrupts() {
    let corpus = corpus(60, 1);
    for views in [&[Views::Words][..], &[Views::Both], &Views::ALL] {
        let bytes = [1, 3].map(|n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().unwrap();
            pool.install(|| train(views, &corpus).0.to_bytes(true).unwrap())
        });
        assert_eq!(bytes[0], bytes[1]);
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let mut n_runs = 0;
        let resumed = loop {
            n_runs += 1;
            let n_heard = AtomicU64::new(0);
            let observer = |_: Event| match n_heard.fetch_add(1, Ordering::Relaxed) {
                n if n > 10 * n_runs => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
            match TextClassifier::train(&params(views), &corpus, &cache, &observer) {
                Ok((resumed, _)) => break resumed,
                Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
            }
        };
        assert!(n_runs > 1, "{n_runs}");
        assert_eq!(resumed.to_bytes(true).unwrap(), bytes[0]);
        // A last run finds everything and has nothing to do.
        let stages = Mutex::new(Vec::new());
        let observer = |event: Event| {
            if let Event::Stage { name, .. } = event {
                stages.lock().unwrap().push(name.to_owned());
            }
            ControlFlow::Continue(())
        };
        TextClassifier::train(&params(views), &corpus, &cache, &observer).unwrap();
        assert_eq!(*stages.lock().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_class_with_one_document_is_learnt() {
    let mut texts = toy::texts(60, 1);
    texts.retain(|(class, _)| *class != "c");
    texts.push(("c", "c1 c2 c3 lonely".to_owned()));
    let corpus = corpus_of(&texts);
    for views in [&[Views::Words][..], &[Views::Both], &Views::ALL] {
        let (classifier, training) = train(views, &corpus);
        assert!(training.notes[0].starts_with("class `c` has 1 training document,"));
        assert_eq!(classifier.classes().len(), 3);
        // A small C may leave it to the others, but its words speak for it.
        let found = classifier.predict(&["c1 c2 c3 lonely", "a1 b1"]).unwrap();
        let values = found.iter().map(|p| p.decision_values.as_ref().unwrap()[2]);
        let values: Vec<f64> = values.collect();
        assert!(values[0] > values[1], "{views:?}: {values:?}");
    }
}

#[test]
fn two_classes_and_documents_held_out() {
    let mut texts = toy::texts(60, 1);
    texts.retain(|(class, _)| *class != "c");
    let corpus = corpus_of(&texts);
    for views in [Views::Words, Views::Both] {
        let (classifier, training) = train(&[views], &corpus);
        let held_out = training.held_out.unwrap();
        assert_eq!(held_out.n_documents, 40);
        assert_eq!(held_out.accuracy, training.choice.accuracy);
        for prediction in classifier.predict(&["a1 a2", "b1 b2 a3"]).unwrap() {
            let values = prediction.decision_values.unwrap();
            assert_eq!(values[0], -values[1]);
            assert!(values[prediction.class] > 0.0);
        }
    }
}

#[test]
fn what_the_paper_s_protocol_does_not_have_is_refused() {
    let mut params = toy::params(Protocol::Paper);
    params.views = vec![Views::Both, Views::Words];
    let refused = TextClassifier::train(&params, &corpus(45, 1), &Cache::none(), &silent);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the list of views is both, words: it must be meanings alone, with the paper's protocol"
    );
    params.views.clear();
    assert!(params.check().is_err());
}

#[test]
fn a_loaded_classifier_says_the_same() {
    let texts = ["a1 b2 c3", "", "c1 c2", "b7 a1 zzz", "zzz"];
    for views in [Views::Words, Views::Both] {
        let (classifier, _) = train(&[views], &corpus(45, 1));
        let bytes = classifier.to_bytes(true).unwrap();
        let loaded = TextClassifier::from_bytes(&bytes, "t.wmc", None).unwrap();
        assert_eq!(
            loaded.predict(&texts).unwrap(),
            classifier.predict(&texts).unwrap()
        );
        assert_eq!(loaded.info(), classifier.info());
        assert_eq!(loaded.to_bytes(true).unwrap(), bytes);
    }
}

/// What is said of a classifier whose attachment was changed.
fn said(change: impl FnOnce(&mut Attachment)) -> String {
    let bytes = train(&[Views::Both], &corpus(45, 1))
        .0
        .to_bytes(true)
        .unwrap();
    let file = ModelFile::from_bytes(&bytes, "t.wmc").unwrap();
    let mut attachment = file.attachment("classifier").unwrap().clone();
    change(&mut attachment);
    let model = file.with_vectors(None).unwrap();
    let bytes = model.to_bytes_with(true, &[attachment]).unwrap();
    let error = TextClassifier::from_bytes(&bytes, "t.wmc", None).unwrap_err();
    error.to_string()
}

fn without(tensor: &str) -> String {
    said(|a| a.tensors.retain(|(name, _, _)| name != tensor))
}

#[test]
fn every_defect_has_its_sentence() {
    let damaged = "t.wmc: damaged classifier: ";
    for tensor in [
        "idf",
        "intercepts",
        "intercepts_without_meanings",
        "weights",
        "word_weights",
    ] {
        assert_eq!(
            without(tensor),
            format!("{damaged}tensor {tensor:?} is missing")
        );
        let not_finite = said(|a| {
            let found = a.tensors.iter_mut().find(|t| t.0 == tensor);
            found.unwrap().2[0] = f64::NAN;
        });
        assert!(not_finite.starts_with(damaged), "{not_finite}");
    }
    let with = |key: &str, value: serde_json::Value| {
        said(|attachment| {
            let mut metadata: serde_json::Value =
                serde_json::from_str(&attachment.metadata).unwrap();
            metadata[key] = value;
            attachment.metadata = metadata.to_string();
        })
    };
    assert_eq!(
        with("version", 1.into()),
        format!("{damaged}format 1 with the view both")
    );
    let n_terms = train(&[Views::Words], &corpus(45, 1))
        .0
        .to_bytes(true)
        .unwrap();
    let file = ModelFile::from_bytes(&n_terms, "t.wmc").unwrap();
    let tensors = &file.attachment("classifier").unwrap().tensors;
    let n_terms = tensors.iter().find(|t| t.0 == "idf").unwrap().2.len();
    assert_eq!(
        with("terms", "one\ntwo".into()),
        format!("{damaged}tensor \"idf\" has the shape [{n_terms}]")
    );
    let descending: Vec<String> = (0..n_terms)
        .map(|i| format!("{:04}", n_terms - i))
        .collect();
    assert_eq!(
        with("terms", descending.join("\n").into()),
        format!("{damaged}the terms do not ascend")
    );
    assert_eq!(
        with("machines", serde_json::json!([0, 1, 9])),
        format!("{damaged}class 9 of 3")
    );
    assert!(with("machines", serde_json::json!([0, 1, 1])).starts_with(damaged));
}

/// What a committed file of an earlier release says of a class.
fn decision_values(file: &str, class: &str, views: Views, texts: &[&str]) -> Vec<f64> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../wordmover/testdata/models/");
    let classifier = TextClassifier::load(format!("{folder}{file}").as_ref(), None).unwrap();
    assert_eq!(classifier.choice().views, views);
    assert_eq!(classifier.choice().post_processing, PostProcessing::Raw);
    let at = classifier.classes().iter().position(|name| name == class);
    let found = classifier.predict(texts).unwrap();
    let values = found
        .iter()
        .map(|p| p.decision_values.as_ref().unwrap()[at.unwrap()]);
    values.collect()
}

#[test]
fn a_file_of_the_first_version_predicts_what_it_did() {
    let texts = ["a b c", "d e e", "c c"];
    assert_eq!(
        decision_values("version-2.wmc", "x", Views::Meanings, &texts),
        [
            0.3637376130674295,
            -0.37594266667771126,
            -0.3110070265360933
        ]
    );
}

#[test]
fn a_file_whose_standardising_is_folded_in_predicts_what_it_did() {
    // `zz` and `yy` have vectors of their own.
    let texts = ["a0 b1 c2", "zz a1", "zz yy", "c1 c2 c3"];
    assert_eq!(
        decision_values("version-4.wmc", "a", Views::Both, &texts),
        [
            -0.3953258883690138,
            -0.14666716382884348,
            -1.0129973986699943,
            -0.4060816581441833
        ]
    );
}
