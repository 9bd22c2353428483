//! The classification experiments on a corpus of three dozen texts: what is recorded, what
//! is reported, what is refused.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use tempfile::TempDir;

const CORPORA: &str = r#"
[[vectors]]
name = "small"
note = "two dimensions"
file = "small.txt"
case = "lower"

[[vectors]]
name = "smaller"
note = "half of the words"
file = "smaller.txt"
case = "lower"

[[corpus]]
name = "TOY"
file = "toy.tsv.gz"
about = "animals and tools"
paper = { classes = 2, train = 20, test = 10, vocabulary = 8, words = 3.0, knn_wmd = [90.0, 1.0], wme_small = [91.0, 1.0], wme_large = [92.0, 1.0], speed_up = 7 }
"#;

const COMPARISON: &str = r#"
kind = "comparison"
name = "comparison"
title = "Both methods"
seed = 1
vectors = ["smaller", "small"]
vectors_features = 32
features = [4, 32]

[[run]]
corpus = "TOY"
splits = 2
knn = ["nbow"]
"#;

const ANIMALS: [&str; 4] = ["cat", "dog", "horse", "mouse"];
const TOOLS: [&str; 4] = ["hammer", "chisel", "drill", "plane"];

/// A folder with data, vectors and definitions.
struct Laboratory(TempDir);

impl Laboratory {
    fn new(corpus: &str) -> Self {
        let laboratory = Laboratory(tempfile::tempdir().unwrap());
        let folder = laboratory.0.path();
        for name in ["data/classification", "vectors", "experiments/definitions"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let file = fs::File::create(folder.join("data/classification/toy.tsv.gz")).unwrap();
        let mut file = GzEncoder::new(file, Compression::default());
        file.write_all(corpus.as_bytes()).unwrap();
        file.finish().unwrap();
        let vectors = |n: usize| {
            let words = (0..n).flat_map(|i| [(ANIMALS[i], 1.0, 0.2), (TOOLS[i], 0.2, 1.0)]);
            let lines = words.enumerate().map(|(i, (word, x, y))| {
                let shift = 0.02 * i as f64;
                format!("{word} {} {}\n", x + shift, y - shift)
            });
            lines.collect::<String>()
        };
        fs::write(folder.join("vectors/small.txt"), vectors(4)).unwrap();
        fs::write(folder.join("vectors/smaller.txt"), vectors(2)).unwrap();
        fs::write(folder.join("experiments/corpora.toml"), CORPORA).unwrap();
        laboratory
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, definition: &str, options: &[&str]) -> Output {
        let path = self.path("experiments/definitions/it.toml");
        fs::write(&path, definition).unwrap();
        Command::new(env!("CARGO_BIN_EXE_wordmover-lab"))
            .arg("run")
            .arg(&path)
            .args(["--vectors", "vectors"])
            .args(["--records", "records", "--cache", "cache"])
            .args(match options.contains(&"--data") {
                true => &[][..],
                false => &["--data", "data"],
            })
            .args(options)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// The only record of a name.
    fn record(&self, name: &str) -> Value {
        let day = fs::read_dir(self.path("records")).unwrap().next().unwrap();
        let path = day.unwrap().path().join(format!("{name}.json"));
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }
}

fn error(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Texts of three words, each of the first four twice.
fn corpus() -> String {
    let mut lines = String::new();
    for i in 0..18 {
        for (class, words) in [("animal", ANIMALS), ("tool", TOOLS)] {
            let i = if (16..18).contains(&i) { i - 16 } else { i };
            let (a, b, c) = (words[i % 4], words[(i / 4) % 4], words[(i / 2) % 4]);
            let other = if class == "tool" { "cat" } else { "chisel" };
            lines += &format!("-\t{class}\t{a} {b} {c} {other} thing{i}\n");
        }
    }
    lines
}

#[test]
fn a_comparison_is_recorded_and_reported() {
    let laboratory = Laboratory::new(&corpus());
    let output = laboratory.run(COMPARISON, &[]);
    assert!(output.status.success(), "{}", error(&output));
    let record = laboratory.record("comparison-TOY");
    assert_eq!(record["best"], "small");
    assert_eq!(record["splits"].as_array().unwrap().len(), 2);
    assert_eq!(record["n_repeated"], 0);
    assert_eq!(record["files"].as_object().unwrap().len(), 3);
    for split in record["splits"].as_array().unwrap() {
        assert_eq!(
            (&split["n_train"], &split["n_test"]),
            (&25.into(), &11.into())
        );
        assert_eq!(split["curve"][1]["n_features"], 32);
        assert!(split["curve"][1]["accuracy"].as_f64().unwrap() > 0.8);
        assert!(split["knn"]["accuracy"].as_f64().unwrap() > 0.8);
    }

    let lengths = "kind = \"lengths\"\nname = \"lengths\"\ntitle = \"Lengths\"\nseed = 1\n\
        n_features = 16\nd_maxes = [1, 3]\nrun = [{ corpus = \"TOY\", vectors = \"small\" }]\n";
    assert!(laboratory.run(lengths, &[]).status.success());
    let table = "kind = \"corpora\"\nname = \"corpora\"\ntitle = \"Table 1\"\n";
    assert!(laboratory.run(table, &[]).status.success());
    let row = &laboratory.record("corpora")["rows"][0];
    // Eight animals and tools, and sixteen numbered things.
    assert_eq!(
        (&row["classes"], &row["vocabulary"]),
        (&2.into(), &24.into())
    );
    assert_eq!((&row["train"], &row["repeated"]), (&36.into(), &4.into()));
    let distinct = COMPARISON.replace("seed = 1", "seed = 1\ndistinct = true");
    let distinct = distinct.replace("name = \"comparison\"", "name = \"distinct\"");
    assert!(laboratory.run(&distinct, &[]).status.success());
    assert!(laboratory.record("distinct-TOY")["n_repeated"].as_u64() >= Some(4));

    let status = Command::new(env!("CARGO_BIN_EXE_wordmover-lab"))
        .args([
            "report",
            "--records",
            "records",
            "-o",
            "REPORT.md",
            "--page",
            "report.html",
        ])
        .current_dir(laboratory.0.path())
        .status()
        .unwrap();
    assert!(status.success());
    let report = fs::read_to_string(laboratory.path("REPORT.md")).unwrap();
    for expected in [
        "## Table 1",
        "| TOY | animals and tools | 2 | 36 unsplit | 24 |",
        "## Both methods",
        "| TOY | small |",
        "90.0 ± 1.0",
        "### Time at equal accuracy",
        "## Lengths",
    ] {
        assert!(report.contains(expected), "{expected} is not in\n{report}");
    }
    for picture in ["features.svg", "lengths.svg"] {
        let svg = fs::read_to_string(laboratory.path(picture)).unwrap();
        assert!(svg.contains("TOY"));
    }
}

#[test]
fn neighbours_of_a_run_of_their_own_stand_in_table_2() {
    let laboratory = Laboratory::new(&corpus());
    let without = COMPARISON.replace("knn = [\"nbow\"]", "knn = []");
    assert!(laboratory.run(&without, &[]).status.success());
    let alone = COMPARISON.replace("name = \"comparison\"", "name = \"knn-wmd\"");
    let alone = alone.replace("features = [4, 32]", "features = [4]");
    assert!(laboratory.run(&alone, &[]).status.success());
    let report = |records: &str| {
        let status = Command::new(env!("CARGO_BIN_EXE_wordmover-lab"))
            .args(["report", "--records", records])
            .args(["-o", "REPORT.md", "--page", "report.html"])
            .current_dir(laboratory.0.path())
            .status()
            .unwrap();
        assert!(status.success());
        fs::read_to_string(laboratory.path("REPORT.md")).unwrap()
    };
    let both = report("records");
    assert!(both.contains("TOY, KNN-WMD alone"), "{both}");
    let row = |report: &str| {
        let row = report
            .lines()
            .find(|line| line.starts_with("| TOY | small |"));
        row.unwrap().to_owned()
    };
    assert!(!row(&both).contains('–'));
    let day = fs::read_dir(laboratory.path("records"))
        .unwrap()
        .next()
        .unwrap();
    fs::remove_file(day.unwrap().path().join("knn-wmd-TOY.json")).unwrap();
    assert!(row(&report("records")).contains('–'));
}

#[test]
fn coverage_dimension_and_vectors_are_told_apart() {
    let laboratory = Laboratory::new(&corpus());
    let definition = "kind = \"vectors\"\nname = \"vectors\"\ntitle = \"Vectors\"\nseed = 1\n\
        n_features = 32\nchosen_features = 16\nvectors = [\"smaller\", \"small\"]\n\
        n_dimensions = 1\n\
        run = [{ corpus = \"TOY\", splits = 2, weights = [\"nbow\"], d_maxes = [3] }]\n";
    let output = laboratory.run(definition, &[]);
    assert!(output.status.success(), "{}", error(&output));
    let record = laboratory.record("vectors-TOY");
    assert_eq!(record["best"], "small");
    let variants = record["variants"].as_array().unwrap();
    let variant = |vectors: &str, change: &str| {
        let found = variants
            .iter()
            .find(|v| v["vectors"] == vectors && v["change"] == change);
        found.unwrap_or_else(|| panic!("no {vectors}, {change}"))
    };
    // Of 180 words 36 are numbered things, which no set knows; of 24 distinct ones 16.
    let share = |v: &Value, of: &str| (v[of].as_f64().unwrap() * 1e4).round() / 1e4;
    let whole = variant("small", "none");
    assert_eq!(
        (share(whole, "known"), share(whole, "known_distinct")),
        (0.8, 0.3333)
    );
    // The words of the smaller set are all in the other: restricted, both know the same.
    let smaller = variant("smaller", "none");
    for name in ["small", "smaller"] {
        let common = variant(name, "common-words");
        assert_eq!(common["known"], smaller["known"]);
        assert_eq!(common["splits"], smaller["splits"]);
        let random = variant(name, "random-vectors");
        assert_eq!(
            (share(random, "known"), share(random, "known_distinct")),
            (1.0, 1.0)
        );
    }
    let reduced = variant("small", "fewer-dimensions");
    assert_eq!(reduced["dimension"], 1);
    assert_eq!(reduced["known"], whole["known"]);
    assert_eq!(variants.len(), 7);

    let status = Command::new(env!("CARGO_BIN_EXE_wordmover-lab"))
        .args([
            "report",
            "--records",
            "records",
            "-o",
            "REPORT.md",
            "--page",
            "report.html",
        ])
        .current_dir(laboratory.0.path())
        .status()
        .unwrap();
    assert!(status.success());
    let report = fs::read_to_string(laboratory.path("REPORT.md")).unwrap();
    for expected in [
        "## Vectors",
        "| small | its own | 2 | **",
        "| smaller | common words | 2 | ",
        "(100 / 100 %)",
        "| components | its own | 1 | small: ",
        "92.0 ± 1.0",
    ] {
        assert!(report.contains(expected), "{expected} is not in\n{report}");
    }
}

#[test]
fn sets_of_vectors_with_different_numbers_of_splits_say_so() {
    let laboratory = Laboratory::new(&corpus());
    assert!(laboratory.run(COMPARISON, &[]).status.success());
    let row = |vectors: &str, n_splits: usize| {
        let definition = format!(
            "kind = \"classifier\"\nname = \"meanings-{vectors}\"\ntitle = \"Meanings\"\n\
             seed = 1\nn_features = 32\nviews = \"meanings\"\nvectors = \"{vectors}\"\n\
             run = [{{ corpus = \"TOY\", splits = {n_splits} }}]\n"
        );
        let output = laboratory.run(&definition, &[]);
        assert!(output.status.success(), "{}", error(&output));
        let status = Command::new(env!("CARGO_BIN_EXE_wordmover-lab"))
            .args(["report", "--records", "records"])
            .args(["-o", "REPORT.md", "--page", "report.html"])
            .current_dir(laboratory.0.path())
            .status()
            .unwrap();
        assert!(status.success());
        let report = fs::read_to_string(laboratory.path("REPORT.md")).unwrap();
        let (_, meanings) = report.split_once("## Meanings").unwrap();
        let mut lines = meanings.lines();
        let row = lines.find(|line| line.starts_with("| TOY |"));
        row.unwrap().to_owned()
    };
    assert!(row("small", 2).starts_with("| TOY | 2 | **"));
    let different = row("smaller", 1);
    assert!(different.starts_with("| TOY | 2, 1 | "), "{different}");
    let same = row("smaller", 2);
    assert!(same.starts_with("| TOY | 2 | "), "{same}");
}

#[test]
fn a_second_run_finds_the_same() {
    let laboratory = Laboratory::new(&corpus());
    let accuracies = || {
        // What is kept of the run before would be the same for certain.
        let _ = fs::remove_dir_all(laboratory.path("cache/comparison"));
        assert!(laboratory.run(COMPARISON, &[]).status.success());
        let record = laboratory.record("comparison-TOY");
        let splits = record["splits"].as_array().unwrap().clone();
        let of = |split: &Value| {
            (
                split["curve"][1]["accuracy"].clone(),
                split["choice"].clone(),
            )
        };
        splits.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(accuracies(), accuracies());
}

#[test]
fn what_cannot_be_run_is_told() {
    let laboratory = Laboratory::new("-\tanimal\tcat\n-\tdog\n");
    let output = laboratory.run(COMPARISON, &[]);
    assert!(error(&output).contains("line 2: not a split, a class and a text"));
    let output = laboratory.run(COMPARISON, &["--only", "OTHER"]);
    assert!(error(&output).contains("runs no such corpus"));
    let unknown = format!("speed = 1\n{COMPARISON}");
    assert!(error(&laboratory.run(&unknown, &[])).contains("speed"));
    let kind = COMPARISON.replace("\"comparison\"", "\"guess\"");
    assert!(error(&laboratory.run(&kind, &[])).contains("guess"));
    // One line each, without the system's numbers.
    let broken = format!("{COMPARISON}splits = [1,\n");
    let message = error(&laboratory.run(&broken, &[]));
    assert!(message.contains("it.toml: line 1"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    let output = laboratory.run(COMPARISON, &["--data", "elsewhere"]);
    assert_eq!(
        error(&output),
        "error: cannot read elsewhere/classification/toy.tsv.gz: no such file\n"
    );
    assert!(!Path::new(&laboratory.path("records")).exists());
}
