//! `wordmover similarity`: scores, correlations, and texts that hold nothing.

use serde_json::Value;

use crate::support::Place;

const PAIRS: &str = "5\tA cat sat on the mat\tA cat sat on the mat\n\
                     4\tObama speaks to the media\tThe president greets the press\n\
                     2\tcat\tdog\n\
                     0.5\tcat\tThe president greets the press\n\
                     0\tᚠᚢᚦ\tcat\n";

const METHODS: [&str; 8] = [
    "blend", "wme", "kernel", "wmd", "wrd", "average", "tfidf", "sif",
];

#[test]
fn pairs_get_scores_and_scored_pairs_correlations() {
    let place = Place::new();
    place.write("pairs.tsv", PAIRS);
    for method in METHODS {
        let ended = place.run(&format!("similarity pairs.tsv --method {method}"));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let scores: Vec<f64> = ended.stdout.lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(scores.len(), 5);
        assert!(scores[1] > scores[3], "{method}: {scores:?}");
        // A text is most similar to itself.
        let is_distance = ["wmd", "wrd"].contains(&method);
        let itself = if is_distance { 0.0 } else { 1.0 };
        assert_eq!(scores[0], itself, "{method}: {scores:?}");
        let said: Vec<&str> = ended.stderr.lines().collect();
        assert_eq!(said[0], "5 pairs");
        let nothing = if is_distance { -2 } else { 0 };
        assert_eq!(
            said[1],
            format!("1 text without a known word: 1 pair with similarity {nothing}")
        );
        assert!(said[2].starts_with("pearson   ") && said[3].starts_with("spearman  "));

        let json = place.ok(&format!("similarity pairs.tsv --method {method} --json"));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["method"], method);
        let of_json: Vec<f64> = serde_json::from_value(json["scores"].clone()).unwrap();
        // What is printed for people is in single precision.
        let printed: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        let rounded: Vec<f32> = of_json.iter().map(|&score| score as f32).collect();
        assert_eq!(rounded, printed);
        let pearson = json["pearson"].as_f64().unwrap();
        assert_eq!(said[2], format!("pearson   {pearson:.4}"));
        let spearman = json["spearman"].as_f64().unwrap();
        assert_eq!(said[3], format!("spearman  {spearman:.4}"));
        assert!(spearman > 0.3, "{method}: {spearman}");
    }
    // From standard input, too.
    let piped = place.run_on(PAIRS.as_bytes(), "similarity - -q");
    assert_eq!(piped.succeeded(), place.ok("similarity pairs.tsv -q"));
    // Without scores of people there is nothing to correlate with.
    let texts: String = PAIRS
        .lines()
        .map(|line| format!("{}\n", line.split_once('\t').unwrap().1))
        .collect();
    place.write("texts.tsv", texts);
    let json: Value = serde_json::from_str(&place.ok("similarity texts.tsv --json")).unwrap();
    assert!(json.get("pearson").is_none());
    assert_eq!(
        place.run("similarity texts.tsv").stderr,
        "5 pairs\n1 text without a known word: 1 pair with similarity 0\n"
    );
    assert_eq!(place.run("similarity texts.tsv -q").stderr, "");
}

#[test]
fn two_texts_get_one_number() {
    let place = Place::new();
    for method in METHODS {
        let score = |first: &str, second: &str| -> f64 {
            let ended = place.run(&format!("similarity {first} {second} --method {method}"));
            let nothing = if ["wmd", "wrd"].contains(&method) {
                -2
            } else {
                0
            };
            let unknown = [first, second].into_iter().filter(|text| *text == "ᚠᚢᚦ");
            let notes = unknown
                .map(|text| format!("\"{text}\" has no known word: its similarity is {nothing}\n"));
            assert_eq!(ended.stderr, notes.collect::<String>());
            ended.succeeded().trim_end().parse().unwrap()
        };
        let nothing = if ["wmd", "wrd"].contains(&method) {
            -2.0
        } else {
            0.0
        };
        assert_eq!(score("ᚠᚢᚦ", "cat"), nothing);
        assert_eq!(score("ᚠᚢᚦ", "ᚠᚢᚦ"), nothing);
        if method != "sif" {
            // Of two averages alone, SIF takes out what they share.
            assert!(score("cat", "dog") > score("cat", "parliament"), "{method}");
        }
    }
    assert_eq!(place.ok("similarity cat cat"), "1\n");
    assert_eq!(place.ok("similarity cat cat --method wmd"), "0\n");
}

#[test]
fn a_model_settles_the_embedding() {
    let place = Place::with_docs();
    place.write("pairs.csv", "cat,dog\ncat,\"king, queen\"\n");
    place.ok("fit docs.txt -o m.wme -q");
    let with_model = place.ok("similarity pairs.csv --model m.wme -q");
    assert_ne!(with_model, place.ok("similarity pairs.csv -q"));
    assert_eq!(
        with_model,
        place.ok("similarity pairs.csv --model m.wme -q")
    );
    place
        .run("similarity pairs.csv --model m.wme --seed 3")
        .failed(
            2,
            "--seed cannot be given with --model: the model settles it",
        );
    place
        .run("similarity pairs.csv --model m.wme --method sif")
        .failed(2, "--model is for the method wme");
}

#[test]
fn wrong_calls_and_wrong_files_are_told_in_one_sentence() {
    let place = Place::new();
    place.write("pairs.tsv", "score\ta\tb\n1\tᚠᚢᚦ\tᚦᚢᚠ\n");
    place.run("similarity pairs.tsv").failed(
        1,
        "pairs.tsv: line 1: expected a score, found \"score\"; pass --header if this is the header",
    );
    assert_eq!(
        place.run("similarity pairs.tsv --header").stderr,
        "1 pair\n2 texts without a known word: 1 pair with similarity 0\n\
         pearson   undefined: one side never varies\n\
         spearman  undefined: one side never varies\n"
    );
    place.run("similarity cat").failed(
        2,
        "cat: pairs are read from a .tsv or .csv file; for two texts, give both",
    );
    place
        .run("similarity cat dog --header")
        .failed(2, "--header is for a file of pairs");
    place
        .run("similarity cat dog --frequencies corpus --weights nbow")
        .failed(2, "--frequencies is for --weights sif");
    // Two texts that are files are not compared by their names.
    place.write("a.tsv", "cat\n");
    place.write("b.tsv", "dog\n");
    for command in ["similarity", "distance"] {
        place.run(&format!("{command} a.tsv b.tsv")).failed(
            2,
            "a.tsv and b.tsv are files; this command compares two texts",
        );
    }
    place.write("empty.tsv", "");
    place
        .run("similarity empty.tsv")
        .failed(1, "empty.tsv holds no pairs");
    place
        .run("similarity -")
        .failed(1, "standard input holds no pairs");
}

#[test]
fn options_that_the_method_has_no_use_for_are_refused() {
    let place = Place::new();
    place.write("stop.txt", "the\n");
    for (method, option) in [
        ("wmd", "--features 8"),
        ("wmd", "--weights tfidf"),
        ("wmd", "--normalize none"),
        ("average", "--frequencies corpus"),
        ("average", "--seed 3"),
        ("tfidf", "--max-words 3"),
        ("tfidf", "--min-count 2"),
        ("sif", "--gamma 2"),
        ("sif", "--d-max 2"),
        ("sif", "--random-words gaussian"),
        ("kernel", "--raw"),
        ("kernel", "--post-processing center"),
        ("kernel", "--components keep"),
    ] {
        let name = option.split(' ').next().unwrap();
        place
            .run(&format!("similarity cat dog --method {method} {option}"))
            .failed(
                2,
                &format!("{name} cannot be given with --method {method}: it has no effect there"),
            );
    }
    for (method, option) in [
        ("wmd", "--stop-words none"),
        ("average", "--case keep"),
        ("tfidf", "--stop-words stop.txt"),
        ("sif", "--frequencies corpus"),
        ("kernel", "--features 8"),
        ("wme", "--raw"),
    ] {
        place.ok(&format!("similarity cat dog --method {method} {option}"));
    }
}
