//! `wordmover similarity`: scores, correlations, and texts that hold nothing.

use serde_json::Value;

use crate::support::Place;

const PAIRS: &str = "5\tA cat sat on the mat\tA cat sat on the mat\n\
                     4\tObama speaks to the media\tThe president greets the press\n\
                     2\tcat\tdog\n\
                     0.5\tcat\tThe president greets the press\n\
                     0\tzzyx\tcat\n";

const METHODS: [&str; 6] = ["wme", "kernel", "wmd", "average", "tfidf", "sif"];

#[test]
fn pairs_get_scores_and_scored_pairs_correlations() {
    let place = Place::new();
    place.write("pairs.tsv", PAIRS);
    for method in METHODS {
        let ended = place.run(&format!("similarity pairs.tsv --method {method}"));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let scores: Vec<f64> = ended.stdout.lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(scores.len(), 5);
        // Values of the kernel hardly differ.
        assert!(
            method == "kernel" || scores[1] > scores[3],
            "{method}: {scores:?}"
        );
        let said: Vec<&str> = ended.stderr.lines().collect();
        assert_eq!(said[0], "5 pairs");
        assert!(said[1].starts_with("pearson   ") && said[2].starts_with("spearman  "));

        let json = place.ok(&format!("similarity pairs.tsv --method {method} --json"));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["method"], method);
        let of_json: Vec<f64> = serde_json::from_value(json["scores"].clone()).unwrap();
        // What is printed for people is in single precision.
        let printed: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
        let rounded: Vec<f32> = of_json.iter().map(|&score| score as f32).collect();
        assert_eq!(rounded, printed);
        let pearson = json["pearson"].as_f64().unwrap();
        assert_eq!(said[1], format!("pearson   {pearson:.4}"));
        let spearman = json["spearman"].as_f64().unwrap();
        assert_eq!(said[2], format!("spearman  {spearman:.4}"));
        assert!(spearman > 0.3 || method == "kernel", "{method}: {spearman}");
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
    assert_eq!(place.run("similarity texts.tsv").stderr, "5 pairs\n");
    assert_eq!(place.run("similarity texts.tsv -q").stderr, "");
}

#[test]
fn two_texts_get_one_number() {
    let place = Place::new();
    for method in METHODS {
        let score = |first: &str, second: &str| -> f64 {
            let ended = place.run(&format!("similarity {first} {second} --method {method}"));
            assert_eq!(ended.stderr, "");
            ended.succeeded().trim_end().parse().unwrap()
        };
        let nothing = if method == "wmd" { -2.0 } else { 0.0 };
        assert_eq!(score("zzyx", "cat"), nothing);
        assert_eq!(score("zzyx", "zzyx"), nothing);
        if !["sif", "kernel"].contains(&method) {
            // Of two averages alone, SIF takes out what they share, and values of the
            // kernel hardly differ.
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
        .failed(2, "--model is for the methods wme and kernel");
}

#[test]
fn wrong_calls_and_wrong_files_are_told_in_one_sentence() {
    let place = Place::new();
    place.write("pairs.tsv", "score\ta\tb\n1\ta\tb\n");
    place.run("similarity pairs.tsv").failed(
        1,
        "pairs.tsv: line 1: expected a score, found \"score\"; pass --header if this is the header",
    );
    assert_eq!(
        place.run("similarity pairs.tsv --header").stderr,
        "1 pair\npearson   undefined: one side never varies\n\
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
        .failed(2, "--frequencies are for --weights sif");
    place.write("empty.tsv", "");
    place
        .run("similarity empty.tsv")
        .failed(1, "empty.tsv holds no pairs");
    place
        .run("similarity -")
        .failed(1, "standard input holds no pairs");
}
