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
    let best = rounds[0].points.iter().map(|point| point.accuracy);
    let best = best.fold(0.0, f64::max);
    let first = rounds[0]
        .points
        .iter()
        .filter(|point| point.accuracy == best)
        .min_by(|a, b| a.cost.total_cmp(&b.cost))
        .unwrap();
    let choice = &training.choice;
    assert_eq!(
        (choice.gamma, choice.candidate),
        (first.gamma, first.candidate)
    );
    assert_eq!(
        (choice.candidate.weighting, choice.n_features),
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

/// Features, documents and candidates of each round.
fn shape(training: &Training) -> Vec<(usize, usize, usize)> {
    let rounds = training.rounds.iter().map(|round| {
        let mut candidates: Vec<_> = round.points.iter().map(|p| p.candidate).collect();
        candidates.dedup();
        (round.n_features, round.n_documents, candidates.len())
    });
    rounds.collect()
}

#[test]
fn candidates_race_word_weights_first_then_random_documents() {
    let mut params = params(Protocol::Fast);
    params.embedding.n_features = 600;
    let (_, training) = train(&params, &corpus(60, 1));
    // NBOW and TF-IDF with three exponents (nothing is a stop word); then for two of them
    // uniform words of 3 and 12, and parts of documents of 6 and 12; then the best three.
    assert_eq!(shape(&training), [(256, 60, 6), (256, 60, 8), (512, 60, 3)]);
    let last = &training.rounds[2].points;
    let best = last.iter().map(|point| point.accuracy).fold(0.0, f64::max);
    let chosen = last
        .iter()
        .filter(|p| p.candidate == training.choice.candidate);
    assert_eq!(chosen.map(|p| p.accuracy).fold(0.0, f64::max), best);
    assert_eq!(training.notes.len(), 5, "{:?}", training.notes);
    // The paper's protocol has none of it.
    let mut paper = params.clone();
    paper.protocol = Protocol::Paper;
    assert!(paper.check().is_err());
}

#[test]
fn stop_words_are_kept_where_they_tell() {
    use wordmover::text::{StopWords, Tokenizer};
    // `c` words are stop words, and only they tell the classes apart.
    let tokenizer = Tokenizer {
        stop_words: StopWords::from_lines(&(0..8).map(|i| format!("c{i}\n")).collect::<String>()),
        ..Tokenizer::default()
    };
    let texts = |n: usize| -> Vec<(&str, String)> {
        let text = |i: usize| match i % 2 {
            0 => format!("c{} a{} b{}", i % 8, i % 7, i % 5),
            _ => format!("a{} b{}", i % 7, i % 5),
        };
        (0..n).map(|i| (["x", "y"][i % 2], text(i))).collect()
    };
    let texts = texts(80);
    let labeled = texts.iter().map(|(class, text)| (*class, text.as_str()));
    let corpus = LabeledCorpus::from_texts(labeled, tokenizer, toy::vectors()).unwrap();
    let (classifier, training) = train(&params(Protocol::Fast), &corpus);
    assert!(training.choice.candidate.keep_stop_words);
    let tokenizer = classifier.embedding().documents().tokenizer();
    assert_eq!(tokenizer.stop_words, StopWords::None);
    // What was counted without stop words is predicted like the text.
    let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        classifier.predict(&texts).unwrap(),
        classifier.predict_counted(corpus.texts(), &silent).unwrap()
    );
    let mut dropping = params(Protocol::Fast);
    dropping.keep_stop_words = vec![false];
    let (_, training) = train(&dropping, &corpus);
    assert!(!training.choice.candidate.keep_stop_words);
}

#[test]
fn weights_learnt_from_labels_are_in_the_file() {
    let mut params = params(Protocol::Fast);
    params.label_exponents = vec![1.0];
    params.random_words = vec![wordmover::random_documents::RandomWords::Documents];
    let corpus = corpus(90, 1);
    let (classifier, training) = train(&params, &corpus);
    assert_eq!(training.choice.candidate.label_exponent, 1.0);
    let model = classifier.embedding().documents();
    assert!(model.corpus().factors().is_some());
    let bytes = classifier.to_bytes(true).unwrap();
    let loaded = TextClassifier::from_bytes(&bytes, "t.wmc", None).unwrap();
    let texts = ["a1 b2 c3", "c1 c2", "b7 a1"];
    assert_eq!(
        loaded.predict(&texts).unwrap(),
        classifier.predict(&texts).unwrap()
    );
    assert_eq!(loaded.to_bytes(true).unwrap(), bytes);
    // Whoever reads the model weighs words so, too.
    let model = wordmover::ModelFile::from_bytes(&bytes, "t.wmc").unwrap();
    let model = model.with_vectors(None).unwrap();
    assert_eq!(
        model.transform(&texts).unwrap(),
        classifier.embedding().transform(&texts).unwrap()
    );
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
    params.label_exponents = vec![0.0];
    params.random_words.truncate(1);
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
        refused(&few, Protocol::Paper),
        "3 training documents with known words cannot be divided into 10 folds"
    );
    let silent_class = corpus_of(&[("x", "a1"), ("x", "b1"), ("y", ""), ("y", "who")]);
    assert_eq!(
        refused(&silent_class, Protocol::Fast),
        "the training documents with known words (2) are all of class `x`: at least two are \
         needed"
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
    for text in ["c1 c2 c3", "c3 c4 c5", "c0 c6 c7 c2"] {
        texts.push(("c", text.to_owned()));
    }
    let (classifier, training) = train(&params(Protocol::Fast), &corpus_of(&texts));
    assert_eq!(
        training.notes[0],
        "class `c` has 3 training documents, fewer than the 5 folds: some folds hold none of it"
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
    assert_eq!(all.figures.n_documents, 3 * 18);
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
fn a_dozen_documents_are_enough() {
    let texts = [
        ("x", "a1 a2"),
        ("x", "a3 a1"),
        ("x", "a4 a5"),
        ("y", "b1 b2"),
        ("y", "b3"),
        ("z", "c1 c2 c3"),
    ];
    let mut params = params(Protocol::Fast);
    params.views = wordmover_classify::Views::ALL.to_vec();
    params.embedding.n_features = 64;
    let (classifier, training) = train(&params, &corpus_of(&texts));
    // z is never held out, so that it can be learnt.
    assert_eq!(training.held_out.unwrap().n_documents, 5);
    let found = classifier.predict(&["a1 a2", "b3 b1", "c1 c3"]).unwrap();
    let names = found.iter().map(|p| classifier.classes()[p.class].as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["x", "y", "z"]);
    assert!(found.iter().all(|p| p.probabilities.is_some()));

    // One document a class: nothing to hold out.
    for views in wordmover_classify::Views::ALL {
        params.views = vec![views];
        let (classifier, training) = train(&params, &corpus_of(&texts[2..6].to_vec()[..]));
        assert!(training.held_out.is_some());
        drop(classifier);
        let single = [texts[0], texts[3], texts[5]];
        let (classifier, training) = train(&params, &corpus_of(&single));
        assert_eq!((training.held_out, training.choice.accuracy), (None, 0.0));
        assert!(training.notes[0].starts_with("no class has two training documents"));
        let found = classifier.predict(&["a1 a2", "b1 b2", "c1 c2 c3"]).unwrap();
        let names = found.iter().map(|p| classifier.classes()[p.class].as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["x", "y", "z"], "{views}");
        assert!(!classifier.has_probabilities() && found[0].probabilities.is_none());
        let bytes = classifier.to_bytes(true).unwrap();
        assert!(TextClassifier::from_bytes(&bytes, "t.wmc", None).is_ok());
    }
}

#[test]
fn probabilities_are_calibrated_on_documents_held_out() {
    let corpus = corpus(150, 5);
    for protocol in [Protocol::Paper, Protocol::Fast] {
        let mut params = params(protocol);
        params.embedding.n_features = 64;
        if protocol == Protocol::Paper {
            params.d_maxes = vec![3];
        }
        let (classifier, training) = train(&params, &corpus);
        let held_out = training.held_out.unwrap();
        assert_eq!(held_out.n_documents, 150);
        assert_eq!(held_out.accuracy, training.choice.accuracy);
        let confusion = held_out.confusion.unwrap();
        assert_eq!(confusion.rows().flatten().sum::<u64>(), 150);
        let texts = toy::texts(90, 9);
        let mut sure = 0.0;
        for (class, text) in &texts {
            let found = &classifier.predict(&[text]).unwrap()[0];
            let probabilities = found.probabilities.as_ref().unwrap();
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let truth = classifier.classes().iter().position(|c| c == class);
            sure += probabilities[truth.unwrap()];
            assert_eq!(found.ranked()[0], found.class);
        }
        assert!(sure / 90.0 > 0.6, "{protocol}: {sure}");
    }
}

#[test]
fn several_labels_are_learnt_and_predicted() {
    let mut numbers = toy::Numbers(3);
    let mut labeled = |n: usize| -> Vec<(Vec<String>, String)> {
        let document = |i: usize, numbers: &mut toy::Numbers| {
            let mut letters = vec![["a", "b", "c"][i % 3]];
            if i.is_multiple_of(4) {
                letters.push(["b", "c", "a"][i % 3]);
            }
            let words = letters.iter().flat_map(|letter| {
                let words = (0..4).map(|_| format!("{letter}{}", numbers.below(8)));
                words.collect::<Vec<_>>()
            });
            let text = words.collect::<Vec<_>>().join(" ");
            (letters.iter().map(ToString::to_string).collect(), text)
        };
        (0..n).map(|i| document(i, &mut numbers)).collect()
    };
    let (learnt, test) = (labeled(120), labeled(60));
    let count = |text: &str| {
        wordmover_classify::CountedText::from_text(text, &toy::tokenizer(), &toy::vectors())
    };
    let counted = |labeled: &[(Vec<String>, String)]| -> Vec<_> {
        let each = labeled.iter();
        each.map(|(labels, text)| (labels.clone(), count(text)))
            .collect()
    };
    let corpus = LabeledCorpus::with_label_sets(counted(&learnt), toy::tokenizer(), toy::vectors());
    let corpus = corpus.unwrap();
    for views in wordmover_classify::Views::ALL {
        let mut params = params(Protocol::Fast);
        params.views = vec![views];
        params.embedding.n_features = 64;
        let (classifier, training) = train(&params, &corpus);
        assert!(
            training.choice.accuracy > 0.8,
            "{}",
            training.choice.accuracy
        );
        assert!(training.held_out.as_ref().unwrap().confusion.is_none());
        let test = classifier.test(&counted(&test), &silent).unwrap();
        assert!(test.figures.micro_f1 > 0.85, "{views}: {:?}", test.figures);
        assert!(test.figures.accuracy <= test.figures.micro_f1);
        let found = &classifier.predict(&["a1 a2 a3 b1 b2 b3"]).unwrap()[0];
        assert_eq!(found.classes, [0, 1], "{views}");
        let bytes = classifier.to_bytes(true).unwrap();
        let loaded = TextClassifier::from_bytes(&bytes, "t.wmc", None).unwrap();
        assert_eq!(&loaded.predict(&["a1 a2 a3 b1 b2 b3"]).unwrap()[0], found);
    }
    let refused = |params: &WmeParams| {
        let result = TextClassifier::train(params, &corpus, &Cache::none(), &silent);
        result.unwrap_err().to_string()
    };
    assert_eq!(
        refused(&params(Protocol::Paper)),
        "the number of classes of a document is any: it must be one, with the paper's protocol"
    );
    let empty = LabeledCorpus::with_label_sets(
        vec![(vec![], count("a1"))],
        toy::tokenizer(),
        toy::vectors(),
    );
    assert_eq!(empty.unwrap_err().to_string(), "document 1 has no class");
}

#[test]
fn a_classifier_is_tested_on_documents_with_classes_it_knows_or_not() {
    let (classifier, _) = train(&params(Protocol::Fast), &corpus(60, 1));
    let count = |text: &str| classifier.count(text);
    let label = |class: &str| vec![class.to_owned()];
    let labeled = [
        (label("a"), count("a1 a2")),
        (label("b"), count("b1 b2")),
        (label("new"), count("c1 c2")),
        (label("a"), count("")),
    ];
    let test = classifier.test(&labeled, &silent).unwrap();
    assert_eq!(test.classes, ["a", "b", "c", "new"]);
    assert_eq!((test.n_without_words, test.n_of_unknown_classes), (1, 1));
    assert_eq!(test.figures.accuracy, 0.75);
    assert!(test.log_loss.unwrap() > 5.0);
    let several = [(vec!["a".to_owned(), "b".to_owned()], count("a1"))];
    assert_eq!(
        classifier.test(&several, &silent).unwrap_err().to_string(),
        "document 1 has several classes; the classifier gives one to a document"
    );
    assert!(classifier.test(&[], &silent).is_err());
}

#[test]
fn balanced_class_weights_find_more_of_a_rare_class() {
    let mut texts = toy::texts(300, 1);
    let mut n_rare = 0;
    texts.retain(|(class, _)| {
        n_rare += usize::from(*class == "c");
        *class != "c" || n_rare <= 8
    });
    let corpus = corpus_of(&texts);
    let recall = |class_weights: wordmover_classify::ClassWeights| {
        let mut params = params(Protocol::Fast);
        params.embedding.n_features = 32;
        params.class_weights = class_weights;
        let (classifier, _) = train(&params, &corpus);
        let texts = toy::texts(300, 2);
        let rare = texts.iter().filter(|(class, _)| *class == "c");
        let rare: Vec<&String> = rare.map(|(_, text)| text).collect();
        let found = classifier.predict(&rare).unwrap();
        found.iter().filter(|p| p.class == 2).count()
    };
    use wordmover_classify::ClassWeights::{Balanced, Equal};
    assert!(recall(Balanced) > recall(Equal));
    let mut paper = params(Protocol::Paper);
    paper.class_weights = Balanced;
    assert_eq!(
        paper.check().unwrap_err().to_string(),
        "class weights is not equal: it must be equal, with the paper's protocol"
    );
}

#[test]
fn few_features_are_judged_on_few_documents() {
    let mut params = params(Protocol::Fast);
    params.embedding.n_features = 1100;
    params.label_exponents = vec![0.0];
    params.random_words.truncate(1);
    let (_, training) = train(&params, &corpus(4500, 1));
    // 5 documents to a feature.
    let expected = [(256, 1281, 2), (256, 1281, 4), (512, 2562, 3)];
    assert_eq!(shape(&training), expected);
    // Four folds of five hold enough documents.
    assert_eq!(training.held_out.as_ref().unwrap().n_documents, 3600);
    // C is judged anew with all features.
    let [.., less, more] = &training.views[..] else {
        panic!("too few points");
    };
    assert!((more.cost / less.cost - 3.0).abs() < 1e-9);
    let with_fewer = &training.views[..training.views.len() - 2];
    assert!(with_fewer.iter().any(|point| point.cost == less.cost));
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
