//! `wordmover index`, and `wordmover search` on an index.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Place, wait};

const HEADLINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/headlines.txt");

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// The headlines with keys, in two parts, and the query of the tests.
const QUERY: &str = "The president greets the press in Chicago";

fn place() -> Place {
    let place = Place::new();
    let headlines = fs::read_to_string(HEADLINES).unwrap();
    let line = |(i, text): (usize, &str)| {
        let object = serde_json::json!({ "key": format!("k{i}"), "body": text });
        format!("{object}\n")
    };
    let lines: Vec<String> = headlines.lines().enumerate().map(line).collect();
    place.write("all.jsonl", lines.concat());
    place.write("first.jsonl", lines[..25].concat());
    place.write("rest.jsonl", lines[25..].concat());
    place
}

const FIELDS: &str = "--id-field key --text-field body";

#[test]
fn an_index_answers_with_the_bytes_of_a_search_in_the_documents() {
    let place = place();
    // The embedding is fitted on what is there when the index is built.
    place.ok(&format!(
        "index build all.jsonl {FIELDS} -o all.wmi --features 64 -q"
    ));
    place.ok("fit all.jsonl --field body -o m.wme --features 64 -q");
    let search = |corpus: &[&str]| {
        place
            .run_with(&[&["search"], corpus, &[QUERY, "-k", "7", "-q"]].concat())
            .succeeded()
    };
    let documents = ["all.jsonl", "--field", "body", "--id-column", "key"];
    for format in [&["--json"][..], &[]] {
        let exact = search(&[&documents[..], format].concat());
        let by_wmd = ["all.wmi", "--by", "wmd"];
        assert_eq!(search(&[&by_wmd[..], format].concat()), exact);
        let options = ["--by", "embedding", "--candidates", "15"];
        let with_model = ["--model", "m.wme"];
        let by_embedding = search(&[&documents[..], &options, &with_model, format].concat());
        assert_eq!(
            search(&[&["all.wmi"], &options[..], format].concat()),
            by_embedding
        );
    }

    // Grown, shrunk and compacted, it still does.
    place.ok(&format!(
        "index build first.jsonl {FIELDS} -o docs.wmi --features 64 -q"
    ));
    place.ok(&format!("index add docs.wmi rest.jsonl {FIELDS} -q"));
    let exact = search(&[&documents[..], &["--json"]].concat());
    assert_eq!(search(&["docs.wmi", "--by", "wmd", "--json"]), exact);
    let nearest = json(&exact)["neighbors"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    place.ok(&format!("index remove docs.wmi {nearest} -q"));
    let all = place.read_text("all.jsonl");
    let left = all
        .lines()
        .filter(|line| json(line)["key"] != nearest.as_str());
    place.write(
        "left.jsonl",
        left.map(|line| format!("{line}\n")).collect::<String>(),
    );
    let documents = [
        "left.jsonl",
        "--field",
        "body",
        "--id-column",
        "key",
        "--json",
    ];
    let exact = search(&documents);
    assert_eq!(search(&["docs.wmi", "--by", "wmd", "--json"]), exact);
    let hybrid = search(&["docs.wmi", "--json"]);
    place.ok("index compact docs.wmi -q");
    assert_eq!(search(&["docs.wmi", "--by", "wmd", "--json"]), exact);
    assert_eq!(search(&["docs.wmi", "--json"]), hybrid);

    let info = json(&place.ok("index info docs.wmi --json"));
    assert_eq!(
        (&info["documents"], &info["segments"]),
        (&json("39"), &json("1"))
    );
    let ended = place.run("index verify docs.wmi");
    assert!(
        ended
            .stderr
            .starts_with("docs.wmi is sound: 39 documents, "),
        "{ended:?}"
    );
}

#[test]
fn words_and_meanings_are_told_apart_in_the_answer() {
    let place = Place::new();
    place.write(
        "docs.txt",
        "The band plays\nShares fall\nAn orchestra from Xyzzyville\n",
    );
    let ended = place.run("index build docs.txt -o docs.wmi --features 32");
    assert!(
        ended.stderr.contains("wrote docs.wmi: 3 documents, "),
        "{ended:?}"
    );
    let found = json(
        &place
            .run_with(&["search", "docs.wmi", "band from xyzzyville", "--json", "-q"])
            .succeeded(),
    );
    let first = &found["neighbors"][0];
    assert_eq!(found["query"], "band from xyzzyville");
    assert!(first["id"].is_u64() && first["score"].is_f64() && first["parts"]["words"].is_f64());
    assert_eq!(first["words"].as_array().unwrap().len(), 1);
    let table = place
        .run_with(&["search", "docs.wmi", "concert", "-k", "1", "-q"])
        .succeeded();
    assert!(
        table.starts_with("rank     score  document  text\n   1  "),
        "{table}"
    );
    place.write("queries.txt", "a concert\n\n");
    let table = place.ok("search docs.wmi --queries queries.txt -q");
    assert!(table.contains("\nquery 1:\nnothing found\n"), "{table}");
    let info = place.ok("index info docs.wmi");
    assert!(
        info.starts_with("documents   3, known by numbers\n"),
        "{info}"
    );
}

#[test]
fn mistakes_are_told_in_a_sentence_and_change_nothing() {
    let place = place();
    place.ok(&format!(
        "index build first.jsonl {FIELDS} -o docs.wmi --features 32 -q"
    ));
    let again = format!("index build rest.jsonl {FIELDS} -o docs.wmi");
    place
        .run(&again)
        .failed(1, "docs.wmi exists; pass --force to replace it");
    place
        .run(&format!("index add docs.wmi first.jsonl {FIELDS}"))
        .failed(1, "docs.wmi: there are two documents with the id \"k0\"");
    place
        .run("index add docs.wmi rest.jsonl --field body")
        .failed(
            1,
            "docs.wmi: the documents of this index have ids, and those given have none",
        );
    if !cfg!(feature = "hnsw") {
        let sentence = "this program has no graphs: build it with the cargo feature `hnsw`";
        place
            .run(&format!(
                "index build rest.jsonl {FIELDS} -o new.wmi --graph"
            ))
            .failed(1, sentence);
        place
            .run("index compact docs.wmi --graph")
            .failed(1, &format!("docs.wmi: {sentence}"));
        assert!(!place.path("new.wmi").exists());
    }
    place
        .run("index remove docs.wmi k1 k99")
        .failed(1, "docs.wmi: the index has no document with the id \"k99\"");
    place.run("search docs.wmi text --weights tfidf").failed(
        2,
        "--weights cannot be given with an index, which settles it",
    );
    place
        .run("search all.jsonl text --field body --by hybrid")
        .failed(2, "--by hybrid needs an index: see wordmover index build");
    place.run("search docs.wmi ᚱᚢᚾ --by wmd").failed(
        1,
        "\"ᚱᚢᚾ\" has no Word Mover's Distance: it has no word that minilm-160d-81k knows, \
         apart from stop words",
    );
    fs::create_dir(place.path("other")).unwrap();
    for command in [
        "search other text",
        "index info other",
        "index verify other",
    ] {
        place
            .run(command)
            .failed(1, "other: not a search index of wordmover");
    }
    let manifest = place.read("docs.wmi/index.json");
    place.write("docs.wmi/index.json", &manifest[..manifest.len() / 2]);
    let ended = place.run("search docs.wmi text");
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .starts_with("error: docs.wmi: the index is damaged: index.json: "),
        "{ended:?}"
    );
    place.write("docs.wmi/index.json", &manifest);
    let documents =
        |place: &Place| json(&place.ok("index info docs.wmi --json"))["documents"].clone();
    assert_eq!(documents(&place), 25);
    place.ok(&format!(
        "index add docs.wmi all.jsonl {FIELDS} --replace -q"
    ));
    assert_eq!(documents(&place), 40);
    place.ok(&format!("{again} --force -q --features 32"));
    assert_eq!(documents(&place), 15);
}

/// Kills at random moments; `WORDMOVER_KILLS` sets how many.
#[test]
fn a_killed_writer_loses_and_damages_nothing() {
    let kills = std::env::var("WORDMOVER_KILLS").ok();
    let kills: usize = kills.map_or(12, |kills| kills.parse().unwrap());
    let place = place();
    place.ok(&format!(
        "index build first.jsonl {FIELDS} -o docs.wmi --features 16 -q"
    ));
    let state = |place: &Place| -> (u64, String) {
        place.ok("index verify docs.wmi -q");
        let info = json(&place.ok("index info docs.wmi --json"));
        let found = place.run_with(&["search", "docs.wmi", QUERY, "--by", "wmd", "--json", "-q"]);
        (info["documents"].as_u64().unwrap(), found.succeeded())
    };
    let before = state(&place);
    let add = format!("index add docs.wmi rest.jsonl {FIELDS} -q");
    let started = std::time::Instant::now();
    place.ok(&add);
    let whole = started.elapsed();
    let after = state(&place);
    assert_eq!((before.0, after.0), (25, 40));

    // A generator of its own: moments from before the start to after the end.
    let mut seed = 0x9e37_79b9_7f4a_7c15u64 ^ whole.as_nanos() as u64;
    let mut survived = 0;
    for kill in 0..kills {
        let keys: Vec<String> = (25..40).map(|i| format!("k{i}")).collect();
        let now = json(&place.ok("index info docs.wmi --json"))["documents"].as_u64();
        if now == Some(40) {
            match kill % 2 {
                // What is killed next is a removal, or an addition.
                0 => place.ok(&format!("index remove docs.wmi {} -q", keys.join(" "))),
                _ => place.ok(&format!(
                    "index build first.jsonl {FIELDS} -o docs.wmi --features 16 -q --force"
                )),
            };
        }
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let share = (seed >> 40) as f64 / (1u64 << 24) as f64;
        let mut child = place.command(add.split(' ')).spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * 1.1 * share));
        let _ = child.kill();
        let ended = wait(child);
        survived += usize::from(ended.code == Some(0));
        let found = state(&place);
        assert!(
            found == before || found == after,
            "kill {kill}: {} documents",
            found.0
        );
    }
    assert!(kills < 100 || survived < kills, "nobody was killed");
    // The next change removes what the killed ones left.
    place.ok("index compact docs.wmi -q");
    let names: Vec<String> = fs::read_dir(place.path("docs.wmi"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
}
