//! The classifier file: round trips, and every way it can be wrong.

mod toy;

use toy::{corpus, params, silent};
use wordmover::ModelFile;
use wordmover::format::Attachment;
use wordmover_classify::{Cache, ClassifierInfo, Protocol, TextClassifier};

fn classifier() -> TextClassifier {
    let mut params = params(Protocol::Fast);
    params.embedding.n_features = 20;
    params.d_maxes = vec![3];
    let trained = TextClassifier::train(&params, &corpus(45, 1), &Cache::none(), &silent);
    trained.unwrap().0
}

#[test]
fn a_loaded_classifier_says_the_same() {
    let classifier = classifier();
    let texts = ["a1 b2 c3", "", "c1 c2", "b7 a1"];
    let expected = classifier.predict(&texts).unwrap();
    for bundle in [false, true] {
        let bytes = classifier.to_bytes(bundle).unwrap();
        let vectors = (!bundle).then(toy::vectors);
        let loaded = TextClassifier::from_bytes(&bytes, "t.wmc", vectors).unwrap();
        assert_eq!(loaded.predict(&texts).unwrap(), expected);
        assert_eq!(loaded.classes(), classifier.classes());
        assert_eq!(loaded.choice(), classifier.choice());
        assert_eq!(loaded.to_bytes(bundle).unwrap(), bytes);
    }
    let alone = classifier.to_bytes(false).unwrap();
    let error = TextClassifier::from_bytes(&alone, "t.wmc", None).unwrap_err();
    assert!(error.to_string().ends_with("they must be given"), "{error}");
}

#[test]
fn it_is_a_model_too() {
    let classifier = classifier();
    let bytes = classifier.to_bytes(true).unwrap();
    let model = ModelFile::from_bytes(&bytes, "t.wmc").unwrap();
    let model = model.with_vectors(None).unwrap();
    let texts = ["a1 b2 c3"];
    assert_eq!(
        model.transform(&texts).unwrap(),
        classifier.embedding().transform(&texts).unwrap()
    );
    // And a model is not a classifier.
    let bytes = model.to_bytes(true).unwrap();
    let error = TextClassifier::from_bytes(&bytes, "m.wme", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "m.wme: a wordmover model, but without a classifier in it"
    );
}

#[test]
fn a_file_is_described_without_its_vectors() {
    let classifier = classifier();
    let bytes = classifier.to_bytes(false).unwrap();
    let file = ModelFile::from_bytes(&bytes, "t.wmc").unwrap();
    let info = ClassifierInfo::of(&file, "t.wmc").unwrap().unwrap();
    assert_eq!(&info, classifier.info());
    assert_eq!(info.classes, ["a", "b", "c"]);
    assert!(info.train_accuracy.unwrap() > 0.5);

    // The first releases did not say how well it learnt.
    let mut attachment = file.attachment("classifier").unwrap().clone();
    let mut metadata: serde_json::Value = serde_json::from_str(&attachment.metadata).unwrap();
    metadata.as_object_mut().unwrap().remove("train_accuracy");
    attachment.metadata = metadata.to_string();
    let model = classifier.embedding();
    let bytes = model.to_bytes_with(false, &[attachment]).unwrap();
    let file = ModelFile::from_bytes(&bytes, "t.wmc").unwrap();
    let earlier = ClassifierInfo::of(&file, "t.wmc").unwrap().unwrap();
    assert_eq!(earlier.train_accuracy, None);
    assert_eq!(earlier.choice, info.choice);
    let vectors = Some(toy::vectors());
    assert!(TextClassifier::from_bytes(&bytes, "t.wmc", vectors).is_ok());

    let bytes = model.to_bytes(false).unwrap();
    let file = ModelFile::from_bytes(&bytes, "m.wme").unwrap();
    assert!(ClassifierInfo::of(&file, "m.wme").unwrap().is_none());
}

/// What is said of a classifier whose attachment was changed.
fn said(change: impl FnOnce(&mut Attachment)) -> String {
    let bytes = classifier().to_bytes(true).unwrap();
    let file = ModelFile::from_bytes(&bytes, "t.wmc").unwrap();
    let mut attachment = file.attachment("classifier").unwrap().clone();
    change(&mut attachment);
    let model = file.with_vectors(None).unwrap();
    let bytes = model.to_bytes_with(true, &[attachment]).unwrap();
    let error = TextClassifier::from_bytes(&bytes, "t.wmc", None).unwrap_err();
    error.to_string()
}

fn with_metadata(key: &str, value: serde_json::Value) -> String {
    said(|attachment| {
        let mut metadata: serde_json::Value = serde_json::from_str(&attachment.metadata).unwrap();
        metadata[key] = value;
        attachment.metadata = metadata.to_string();
    })
}

#[test]
fn every_defect_has_its_sentence() {
    use serde_json::json;
    assert_eq!(
        with_metadata("version", json!(4)),
        "t.wmc: classifier format 4 is not one of 1 to 3, which this version reads"
    );
    let damaged = "t.wmc: damaged classifier: ";
    for (found, expected) in [
        (with_metadata("most_frequent", json!(3)), "class 3 of 3"),
        (with_metadata("machines", json!([0, 1, 9])), "class 9 of 3"),
        (
            with_metadata("machines", json!([0, 1, 1])),
            "a class has two machines",
        ),
        (
            with_metadata("machines", json!([0])),
            "a list of classes is 1: it must be ascending, and at least 2 if a row has one",
        ),
        (
            with_metadata("machines", json!([0, 1])),
            "intercepts, one for each machine: 1 expected, 3 found",
        ),
        (
            said(|a| a.tensors.retain(|(name, _, _)| name != "weights")),
            "tensor \"weights\" is missing",
        ),
        (
            said(|a| a.tensors[2].1 = vec![20, 3]),
            "tensor \"weights\" has the shape [20, 3]",
        ),
        (
            said(|a| a.tensors[2].2[5] = f64::NAN),
            "a weight is NaN: it must be a finite number",
        ),
        (
            said(|a| a.tensors[1].1 = vec![2, 3]),
            "tensor \"sigmoids\" has the shape [2, 3]",
        ),
        (
            said(|a| a.tensors[1].2[0] = f64::NAN),
            "a sigmoid is NaN: it must be a finite number",
        ),
        (
            with_metadata("several_labels", json!(true)),
            "format 1 with the view meanings",
        ),
        (
            with_metadata("version", json!(3)),
            "format 3 with the view meanings",
        ),
        (
            with_metadata("version", json!(2)),
            "format 2 with the view meanings",
        ),
        (
            said(|a| a.metadata = a.metadata.replace("\"gamma\":", "\"gamma\":1")),
            "it does not fit its embedding",
        ),
    ] {
        assert_eq!(found, format!("{damaged}{expected}"));
    }
    assert!(with_metadata("classes", json!(7)).starts_with(damaged));
    assert!(said(|a| a.metadata = "{".to_owned()).starts_with(damaged));
}

#[test]
fn a_file_without_probabilities_predicts_the_rest() {
    let classifier = classifier();
    let bytes = classifier.to_bytes(true).unwrap();
    let file = ModelFile::from_bytes(&bytes, "t.wmc").unwrap();
    let mut attachment = file.attachment("classifier").unwrap().clone();
    attachment.tensors.retain(|tensor| tensor.0 != "sigmoids");
    let model = file.with_vectors(None).unwrap();
    let bytes = model.to_bytes_with(true, &[attachment]).unwrap();
    let loaded = TextClassifier::from_bytes(&bytes, "t.wmc", None).unwrap();
    assert!(classifier.has_probabilities() && !loaded.has_probabilities());
    let (found, expected) = (
        &loaded.predict(&["a1"]).unwrap()[0],
        &classifier.predict(&["a1"]).unwrap()[0],
    );
    assert_eq!(found.decision_values, expected.decision_values);
    assert_eq!(found.probabilities, None);
}

#[test]
fn every_truncation_is_refused() {
    let bytes = classifier().to_bytes(true).unwrap();
    for length in (0..bytes.len()).step_by(97) {
        assert!(TextClassifier::from_bytes(&bytes[..length], "t.wmc", None).is_err());
    }
}
