//! Training: what is chosen, that it can be taken up again, and what cannot be learnt.

mod toy;

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use toy::{corpus, corpus_of, params, silent, texts};
use wordmover::Weighting;
use wordmover_classify::{
    Cache, CrossValidation, Error, Event, LabeledCorpus, Method, Protocol, TextClassifier,
    Training, WmeParams, evaluate, evaluate_splits, feature_curve, random_splits,
};

fn train(params: &WmeParams, corpus: &LabeledCorpus) -> (TextClassifier, Training) {
    TextClassifier::train(params, corpus, &Cache::none(), &silent).unwrap()
}

#[test]
fn words_of_their_own_tell_classes_apart() {
    let (train, test) = (corpus(120, 1), corpus(60, 2));
    let method = Method::Wme(params(Protocol::Fast));
    let outcome = evaluate(&method, &train, &test, &Cache::none(), &silent).unwrap();
    assert!(outcome.accuracy > 0.85, "{}", outcome.accuracy);
    assert!(outcome.cross_validation.accuracy() > 0.85);
    assert_eq!((outcome.n_train, outcome.n_test), (120, 60));
}

#[test]
fn the_paper_s_protocol_searches_its_grid_then_c_with_all_features() {
    let (_, training) = train(&params(Protocol::Paper), &corpus(45, 1));
    let rounds = &training.rounds;
    assert_eq!(rounds.len(), 2);
    assert_eq!((rounds[0].n_features, rounds[0].n_folds), (256, 10));
    assert_eq!(rounds[0].points.len(), 2 * 18 * 26);
    assert_eq!((rounds[1].n_features, rounds[1].n_folds), (300, 10));
    assert_eq!(rounds[1].points.len(), 26);
    let best = rounds[0].points.iter().map(|point| point.n_right).max();
    let first = rounds[0]
        .points
        .iter()
        .filter(|point| Some(point.n_right) == best)
        .min_by(|a, b| a.cost.total_cmp(&b.cost))
        .unwrap();
    let choice = &training.choice;
    assert_eq!((choice.gamma, choice.d_max), (first.gamma, first.d_max));
    assert_eq!(
        (choice.weighting, choice.n_features),
        (Weighting::Nbow, 300)
    );
    assert!(choice.accuracy > 0.7, "{}", choice.accuracy);
    assert!(
        rounds[1]
            .points
            .iter()
            .all(|point| point.gamma == choice.gamma)
    );
}

#[test]
fn the_fast_protocol_halves_candidates_while_features_double() {
    let mut params = params(Protocol::Fast);
    params.embedding.n_features = 600;
    let (_, training) = train(&params, &corpus(60, 1));
    let shape = training.rounds.iter().map(|round| {
        let mut candidates: Vec<_> = round
            .points
            .iter()
            .map(|point| (format!("{:?}", point.weighting), point.d_max))
            .collect();
        candidates.dedup();
        (round.n_features, candidates.len())
    });
    assert_eq!(shape.collect::<Vec<_>>(), [(256, 6), (512, 3), (600, 2)]);
    assert_eq!(training.notes.len(), 3, "{:?}", training.notes);
}

#[test]
fn interrupted_work_goes_on_to_the_same_bits() {
    let (corpus, params) = (corpus(60, 1), params(Protocol::Fast));
    let (whole, _) = train(&params, &corpus);
    let whole = whole.to_bytes(true).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    // Broken off later and later, until it comes through.
    let mut n_runs = 0;
    let resumed = loop {
        n_runs += 1;
        let n_heard = AtomicU64::new(0);
        let observer = |_: Event| match n_heard.fetch_add(1, Ordering::Relaxed) {
            n if n > 40 * n_runs => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        match TextClassifier::train(&params, &corpus, &cache, &observer) {
            Ok((resumed, _)) => break resumed,
            Err(error) => assert!(matches!(error, Error::Interrupted), "{error}"),
        }
    };
    assert!(n_runs > 2, "{n_runs}");
    assert_eq!(resumed.to_bytes(true).unwrap(), whole);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with('.'), "{name} was left behind");
    }
    // A last run finds everything and has nothing to do.
    let stages = Mutex::new(Vec::new());
    let observer = |event: Event| {
        if let Event::Stage { name, .. } = event {
            stages.lock().unwrap().push(name.to_owned());
        }
        ControlFlow::Continue(())
    };
    TextClassifier::train(&params, &corpus, &cache, &observer).unwrap();
    assert_eq!(*stages.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let (corpus, params) = (corpus(45, 1), params(Protocol::Fast));
    let bytes = [1, 3].map(|n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let pool = pool.build().unwrap();
        pool.install(|| train(&params, &corpus).0.to_bytes(true).unwrap())
    });
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn more_features_use_the_distances_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let (corpus, mut params) = (corpus(45, 1), params(Protocol::Fast));
    params.d_maxes = vec![4];
    params.weightings = vec![Weighting::Nbow];
    let n_distances = |params: &WmeParams| {
        let n = AtomicU64::new(0);
        let observer = |event: Event| {
            if let Event::Stage {
                name: "distances",
                n_steps,
                ..
            } = event
            {
                n.fetch_add(n_steps, Ordering::Relaxed);
            }
            ControlFlow::Continue(())
        };
        TextClassifier::train(params, &corpus, &cache, &observer).unwrap();
        n.into_inner()
    };
    params.embedding.n_features = 256;
    assert_eq!(n_distances(&params), 45 * 256);
    params.embedding.n_features = 200;
    assert_eq!(n_distances(&params), 0);
    params.embedding.n_features = 400;
    assert_eq!(n_distances(&params), 45 * 256);
    params.embedding.seed = 1;
    assert_eq!(n_distances(&params), 45 * 512);
}

fn refused(corpus: &LabeledCorpus, protocol: Protocol) -> String {
    let params = params(protocol);
    let result = TextClassifier::train(&params, corpus, &Cache::none(), &silent);
    result.unwrap_err().to_string()
}

#[test]
fn what_cannot_be_learnt_is_refused_in_a_sentence() {
    let one_class = corpus_of(&[("x", "a1 a2"), ("x", "b1"), ("x", "c1")]);
    assert_eq!(
        refused(&one_class, Protocol::Fast),
        "the training documents (3) are all of class `x`: at least two are needed"
    );
    let unknown = corpus_of(&[("x", "who"), ("y", "knows")]);
    assert_eq!(
        refused(&unknown, Protocol::Fast),
        "none of the 2 training documents has a word that the vectors know"
    );
    let few = corpus_of(&[("x", "a1"), ("y", "b1"), ("y", "b2"), ("x", "")]);
    assert_eq!(
        refused(&few, Protocol::Fast),
        "3 training documents with known words cannot be divided into 5 folds"
    );
    let mut lonely = texts(24, 1);
    lonely.iter_mut().for_each(|text| text.0 = "many");
    lonely[7].0 = "one";
    assert_eq!(
        refused(&corpus_of(&lonely), Protocol::Paper),
        "class `one` has too few training documents with known words (1): \
         cross-validation would learn from the other class alone"
    );
    let nothing = LabeledCorpus::from_texts([], toy::tokenizer(), toy::vectors());
    assert_eq!(nothing.unwrap_err().to_string(), "there are no documents");
    let mut none = params(Protocol::Fast);
    none.d_maxes.clear();
    assert!(TextClassifier::train(&none, &corpus(45, 1), &Cache::none(), &silent).is_err());
}

#[test]
fn a_class_smaller_than_the_folds_is_learnt_and_told() {
    let mut texts = texts(60, 1);
    texts.retain(|(class, _)| *class != "c");
    texts.push(("c", "c1 c2 c3".to_owned()));
    texts.push(("c", "c3 c4 c5".to_owned()));
    let (classifier, training) = train(&params(Protocol::Fast), &corpus_of(&texts));
    assert_eq!(
        training.notes[0],
        "class `c` has 2 training documents, fewer than the 5 folds: some folds hold none of it"
    );
    let prediction = &classifier.predict(&["c1 c3 c5"]).unwrap()[0];
    assert_eq!(classifier.classes()[prediction.class], "c");
}

#[test]
fn documents_without_words_are_left_out_and_given_the_most_frequent_class() {
    let mut texts = texts(46, 1);
    texts.push(("b", "unknown words".to_owned()));
    texts.push(("b", String::new()));
    let corpus = corpus_of(&texts);
    let (classifier, training) = train(&params(Protocol::Fast), &corpus);
    assert_eq!((training.n_documents, training.n_without_words), (48, 2));
    let predictions = classifier.predict(&["", "unknown", "a1 a2"]).unwrap();
    // 17 of b, 16 of a.
    for prediction in &predictions[..2] {
        assert_eq!(classifier.classes()[prediction.class], "b");
        assert_eq!(prediction.decision_values, None);
    }
    let values = predictions[2].decision_values.as_ref().unwrap();
    assert_eq!(values.len(), 3);
    assert!(
        values
            .iter()
            .all(|&value| value <= values[predictions[2].class])
    );
}

#[test]
fn one_machine_speaks_for_both_of_two_classes() {
    let mut texts = texts(60, 1);
    texts.retain(|(class, _)| *class != "c");
    let (classifier, _) = train(&params(Protocol::Fast), &corpus_of(&texts));
    for prediction in classifier.predict(&["a1 a2", "b1 b2 a3"]).unwrap() {
        let values = prediction.decision_values.unwrap();
        assert_eq!(values[0], -values[1]);
        assert!(values[prediction.class] > 0.0);
    }
}

#[test]
fn several_splits_are_averaged() {
    let corpus = corpus(60, 1);
    let splits = random_splits(&corpus, 3, 0).unwrap();
    let mut params = params(Protocol::Fast);
    params.d_maxes = vec![3];
    params.embedding.n_features = 64;
    let method = Method::Wme(params);
    let all = evaluate_splits(&method, &corpus, &splits, &Cache::none(), &silent).unwrap();
    let mean = all.outcomes.iter().map(|o| o.accuracy).sum::<f64>() / 3.0;
    assert!((all.accuracy - mean).abs() < 1e-15);
    let judged: u64 = all.confusion.rows().flatten().sum();
    assert_eq!(judged, 3 * 18);
    let one = evaluate(
        &method,
        &corpus.select(&splits[1].train),
        &corpus.select(&splits[1].test),
        &Cache::none(),
        &silent,
    );
    assert_eq!(one.unwrap().predicted, all.outcomes[1].predicted);
    assert!(matches!(
        all.outcomes[0].cross_validation,
        CrossValidation::Wme { .. }
    ));
    assert!(evaluate_splits(&method, &corpus, &[], &Cache::none(), &silent).is_err());
}

#[test]
fn documents_held_out_are_predicted_once_with_the_parameters_chosen() {
    let corpus = corpus(60, 5);
    for protocol in [Protocol::Paper, Protocol::Fast] {
        let mut params = params(protocol);
        params.embedding.n_features = 64;
        let (classifier, training) = train(&params, &corpus);
        assert_eq!(training.held_out, None);
        let cache = Cache::none();
        let judged = TextClassifier::train_and_judge(&params, &corpus, &cache, &silent);
        let (judged, found) = judged.unwrap();
        assert_eq!(
            judged.predict(&["a1 b2"]).unwrap(),
            classifier.predict(&["a1 b2"]).unwrap()
        );
        assert_eq!(
            (&found.choice, &found.notes),
            (&training.choice, &training.notes)
        );

        let held_out = found.held_out.unwrap();
        assert_eq!(held_out.rows().flatten().sum::<u64>(), 60);
        let (right, chosen) = (held_out.accuracy(), found.choice.accuracy);
        match protocol {
            // Every machine from 0, as in cross-validation.
            Protocol::Paper => assert_eq!(right, chosen),
            _ => assert!((right - chosen).abs() <= 2.0 / 60.0, "{right} {chosen}"),
        }
        // Documents learnt from are easier.
        assert!(found.train_accuracy >= right);
    }
}

#[test]
fn the_fast_protocol_judges_few_features_on_few_documents() {
    let mut params = params(Protocol::Fast);
    params.embedding.n_features = 1200;
    let n_documents = 4500;
    let (_, training) = train(&params, &corpus(n_documents, 1));
    let shape = training.rounds.iter();
    let shape = shape.map(|round| (round.n_features, round.n_documents));
    // 16 documents to a feature at most: a half of them, then all.
    let expected = [
        (256, n_documents / 2),
        (512, n_documents),
        (1024, n_documents),
        (1200, n_documents),
    ];
    assert_eq!(shape.collect::<Vec<_>>(), expected);
}

#[test]
fn the_fast_protocol_judges_c_anew_with_more_features_than_candidates() {
    let mut params = params(Protocol::Fast);
    params.embedding.n_features = 1200;
    let (_, training) = train(&params, &corpus(60, 1));
    let [.., compared, last] = &training.rounds[..] else {
        panic!("too few rounds");
    };
    assert_eq!((compared.n_features, last.n_features), (1024, 1200));
    let most = compared.points.iter().map(|point| point.n_right).max();
    let best = compared
        .points
        .iter()
        .filter(|point| Some(point.n_right) == most)
        .min_by(|a, b| a.cost.total_cmp(&b.cost));
    let by_feature = 1024.0 * best.unwrap().cost;
    let costs: Vec<f64> = last.points.iter().map(|p| 1200.0 * p.cost).collect();
    assert_eq!(costs.len(), 2);
    for (cost, due) in costs.iter().zip([by_feature, 3.0 * by_feature]) {
        assert!((cost - due).abs() < 1e-9 * due, "{costs:?} {by_feature}");
    }
    // Of equal ones the smaller.
    let right: Vec<u64> = last.points.iter().map(|point| point.n_right).collect();
    let chosen = &last.points[usize::from(right[1] > right[0])];
    assert_eq!(
        (training.choice.cost, training.choice.accuracy),
        (chosen.cost, chosen.accuracy)
    );
}

#[test]
fn a_point_of_the_curve_is_what_evaluation_finds() {
    let (train_corpus, test) = (corpus(120, 1), corpus(60, 2));
    let params = params(Protocol::Fast);
    let method = Method::Wme(params.clone());
    let outcome = evaluate(&method, &train_corpus, &test, &Cache::none(), &silent).unwrap();
    let (_, training) = train(&params, &train_corpus);
    let choice = &training.choice;
    let n = choice.n_features;
    let curve = |features: &[usize]| {
        feature_curve(&params, choice, &train_corpus, &test, features, &silent)
    };
    let points = curve(&[3, n]).unwrap();
    assert_eq!(points[1].n_features, n);
    assert_eq!(points[1].accuracy, outcome.accuracy);
    assert_eq!(Some(points[1].train_accuracy), outcome.train_accuracy);
    assert!(points[0].accuracy < points[1].accuracy);
    assert!(curve(&[]).is_err());
    assert!(curve(&[3, 3]).is_err());
}
