//! `wordmover train`, `predict` and `evaluate`.

use serde_json::Value;

use crate::support::{Place, gzip};

/// Forty headlines of five topics.
const HEADLINES: &str = include_str!("../../../../examples/headlines.tsv");

pub fn place() -> Place {
    let place = Place::new();
    place.write("news.tsv", HEADLINES);
    place
}

pub const TRAIN: &str = "train news.tsv --text-column text --label-column topic --features 64";
const EVALUATE: &str = "evaluate news.tsv --text-column text --label-column topic";

#[test]
fn a_classifier_is_trained_and_predicts() {
    let place = place();
    let ended = place.run(&format!("{TRAIN} -o news.wmc"));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    let said: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(
        said[0],
        "5 classes, 40 documents, 224 words, 100.0% of them known to minilm-160d-81k"
    );
    let notes = [
        "kept at R = 64: ",
        "kept at R = 64: ",
        "refined with 40 documents, R = 64, from labels^",
        "chose ",
        "chose the view ",
    ];
    for (line, note) in said[1..].iter().zip(notes) {
        assert!(line.starts_with(note), "{said:?}");
    }
    assert!(said[7].starts_with("wrote news.wmc: "), "{said:?}");
    place.write(
        "new.txt",
        "Striker scores in the last minute\n\nSenators vote for the president in parliament\n",
    );
    let ended = place.run("predict news.wmc new.txt -o new.csv");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("1 document without a known word: given the class most frequent in training"),
        "{}",
        ended.stderr
    );
    let csv = place.read_text("new.csv");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["id", "label", "decision value of business"]);
    assert_eq!(rows[1][..2], ["0", "sport"]);
    // All topics are equally frequent: the first.
    assert_eq!(rows[2], ["1", "business", "", "", "", "", ""]);
    assert_eq!(rows[3][..2], ["2", "politics"]);

    // The same, as JSON lines on standard output.
    let printed = place.ok("predict news.wmc new.txt -o - -q");
    for (line, row) in printed.lines().zip(&rows[1..]) {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["label"], row[1]);
        let of_business = value["decision_values"]["business"].as_f64();
        assert_eq!(of_business, row[2].parse().ok());
    }
    let ids = place.run("predict news.wmc news.tsv --column text --id-column topic -o p.jsonl -q");
    assert_eq!(ids.code, Some(0), "{ids:?}");
    let first = place.read_text("p.jsonl");
    assert!(first.starts_with("{\"decision_values\":{"), "{first}");
    assert!(
        first
            .lines()
            .next()
            .unwrap()
            .contains("\"id\":\"politics\"")
    );

    // It is a model, too.
    place.ok("embed new.txt --model news.wmc -o new.npy -q");
}

#[test]
fn the_view_is_chosen_or_given() {
    let place = place();
    place.write("new.txt", "Striker scores in the last minute\n");
    for views in ["meanings", "words", "both"] {
        place.ok(&format!(
            "{TRAIN} --views {views} --report {views}.html -o {views}.wmc -q"
        ));
        let json = place.ok(&format!("info {views}.wmc --json"));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["classifier"]["choice"]["views"], views);
        let evaluated = format!("{EVALUATE} --features 64 --splits 1 --views {views} --json -q");
        let json: Value = serde_json::from_str(&place.ok(&evaluated)).unwrap();
        let choice = &json["splits"][0]["cross_validation"]["choice"];
        assert_eq!(choice["views"], views);
        let printed = place.ok(&format!("predict {views}.wmc new.txt -q"));
        let line: Value = serde_json::from_str(&printed).unwrap();
        assert!(line["decision_values"]["sport"].is_number(), "{printed}");
    }
    place
        .run(&format!("{TRAIN} --protocol paper --views both -o x.wmc"))
        .failed(2, "--protocol paper has meanings alone: leave --views out");
    place
        .run(&format!("{EVALUATE} --method knn-wmd --views both"))
        .failed(
            2,
            "--views is for --method wme: neighbours need no random documents",
        );
}

#[test]
fn other_vectors_are_asked_for_or_bundled() {
    let place = place();
    let words = "striker scores goal senate vote budget bank shares film novel planet cell team";
    let glove: String = words
        .split(' ')
        .enumerate()
        .map(|(i, word)| format!("{word} {} {} 1\n", i % 5, i % 3))
        .collect();
    place.write("glove.txt.gz", gzip(glove));
    place.write("new.txt", "striker goal\n");
    let train = "train two.tsv --column text --label-column topic --features 8 --d-max 2 \
                 --vectors glove.txt.gz -q";
    let rows = "sport\tstriker goal\nnews\tsenate vote\n".repeat(6);
    place.write("two.tsv", format!("topic\ttext\n{rows}"));
    place.ok(&format!("{train} -o plain.wmc"));
    place.ok(&format!("{train} -o whole.wmc --bundle-vectors"));
    let refused = place.run("predict plain.wmc new.txt -o p.csv");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.ends_with("they must be given\n"),
        "{}",
        refused.stderr
    );
    place.ok("predict plain.wmc new.txt -o p.csv --vectors glove.txt.gz -q");
    place.ok("predict whole.wmc new.txt -o w.csv -q");
    assert_eq!(place.read("p.csv"), place.read("w.csv"));
    assert!(place.read_text("p.csv").contains("\n0,sport,"));
}

#[test]
fn an_evaluation_prints_figures_json_and_a_report() {
    let place = place();
    let evaluate = format!("{EVALUATE} --features 64 --splits 2 --cache cache");
    let text = place.ok(&format!("{evaluate} --report report.html -q"));
    assert!(text.starts_with("accuracy  "), "{text}");
    assert!(text.contains(" over 2 splits\n"), "{text}");
    assert!(text.contains("\nsplit 2: "), "{text}");

    let json: Value = serde_json::from_str(&place.ok(&format!("{evaluate} --json -q"))).unwrap();
    let accuracy = 100.0 * json["accuracy"].as_f64().unwrap();
    assert!(
        text.starts_with(&format!("accuracy  {accuracy:.2} %")),
        "{text}"
    );
    assert_eq!(json["splits"].as_array().unwrap().len(), 2);
    assert_eq!(json["splits"][0]["n_test"], 12);
    let choice = &json["splits"][0]["cross_validation"]["choice"];
    assert_eq!(choice["n_features"], 64);
    let counts = json["confusion"]["counts"].as_array().unwrap();
    let judged = counts.iter().flat_map(|row| row.as_array().unwrap());
    assert_eq!(judged.map(|n| n.as_u64().unwrap()).sum::<u64>(), 24);

    let html = place.read_text("report.html");
    assert!(html.contains(&format!("{accuracy:.2} %</span> accuracy")));
    assert!(html.matches("<svg").count() >= 3);
    // Self-contained: nothing is fetched.
    for outside in ["<script", "<link", "src=", "href=", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert_eq!(
        html.matches("<details").count(),
        html.matches("</details>").count()
    );
    place
        .run(&format!("{evaluate} --report report.html"))
        .failed(1, "report.html exists; pass --force to replace it");
}

#[test]
fn neighbours_are_evaluated_on_the_same_splits() {
    let place = place();
    let knn = format!("{EVALUATE} --method knn-wmd --splits 1 --json -q --report k.html");
    let knn: Value = serde_json::from_str(&place.ok(&knn)).unwrap();
    let choice = &knn["splits"][0]["cross_validation"]["choice"];
    assert!(choice["k"].as_u64().unwrap() >= 1, "{choice}");
    assert_eq!(knn["splits"][0]["n_test"], 12);
    assert!(place.read_text("k.html").contains("<polyline"));
    let documents = |json: &Value| -> Vec<Value> {
        let classes = json["classes"].as_array().unwrap();
        classes
            .iter()
            .map(|class| class["documents"].clone())
            .collect()
    };
    let wme = format!("{EVALUATE} --features 16 --d-max 2 --splits 1 --json -q");
    let wme: Value = serde_json::from_str(&place.ok(&wme)).unwrap();
    assert_eq!(documents(&knn), documents(&wme));
    place
        .run(&format!("{EVALUATE} --method knn-wmd --d-max 3"))
        .failed(
            2,
            "--d-max is for --method wme: neighbours need no random documents",
        );
}

#[test]
fn a_split_of_the_corpus_own_is_used() {
    let place = Place::new();
    let rows = HEADLINES.lines().skip(1).enumerate().map(|(i, line)| {
        let split = if i % 4 == 0 { "test" } else { "train" };
        format!("{split}\t{line}\n")
    });
    let rows: String = rows.collect();
    place.write(
        "news.tsv",
        format!("split\ttopic\ttext\n{rows}test\tsport\t\ntest\tother\tgoal\n"),
    );
    let evaluate = format!("{EVALUATE} --split-column split --features 32 --d-max 3 --json -q");
    let json: Value = serde_json::from_str(&place.ok(&evaluate)).unwrap();
    // An empty document and one of a class never seen are judged like any other.
    assert_eq!(json["splits"][0]["n_test"], 12);
    assert_eq!(json["splits"][0]["n_test_without_words"], 1);
    let other = json["classes"].as_array().unwrap();
    let other = other
        .iter()
        .find(|class| class["class"] == "other")
        .unwrap();
    assert_eq!(
        (&other["recall"], &other["predicted"]),
        (&0.0.into(), &0.into())
    );
    place.write("bad.tsv", "split\ttopic\ttext\ndev\tsport\tgoal\n");
    place
        .run("evaluate bad.tsv --column text --label-column topic --split-column split")
        .failed(
            1,
            "the split of document 1 is `dev`; it must be train or test, or - for all",
        );
}

#[test]
fn what_cannot_be_learnt_from_is_refused_in_a_sentence() {
    let place = place();
    let refused = |rows: &str, code: i32, sentence: &str| {
        place.write("bad.tsv", format!("topic\ttext\n{rows}"));
        let train = "train bad.tsv --column text --label-column topic -o bad.wmc -q";
        place.run(train).failed(code, sentence);
        assert!(!place.names().contains("bad.wmc"));
    };
    refused("", 1, "bad.tsv holds no documents");
    refused(
        "sport\tgoal\nsport\tstriker\n",
        1,
        "the training documents (2) are all of class `sport`: at least two are needed",
    );
    place.write("one.tsv", "topic\ttext\nsport\tgoal\n");
    place
        .run("evaluate one.tsv --column text --label-column topic")
        .failed(
            1,
            "one.tsv holds one document: none would be left to test on",
        );
    place
        .run(&format!("{TRAIN} --min-count 99 -o x.wmc -q"))
        .failed(
            1,
            "none of the 40 training documents has a word that the vectors know \
             and that occurs at least 99 times",
        );
    refused(
        "sport\tgoal\n\tstriker\n",
        1,
        "bad.tsv: line 3: the label is empty",
    );
    refused(
        "sport\tᚠᚢᚦ\nnews\tᚦᚢᚠ\n",
        1,
        "none of the 2 training documents has a word that the vectors know",
    );
    refused(
        "sport\tgoal\nsport\tmatch\nnews\t\nnews\tᚠᚢᚦ\n",
        1,
        "the training documents with known words (2) are all of class `sport`: at least two are \
         needed",
    );
    place
        .run("train news.tsv --column text --label-column class -o x.wmc")
        .failed(
            2,
            "news.tsv has no column `class`; its columns are `topic`, `text`",
        );
    place
        .run("train news.tsv --column body --label-column topic -o x.wmc")
        .failed(
            2,
            "news.tsv has no column `body`; its columns are `topic`, `text`",
        );
    place.write("docs.txt", "goal\n");
    place
        .run("train docs.txt --label-column topic -o x.wmc")
        .failed(
            2,
            "documents with labels are TSV, CSV or JSON lines; the lines of a text file have none",
        );
    place.write("docs.jsonl", "{\"t\": \"goal\", \"c\": null}\n");
    place
        .run("train docs.jsonl --field t --label-column c -o x.wmc")
        .failed(
            1,
            "docs.jsonl: line 1: the label in the field `c` is null, not a string or an integer",
        );
    place.run("train news.tsv --column text -o x.wmc").failed(
        2,
        "the following required arguments were not provided: --label-column <NAME>",
    );
    place
        .run(&format!("{EVALUATE} --features 0"))
        .failed(2, "--features is 0: it must be between 1 and 1048576");
    place.ok(&format!("{TRAIN} --d-max 2 -o news.wmc -q"));
    place.ok("fit docs.txt -o model.wme -q");
    place.write("empty.txt", "");
    for output in ["p.csv", "p.jsonl", "-"] {
        place
            .run(&format!("predict news.wmc empty.txt -o {output}"))
            .failed(1, "empty.txt holds no documents");
    }
    place.run("predict model.wme docs.txt -o p.csv").failed(
        1,
        "model.wme: a wordmover model, but without a classifier in it",
    );
    place.run("predict news.wmc docs.txt -o p.npy").failed(
        2,
        "cannot tell the format of p.npy from its suffix; end it in .csv, .parquet or .jsonl",
    );
}

#[test]
fn a_class_smaller_than_the_folds_is_told() {
    let place = Place::new();
    place.write(
        "news.tsv",
        format!("{HEADLINES}weather\tRain and storm over the coast\n"),
    );
    let note = "class `weather` has 1 training document, fewer than the 5 folds: \
                some folds hold none of it\n";
    for report in ["", " --report news.html"] {
        let ended = place.run(&format!("{TRAIN} --d-max 2,3 -o news.wmc --force{report}"));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(ended.stderr.matches(note).count(), 1, "{}", ended.stderr);
    }
    let html = place.read_text("news.html");
    assert_eq!(html.matches("class `weather` has 1 training").count(), 1);
}

#[cfg(unix)]
#[test]
fn an_interrupted_evaluation_is_taken_up_again() {
    use std::time::{Duration, Instant};

    let place = place();
    let options = "--features 4096 --d-max 12 --weights nbow --splits 1 --json";
    let evaluate = format!("{EVALUATE} {options} --cache cache");
    let child = place.command(evaluate.split(' ')).spawn().unwrap();
    let start = Instant::now();
    let n_kept = || match std::fs::read_dir(place.path("cache")) {
        Ok(entries) => entries.count(),
        Err(_) => 0,
    };
    while n_kept() < 3 {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "nothing is kept"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let ended = crate::support::wait(child);
    // It may have come through before it heard.
    assert!(matches!(ended.code, Some(130 | 0)), "{ended:?}");
    let kept = std::fs::read_dir(place.path("cache")).unwrap();
    for entry in kept {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".part"), "{name} is unfinished");
    }
    let resumed: Value = serde_json::from_str(&place.ok(&format!("{evaluate} -q"))).unwrap();
    let whole = place.ok(&format!("{EVALUATE} {options} -q"));
    let whole: Value = serde_json::from_str(&whole).unwrap();
    for key in ["accuracy", "confusion", "classes"] {
        assert_eq!(resumed[key], whole[key]);
    }
    let rounds = |json: &Value| json["splits"][0]["cross_validation"].clone();
    assert_eq!(rounds(&resumed), rounds(&whole));
}

#[test]
fn a_tie_is_predicted_as_argmax_of_the_decision_values_has_it() {
    let place = Place::new();
    // The same text in both classes: nothing can tell them apart. The class seen first
    // in the file is the second by name.
    let rows = "b\ta cat\na\ta cat\n".repeat(6);
    place.write("tie.tsv", format!("topic\ttext\n{rows}"));
    place.ok(
        "train tie.tsv --column text --label-column topic --features 8 --d-max 2 --views meanings -o tie.wmc -q",
    );
    place.write("new.txt", "a cat\n");
    let printed = place.ok("predict tie.wmc new.txt -q");
    let no_negative_zero = !printed.contains("-0.0,") && !printed.contains("-0.0}");
    assert!(no_negative_zero, "{printed}");
    let line: Value = serde_json::from_str(&printed).unwrap();
    let value = |class: &str| line["decision_values"][class].as_f64().unwrap();
    let argmax = if value("b") > value("a") { "b" } else { "a" };
    assert_eq!(line["label"], argmax, "{printed}");
}

#[test]
fn labels_are_listed_naturally_and_ids_are_no_formulas() {
    let place = Place::new();
    let words = ["cat", "king", "music", "river", "bread", "physics", "ship"];
    let mut table = String::from("id,label,text\n");
    for (i, word) in words.iter().enumerate() {
        for _ in 0..6 {
            table += &format!("=A{i},class {},the {word}\n", 2 * i);
        }
    }
    place.write("docs.csv", &table);
    let common = "docs.csv --column text --label-column label --features 8 --d-max 2";
    let text = place.ok(&format!("evaluate {common} --splits 1 -q"));
    let listed = text.lines().filter_map(|line| line.strip_prefix("class "));
    let numbers = listed.filter_map(|rest| rest.split(' ').next()?.parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    assert_eq!(numbers, [0, 2, 4, 6, 8, 10, 12], "{text}");

    place.ok(&format!("train {common} -o x.wmc -q"));
    place.ok("predict x.wmc docs.csv --column text --id-column id -o p.csv -q");
    let second = place.read_text("p.csv").lines().nth(1).unwrap().to_owned();
    assert!(second.starts_with("'=A0,class "), "{second}");
    place.ok("embed docs.csv --column text --id-column id --features 2 -o e.csv -q");
    let second = place.read_text("e.csv").lines().nth(1).unwrap().to_owned();
    assert!(second.starts_with("'=A0,"), "{second}");
    // Formats that no spreadsheet runs keep ids as they are.
    let printed = place.ok("embed docs.csv --column text --id-column id --features 2 -q");
    assert!(printed.starts_with("{\"id\":\"=A0\","));
}

#[test]
fn probabilities_and_the_likeliest_classes_are_given() {
    let place = place();
    place.ok(&format!("{TRAIN} -o news.wmc -q"));
    place.write(
        "new.txt",
        "Striker scores in the last minute\n\nSenators vote\n",
    );
    let printed = place.ok("predict news.wmc new.txt --probabilities -q");
    let lines: Vec<Value> = printed
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let of_first = lines[0]["probabilities"].as_object().unwrap();
    let sum: f64 = of_first.values().map(|p| p.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && of_first.len() == 5, "{printed}");
    assert!(lines[1]["probabilities"].is_null());

    let printed = place.ok("predict news.wmc new.txt --probabilities --top 2 -q");
    let line: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    assert_eq!(line["top"].as_array().unwrap().len(), 2);
    assert_eq!(line["top"][0]["label"], line["label"]);
    assert!(line["decision_values"].is_null());
    let value = |i: usize| line["top"][i]["decision_value"].as_f64().unwrap();
    assert!(value(0) >= value(1));
    assert_eq!(line["top"][0]["probability"], of_first["sport"]);

    // Twice the same documents, from two files.
    place.ok("predict news.wmc new.txt new.txt --top 9 --probabilities -o new.csv -q");
    let csv = place.read_text("new.csv");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0][..5],
        [
            "id",
            "label",
            "label 1",
            "decision value 1",
            "probability 1"
        ]
    );
    assert_eq!((rows.len(), rows[0].len()), (7, 2 + 3 * 5));
    assert_eq!(rows[1][1..], rows[4][1..]);
    assert_eq!(rows[4][0], "3");
    assert_eq!(rows[2][2..], ["", "", ""].repeat(5));
    place.ok("predict news.wmc new.txt --probabilities -o new.parquet -q");
    assert_eq!(&place.read("new.parquet")[..4], b"PAR1");
    place.run("predict news.wmc new.txt --top 0").failed(
        2,
        "invalid value '0' for '--top <K>': expected a number of at least 1",
    );
}

#[test]
fn an_explanation_names_words_and_random_documents() {
    let place = place();
    place.write(
        "new.txt",
        "Striker scores a goal, <b>and</b> the senate votes\n\n",
    );
    for views in ["meanings", "both"] {
        place.ok(&format!("{TRAIN} --views {views} -o {views}.wmc -q"));
        let printed = place.ok(&format!("predict {views}.wmc new.txt --explain -q"));
        let lines: Vec<Value> = printed
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let why = &lines[0]["explanation"];
        assert_eq!(why["label"], lines[0]["label"]);
        let words = why["words"].as_array().unwrap();
        let effects = words.iter().map(|word| word["effect"].as_f64().unwrap());
        assert!(
            effects.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b),
            "{why}"
        );
        assert!(words.iter().any(|word| word["word"] == "striker"));
        let nearest = why["nearest"].as_array().unwrap();
        assert_eq!(nearest.len(), 3);
        assert!(nearest[0]["words"][0].is_string());
        assert!(nearest[0]["distance"].as_f64() <= nearest[2]["distance"].as_f64());
        // A text without words has nothing to explain.
        assert_eq!(
            lines[1]["explanation"]["words"].as_array().unwrap().len(),
            0
        );
    }
    place
        .run("predict both.wmc new.txt --explain -o new.csv")
        .failed(
            2,
            "--explain is for JSON lines; end the output in .jsonl or leave it out",
        );
}

#[test]
fn a_classifier_is_tested_on_labelled_documents() {
    let place = place();
    place.ok(&format!("{TRAIN} -o news.wmc -q"));
    let test = "test news.wmc news.tsv --text-column text --label-column topic";
    let text = place.ok(&format!("{test} --report test.html -q"));
    assert!(text.starts_with("accuracy  "), "{text}");
    assert!(text.contains("\nlog loss  "), "{text}");
    assert!(text.contains("\nsport "), "{text}");
    let json: Value = serde_json::from_str(&place.ok(&format!("{test} --json -q"))).unwrap();
    assert_eq!(json["test"]["n_documents"], 40);
    assert_eq!(json["classes"].as_array().unwrap().len(), 5);
    let html = place.read_text("test.html");
    assert!(html.contains("Words that speak for each class"), "{html}");
    assert!(html.contains("Confusion matrix"));

    // Labels with markup, a class never seen, an empty text; from two files.
    place.write(
        "more.tsv",
        "topic\ttext\n<b>new</b>, \"class\"\tgoal\nsport\t\n",
    );
    let both = "test news.wmc news.tsv more.tsv --text-column text --label-column topic --force";
    let text = place.ok(&format!("{both} --report test.html -q"));
    assert!(text.contains("1 document without a known word"), "{text}");
    assert!(
        text.contains("1 document of classes that the classifier does not know"),
        "{text}"
    );
    let html = place.read_text("test.html");
    assert!(html.contains("&lt;b&gt;new&lt;/b&gt;") && !html.contains("<b>new"));
    place
        .run("test news.wmc news.tsv --text-column text --label-column topic --report news.wmc")
        .failed(
            2,
            "--report news.wmc would replace news.wmc, which is read here",
        );
}

#[test]
fn several_labels_a_document_are_learnt() {
    let place = Place::new();
    let rows = HEADLINES.lines().skip(1).enumerate().map(|(i, line)| {
        let (topic, text) = line.split_once('\t').unwrap();
        match i % 3 {
            0 => format!("{topic} | long, \"odd\" label\t{text}\n"),
            _ => format!("{topic}\t{text}\n"),
        }
    });
    let rows: String = rows.collect();
    place.write("news.tsv", format!("topic\ttext\n{rows}"));
    let columns = "--text-column text --label-column topic --label-separator |";
    place.ok(&format!(
        "train news.tsv {columns} --features 64 -o news.wmc --report train.html -q"
    ));
    assert!(place.read_text("train.html").contains("micro F1"));
    place.write("new.txt", "Striker scores a goal in the last minute\n");
    let printed = place.ok("predict news.wmc new.txt --probabilities -q");
    let line: Value = serde_json::from_str(&printed).unwrap();
    assert!(line["labels"].is_array(), "{line}");
    assert!(
        line["probabilities"]["long, \"odd\" label"].is_number(),
        "{line}"
    );
    place.ok("predict news.wmc new.txt -o new.csv -q");
    assert!(place.read_text("new.csv").starts_with("id,labels,"));
    let text = place.ok(&format!("test news.wmc news.tsv {columns} -q"));
    assert!(text.starts_with("micro F1  "), "{text}");
    let evaluate = format!("evaluate news.tsv {columns} --features 32 --splits 1 --json -q");
    let json: Value = serde_json::from_str(&place.ok(&evaluate)).unwrap();
    assert!(json["confusion"].is_null() && json["accuracy"].is_number());
    place.write("bad.tsv", "topic\ttext\na | | b\tgoal\n");
    place
        .run(&format!("train bad.tsv {columns} -o x.wmc"))
        .failed(1, "document 1: one of the labels in `a | | b` is empty");
    place
        .run(&format!(
            "train news.tsv {columns} --protocol paper -o x.wmc"
        ))
        .failed(
            2,
            "--protocol paper gives one class to a document: leave --label-separator out",
        );
    place
        .run(&format!("evaluate news.tsv {columns} --method knn-wmd"))
        .failed(
            2,
            "--label-separator is for --method wme: neighbours vote for one class",
        );
}

#[test]
fn a_handful_of_documents_is_learnt_with_other_folds_and_weights() {
    let place = place();
    let few: String = HEADLINES
        .lines()
        .take(13)
        .map(|line| format!("{line}\n"))
        .collect();
    place.write("few.tsv", few);
    let few = "train few.tsv --text-column text --label-column topic --features 32 --force -q";
    place.ok(&format!(
        "{few} --folds 3 --class-weights balanced -o few.wmc"
    ));
    place.ok(&format!(
        "{few} --learn none --random-words documents -o few.wmc"
    ));
    let json: Value = serde_json::from_str(&place.ok("info few.wmc --json")).unwrap();
    let choice = &json["classifier"]["choice"];
    assert_eq!(
        (&choice["random_words"], &choice["label_exponent"]),
        (&"documents".into(), &0.0.into())
    );
    place.write("two.tsv", "topic\ttext\nsport\tgoal\nnews\tvote\n");
    let two = "train two.tsv --text-column text --label-column topic --features 32 -o two.wmc";
    let ended = place.run(two);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("no class has two training documents"),
        "{ended:?}"
    );
    place.write("new.txt", "goal\n");
    assert!(
        place
            .ok("predict two.wmc new.txt -q")
            .contains("\"label\":\"sport\"")
    );
    place.run("predict two.wmc new.txt --probabilities").failed(
        1,
        "two.wmc has no probabilities: it is of an earlier version, or no document could be held \
         out in training",
    );
    place.run(&format!("{few} --folds 1 -o few.wmc")).failed(
        2,
        "invalid value '1' for '--folds <N>': expected a number of at least 2",
    );
    place
        .run(&format!(
            "{few} --protocol paper --class-weights balanced -o few.wmc"
        ))
        .failed(
            2,
            "--protocol paper has equal class weights: leave --class-weights out",
        );
}
