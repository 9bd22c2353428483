//! `wordmover fit` and `info`, and models that meet the wrong vectors.

use serde_json::Value;

use crate::support::{GLOVE, Place, TEXTS, gzip};

/// A model fitted as the contract says, with vectors of the user's.
fn with_model(options: &str) -> Place {
    let place = Place::with_docs();
    let corpus: String = TEXTS
        .iter()
        .map(|text| format!("{}\n", serde_json::json!({ "body": text })))
        .collect();
    place.write("corpus.jsonl", corpus);
    place.write("glove.txt.gz", gzip(GLOVE));
    place.write("glove.txt", GLOVE);
    place.write("other.txt", GLOVE.replace("0.9", "0.7"));
    place.ok(&format!(
        "fit corpus.jsonl --field body --vectors glove.txt.gz -o model.wme{options}"
    ));
    place
}

#[test]
fn a_fit_says_what_it_saw_and_leaves_one_file() {
    let place = Place::with_docs();
    let ended = place.run("fit docs.txt -o model.wme --gamma 2");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    let said: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(
        said[0],
        "7 documents, 31 words, 90.3% of them known to minilm-160d-81k, 3.2% composed of their parts"
    );
    assert_eq!(said[1], "gamma 2");
    assert_eq!(said[3], "wrote model.wme: 512 features");
    let names: Vec<String> = place.names().into_iter().collect();
    assert_eq!(names, ["docs.txt", "model.wme"]);
    place
        .run("fit docs.txt -o model.wme")
        .failed(1, "model.wme exists; pass --force to replace it");
    assert_eq!(place.run("fit docs.txt -o model.wme --force -q").stderr, "");
}

#[test]
fn a_model_wants_the_vectors_it_was_fitted_with() {
    let place = with_model("");
    // The same vectors under another name are the same vectors.
    place.ok("embed docs.txt --model model.wme --vectors glove.txt -o new.npy");
    let needed = "model.wme: the model was fitted with the vectors glove.txt.gz (8 x 3, sha256 ";
    for (options, given) in [
        ("", "…): they must be given"),
        (
            " --vectors other.txt",
            "…), not with other.txt (8 x 3, sha256 ",
        ),
        (
            " --vectors glove.txt --limit 5",
            "…), not with glove.txt (5 x 3, sha256 ",
        ),
    ] {
        for command in ["embed docs.txt -o x.npy", "distance cat dog"] {
            let ended = place.run(&format!("{command} --model model.wme{options}"));
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
            let said = ended.stderr;
            assert!(said.starts_with(&format!("error: {needed}")), "{said}");
            assert!(said.contains(given) && said.lines().count() == 1, "{said}");
        }
    }
    place.ok("fit docs.txt -o builtin.wme -q");
    let said = place
        .run("embed docs.txt --model builtin.wme --vectors glove.txt -o x.npy")
        .stderr;
    assert!(
        said.contains("minilm-160d-81k (81000 x 160, sha256 "),
        "{said}"
    );
    assert!(!place.names().contains("x.npy"));
}

#[test]
fn a_model_with_its_vectors_works_alone() {
    let place = with_model(" --bundle-vectors");
    place.ok("embed docs.txt --model model.wme -o alone.npy");
    place.ok("embed docs.txt --vectors glove.txt -o fitted.npy");
    assert_eq!(place.read("alone.npy"), place.read("fitted.npy"));
    assert!(
        place
            .ok("info model.wme")
            .contains("glove.txt.gz, 8 x 3, bundled\n")
    );
    let distance = place.ok("distance obama press --model model.wme");
    assert_eq!(
        distance,
        place.ok("distance obama press --vectors glove.txt")
    );
}

#[test]
fn info_describes_a_model() {
    let place =
        with_model(" --features 20 --seed 11 --weights tfidf --gamma none --stop-words none");
    let ended = place.run("info model.wme");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let field = |name: &str| {
        let line = ended.stdout.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("no {name} in {}", ended.stdout))[16..].to_owned()
    };
    assert_eq!(field("features"), "20 (R)");
    assert_eq!(field("seed"), "11");
    assert_eq!(field("gamma"), "none: the features are distances");
    assert_eq!(field("weights"), "tfidf");
    assert_eq!(field("fitted on"), "7 documents, 8 distinct known words");
    assert_eq!(field("stop words"), "none");
    assert_eq!(
        field("vectors"),
        "glove.txt.gz, 8 x 3; --vectors must name them"
    );
    assert!(field("written by").starts_with("wordmover "));

    let json: Value = serde_json::from_str(&place.ok("info model.wme --json")).unwrap();
    assert_eq!(json["parameters"]["n_features"], 20);
    assert_eq!(json["parameters"]["seed"], 11);
    assert_eq!(json["gamma"], Value::Null);
    assert_eq!((&json["documents"], &json["words"]), (&7.into(), &8.into()));
    assert_eq!(json["vectors"]["name"], "glove.txt.gz");
    assert_eq!(json["vectors"]["bundled"], false);
    let vectors: Value = serde_json::from_str(&place.ok("vectors info glove.txt --json")).unwrap();
    assert_eq!(json["vectors"]["checksum"], vectors["checksum"]);
}

#[test]
fn what_is_not_a_model_is_refused_by_name() {
    let place = with_model("");
    let model = place.read("model.wme");
    place.write("cut.wme", &model[..model.len() / 2]);
    place.write("longer.wme", [&model[..], b"x"].concat());
    place.write("empty.wme", "");
    for (name, reason) in [
        ("docs.txt", ": not a model file, or a damaged one"),
        ("cut.wme", ": not a model file, or a damaged one"),
        ("longer.wme", ": not a model file, or a damaged one"),
        ("empty.wme", ": not a model file, or a damaged one"),
        ("missing.wme", ": no such file"),
        (".", ": it is a directory"),
    ] {
        for command in [
            "info",
            "embed docs.txt -o x.npy --model",
            "distance cat dog --model",
        ] {
            let ended = place.run(&format!("{command} {name}"));
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{name}");
            let said = ended.stderr;
            let is_one_line = said.lines().count() == 1;
            assert!(
                said.contains(&format!("{name}{reason}")) && is_one_line,
                "{said}"
            );
        }
    }
}

#[test]
fn a_model_settles_what_the_options_would() {
    let place = with_model("");
    for option in [
        "--features 7",
        "--d-max 3",
        "--gamma 1",
        "--weights tfidf",
        "--frequencies corpus",
        "--post-processing center",
        "--components keep",
        "--raw",
        "--random-words gaussian",
        "--normalize none",
        "--seed 1",
        "--min-count 2",
        "--max-words 9",
        "--stop-words none",
        "--case keep",
    ] {
        let name = option.split(' ').next().unwrap();
        let sentence = format!("{name} cannot be given with --model: the model settles it");
        place
            .run(&format!(
                "embed docs.txt -o x.npy --model model.wme {option}"
            ))
            .failed(2, &sentence);
        if ["--normalize", "--stop-words", "--case"].contains(&name) {
            place
                .run(&format!("distance cat dog --model model.wme {option}"))
                .failed(2, &sentence);
        }
    }
}
