//! KNN-WMD against distances to every training document.

mod toy;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use toy::{corpus, corpus_of, silent, texts};
use wordmover::space::Metric;
use wordmover::{Document, Weighting, WordMoversEmbedding, wmd};
use wordmover_classify::{
    Cache, CrossValidation, Error, Event, KnnParams, LabeledCorpus, Learn, Method, Protocol,
    evaluate,
};
use wordmover_learn::{knn, split};

/// Bags and space as they are for neighbours.
fn bags(train: &LabeledCorpus, weighting: Weighting) -> (WordMoversEmbedding, Vec<Document>) {
    let params = KnnParams::new(Protocol::Fast)
        .embedding
        .weighting(weighting);
    let params = params.tokenizer(train.tokenizer().clone());
    let mut fitter =
        wordmover::embedding::Fitter::new(params.check().unwrap(), train.vectors().clone());
    train
        .texts()
        .iter()
        .for_each(|text| fitter.observe(&text.counts));
    let model = fitter.finish().unwrap();
    let bags = train
        .texts()
        .iter()
        .map(|text| model.document(&text.counts));
    let bags = bags.collect();
    (model, bags)
}

/// Distances to all training documents but oneself.
fn lists(
    model: &WordMoversEmbedding,
    queries: &[Document],
    bags: &[Document],
    skip_own: bool,
) -> Vec<Vec<(usize, f64)>> {
    let space = model.space();
    let list = |(i, query): (usize, &Document)| {
        let others = bags
            .iter()
            .enumerate()
            .filter(|&(j, _)| !skip_own || i != j);
        let distances = others.map(|(j, bag)| (j, wmd::distance(space, query, bag).unwrap()));
        distances.collect()
    };
    queries.iter().enumerate().map(list).collect()
}

#[test]
fn k_and_predictions_are_those_of_all_distances() {
    let (train, test) = (corpus(70, 1), corpus(30, 2));
    for protocol in [Protocol::Fast, Protocol::Paper] {
        let params = KnnParams::new(protocol);
        let weightings = params.weightings.clone();
        let method = Method::KnnWmd(params);
        let outcome = evaluate(&method, &train, &test, &Cache::none(), &silent).unwrap();
        let CrossValidation::KnnWmd { choice, curves } = &outcome.cross_validation else {
            panic!("{outcome:?}");
        };
        assert_eq!(curves.len(), weightings.len());
        let labels = train.labels();
        let folds = match protocol {
            Protocol::Paper => split::k_folds(70, 10, 0).unwrap(),
            _ => split::stratified_k_folds(labels, 5, 0).unwrap(),
        };
        for curve in curves {
            let (model, bags) = bags(&train, curve.weighting);
            let naive = lists(&model, &bags, &bags, true);
            let expected = knn::choose_k(&naive, labels, &folds, 21).unwrap();
            assert_eq!(curve.accuracies, expected.accuracies);
            if curve.weighting == choice.weighting {
                assert_eq!(choice.k, expected.k);
                let queries = test.texts().iter();
                let queries: Vec<Document> =
                    queries.map(|text| model.document(&text.counts)).collect();
                let naive = lists(&model, &queries, &bags, false);
                let votes = knn::predict(&naive, labels, choice.k).unwrap();
                let expected: Vec<Vec<usize>> =
                    votes.iter().map(|v| vec![v[choice.k - 1]]).collect();
                assert_eq!(outcome.predicted, expected);
            }
        }
    }
}

#[test]
fn interrupted_searches_go_on_and_empty_documents_get_the_most_frequent_class() {
    let train = corpus(301, 1);
    let mut unseen = texts(20, 2);
    unseen.push(("c", "nothing known".to_owned()));
    // Only the training documents decide what is most frequent: a.
    let test = corpus_of(&unseen);
    let method = Method::KnnWmd(KnnParams::new(Protocol::Paper));
    let whole = evaluate(&method, &train, &test, &Cache::none(), &silent).unwrap();
    assert_eq!(whole.n_test_without_words, 1);
    assert_eq!(whole.predicted[20], [0]);
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let n_done = AtomicU64::new(0);
    let observer = |event: Event| match event {
        Event::Steps(n) if n_done.fetch_add(n, Ordering::Relaxed) + n > 260 => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    let broken = evaluate(&method, &train, &test, &cache, &observer);
    assert!(matches!(broken, Err(Error::Interrupted)));
    let n_left = AtomicU64::new(0);
    let observer = |event: Event| {
        if let Event::Steps(n) = event {
            n_left.fetch_add(n, Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    };
    let resumed = evaluate(&method, &train, &test, &cache, &observer).unwrap();
    assert_eq!(resumed.predicted, whole.predicted);
    assert_eq!(resumed.cross_validation, whole.cross_validation);
    // The first 256 documents were there.
    assert_eq!(n_left.into_inner(), 301 - 256 + 21);
}

#[test]
fn of_a_large_corpus_a_part_is_judged_by_the_votes_of_all() {
    let (train, test) = (corpus(6300, 1), corpus(3, 2));
    let n_steps = AtomicU64::new(0);
    let observer = |event: Event| {
        if let Event::Steps(n) = event {
            n_steps.fetch_add(n, Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    };
    let mut params = KnnParams::new(Protocol::Fast);
    params.weightings = vec![Weighting::Nbow];
    params.max_k = 3;
    let method = Method::KnnWmd(params);
    let outcome = evaluate(&method, &train, &test, &Cache::none(), &observer).unwrap();
    assert_eq!(n_steps.into_inner(), 6000 + 3);
    let CrossValidation::KnnWmd { curves, .. } = &outcome.cross_validation else {
        panic!("{outcome:?}");
    };
    // Shares of those judged; lists at the wrong documents would be right by chance, a third.
    for accuracy in &curves[0].accuracies {
        assert!(
            (accuracy * 6000.0)
                .fract()
                .min(1.0 - (accuracy * 6000.0).fract())
                < 1e-6
        );
        assert!(*accuracy > 0.8, "{accuracy}");
    }
}

#[test]
fn a_small_corpus_has_a_small_k() {
    let train = corpus(12, 1);
    let method = Method::KnnWmd(KnnParams::new(Protocol::Paper));
    let outcome = evaluate(&method, &train, &corpus(3, 2), &Cache::none(), &silent).unwrap();
    let CrossValidation::KnnWmd { curves, .. } = &outcome.cross_validation else {
        panic!("{outcome:?}");
    };
    assert_eq!(curves[0].accuracies.len(), 10);
    let one_class = corpus_of(&[("x", "a1"), ("x", "b1")]);
    let refused = evaluate(&method, &one_class, &train, &Cache::none(), &silent);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the training documents (2) are all of class `x`: at least two are needed"
    );
}

#[test]
fn a_learnt_space_is_the_same_for_any_number_of_threads_and_never_refuses_a_start() {
    let (train, test) = (corpus(60, 1), corpus(20, 2));
    for learn in [Learn::Weights, Learn::Metric, Learn::Both] {
        let mut params = KnnParams::new(Protocol::Fast);
        params.learn = learn;
        let method = Method::KnnWmd(params);
        let with_threads = |n: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
            pool.unwrap().install(|| {
                let outcome = evaluate(&method, &train, &test, &Cache::none(), &silent).unwrap();
                (outcome.cross_validation, outcome.predicted, outcome.notes)
            })
        };
        let outcome = with_threads(1);
        assert_eq!(outcome, with_threads(3));
        let CrossValidation::KnnWmd { choice, curves } = outcome.0 else {
            panic!("not of neighbours");
        };
        let learnt = choice.learnt.unwrap();
        assert!(learn != Learn::Metric || learnt.label_exponent == 0.0);
        assert_eq!(curves.len(), 1);
        assert_eq!(outcome.1.len(), 20);
    }
}

#[test]
fn a_space_is_learnt_from_six_documents_and_with_euclidean_costs_only() {
    // Three classes of two: each keeps a document to learn from.
    let (train, test) = (corpus(6, 1), corpus(8, 2));
    let mut params = KnnParams::new(Protocol::Fast);
    params.learn = Learn::Both;
    let outcome = evaluate(
        &Method::KnnWmd(params.clone()),
        &train,
        &test,
        &Cache::none(),
        &silent,
    );
    assert_eq!(outcome.unwrap().predicted.len(), 8);
    params.embedding.documents.metric = Metric::Cosine;
    let refused = evaluate(
        &Method::KnnWmd(params),
        &train,
        &test,
        &Cache::none(),
        &silent,
    );
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the metric is cosine: it must be euclidean where the space is learnt"
    );
}
