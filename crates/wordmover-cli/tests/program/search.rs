//! `wordmover search`: the table, the JSON lines and the summary.

use serde_json::Value;

use crate::support::Place;

const HEADLINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/headlines.txt");

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn distances_are_those_of_the_distance_command() {
    let place = Place::new();
    let query = "The president greets the press in Chicago";
    for options in [&[][..], &["--normalize", "none"], &["--stop-words", "none"]] {
        let search = ["search", HEADLINES, query, "-k", "40", "--json"];
        let found = json(&place.run_with(&[&search[..], options].concat()).succeeded());
        assert_eq!(found["query"], query);
        let neighbors = found["neighbors"].as_array().unwrap();
        assert_eq!(neighbors.len(), 40);
        for pair in neighbors.windows(2) {
            assert!(pair[0]["distance"].as_f64() <= pair[1]["distance"].as_f64());
        }
        for neighbor in neighbors.iter().step_by(13) {
            let text = neighbor["text"].as_str().unwrap();
            let distance = ["distance", query, text, "--json"];
            let exact = json(
                &place
                    .run_with(&[&distance[..], options].concat())
                    .succeeded(),
            );
            assert_eq!(neighbor["distance"], exact["distance"], "{text}");
        }
    }
}

#[test]
fn a_model_weighs_the_words_and_refuses_to_be_overruled() {
    let place = Place::new();
    // A word in two documents of three: its weight depends on the weighting.
    place.write(
        "docs.txt",
        "The senate votes on pensions\nThe senate rejects a new tax\nThe striker scores a goal\n",
    );
    let fit = ["fit", "docs.txt", "-o", "m.wme", "--weights", "tfidf", "-q"];
    place.run_with(&fit).succeeded();
    let query = "Senate debates the budget";
    let search = ["search", "docs.txt", query, "-k", "3", "--json"];
    let with_model = place
        .run_with(&[&search[..], &["--model", "m.wme"]].concat())
        .succeeded();
    let found = json(&with_model);
    let text = found["neighbors"][0]["text"].as_str().unwrap();
    let distance = ["distance", query, text, "--json", "--model", "m.wme"];
    let exact = json(&place.run_with(&distance).succeeded());
    assert_eq!(found["neighbors"][0]["distance"], exact["distance"]);
    // The model was fitted on the corpus: its frequencies are the corpus' own.
    let own = place
        .run_with(&[&search[..], &["--weights", "tfidf"]].concat())
        .succeeded();
    assert_eq!(own, with_model);
    assert_ne!(place.run_with(&search).succeeded(), with_model);

    let both = [&search[..], &["--model", "m.wme", "--weights", "nbow"]].concat();
    place.run_with(&both).failed(
        2,
        "--weights cannot be given with --model: the model settles it",
    );
}

#[test]
fn ids_are_those_of_the_file_or_numbers_from_zero() {
    let place = Place::new();
    place.write(
        "docs.tsv",
        "key\ttext\nk1\tA dog barks\nk2\tThe striker scores a goal\n",
    );
    let search = [
        "search",
        "docs.tsv",
        "football match",
        "--column",
        "text",
        "-k",
        "1",
    ];
    let with_ids = [&search[..], &["--id-column", "key"]].concat();
    let found = json(
        &place
            .run_with(&[&with_ids[..], &["--json"]].concat())
            .succeeded(),
    );
    assert_eq!(found["neighbors"][0]["id"], "k2");
    let table = place.run_with(&with_ids).succeeded();
    assert!(
        table.starts_with("rank  distance  document  text\n   1  "),
        "{table}"
    );
    assert!(
        table.ends_with("  k2        The striker scores a goal\n"),
        "{table}"
    );
    let found = json(
        &place
            .run_with(&[&search[..], &["--json"]].concat())
            .succeeded(),
    );
    assert_eq!(found["neighbors"][0]["id"], 1);
}

#[test]
fn every_line_of_a_query_file_gets_an_answer() {
    let place = Place::new();
    place.write("queries.txt", "interest rates\n\nᚱᚢᚾ\na symphony\n");
    place.write("docs.txt", "Shares fall\n\nᚠᚢᚦ\nAn orchestra plays\n");
    let search = ["search", "docs.txt", "--queries", "queries.txt", "-k", "9"];
    let lines = place
        .run_with(&[&search[..], &["--json"]].concat())
        .succeeded();
    let answers: Vec<Value> = lines.lines().map(json).collect();
    let found: Vec<(&str, usize)> = answers
        .iter()
        .map(|answer| {
            let neighbors = answer["neighbors"].as_array().unwrap();
            (answer["query"].as_str().unwrap(), neighbors.len())
        })
        .collect();
    let expected = [
        ("interest rates", 2),
        ("", 0),
        ("ᚱᚢᚾ", 0),
        ("a symphony", 2),
    ];
    assert_eq!(found, expected);
    assert_eq!(answers[3]["neighbors"][0]["id"], 3);

    let ended = place.run_with(&search);
    let table = &ended.stdout;
    assert!(
        table.starts_with("query 0: interest rates\nrank  distance"),
        "{table}"
    );
    assert!(
        table.contains("\n\nquery 1:\nnothing found\n\nquery 2: ᚱᚢᚾ\nnothing"),
        "{table}"
    );
    for line in [
        "2 documents without a known word: never found",
        "2 queries without a known word: nothing found",
        "4 queries, 4 pairs, 100.0% of them solved exactly",
    ] {
        assert!(ended.stderr.contains(line), "{}", ended.stderr);
    }
}

#[test]
fn quiet_is_quiet() {
    let place = Place::new();
    let ended = place.run_with(&["search", HEADLINES, "music ᚱᚢᚾ", "-q"]);
    assert_eq!(ended.stderr, "");
    assert_eq!(ended.succeeded().lines().count(), 11);
    let ended = place.run_with(&["search", HEADLINES, "music ᚱᚢᚾ"]);
    assert!(
        ended
            .stderr
            .starts_with("unknown words: ᚱᚢᚾ\n40 documents, "),
        "{}",
        ended.stderr
    );
}

#[test]
fn corpus_or_queries_may_come_from_standard_input() {
    let place = Place::new();
    let docs = "The band plays\nShares fall\n";
    let ended = place.run_on(docs.as_bytes(), "search - concert -k 1");
    let table = ended.succeeded();
    assert!(table.ends_with("  0         The band plays\n"), "{table}");
    place.write("docs.txt", docs);
    let ended = place.run_on(b"bank\nsong\n", "search docs.txt --queries - -k 1 --json");
    let ids: Vec<Value> = ended
        .succeeded()
        .lines()
        .map(|line| json(line)["neighbors"][0]["id"].clone())
        .collect();
    assert_eq!(ids, [1, 0]);
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let place = Place::new();
    place.write("empty.txt", "");
    place.write("docs.txt", "a dog\n");
    place.write("unknown.txt", "the ᚱᚢᚾ\n\n");
    place.run_with(&["search", "docs.txt", "the ᚱᚢᚾ"]).failed(
        1,
        "\"the ᚱᚢᚾ\" has no Word Mover's Distance: it has no word that \
         minilm-160d-81k knows, apart from stop words",
    );
    for (arguments, code, sentence) in [
        ("search empty.txt dog", 1, "empty.txt holds no documents"),
        (
            "search docs.txt --queries empty.txt",
            1,
            "empty.txt holds no queries",
        ),
        (
            "search unknown.txt dog",
            1,
            "unknown.txt holds nothing to find: no word that minilm-160d-81k knows, apart from stop words",
        ),
        (
            "search unknown.txt dog --by embedding",
            1,
            "unknown.txt holds nothing to find: no word that minilm-160d-81k knows, apart from stop words",
        ),
        ("search missing dog", 1, "cannot read missing: no such file"),
        (
            "search - --queries -",
            2,
            "CORPUS and --queries cannot both be standard input",
        ),
        (
            "search docs.txt --queries missing.txt",
            1,
            "cannot read missing.txt: no such file",
        ),
        (
            "search docs.txt",
            2,
            "the following required arguments were not provided: <TEXT>",
        ),
        (
            "search docs.txt dog --queries docs.txt",
            2,
            "the argument '[TEXT]' cannot be used with '--queries <FILE>'",
        ),
        (
            "search docs.txt dog -k 0",
            2,
            "invalid value '0' for '-k <N>': expected a number of at least 1",
        ),
    ] {
        place.run(arguments).failed(code, sentence);
    }
}

#[test]
fn search_by_embedding_finds_the_same_where_all_are_candidates() {
    let place = Place::new();
    let docs = "A dog barks\nStocks fell\n\nThe kitten sleeps\nAn orchestra plays in Tokyo\n";
    place.write("docs.txt", docs);
    let exact = place.ok("search docs.txt cat -k 3 --json -q");
    let found = place.ok("search docs.txt cat -k 3 --json -q --by embedding");
    assert_eq!(exact, found);
    let ended = place.run("search docs.txt cat -k 1 --by embedding --candidates 2");
    assert_eq!(ended.code, Some(0));
    let work = "1 query, 2 pairs, ";
    assert!(ended.stderr.contains(work), "{}", ended.stderr);
    let alike = "; only documents whose embeddings are most alike";
    assert!(ended.stderr.contains(alike), "{}", ended.stderr);
    place.ok("fit docs.txt -o m.wme -q --features 40");
    place.ok("search docs.txt cat --by embedding --model m.wme");
}

#[test]
fn search_takes_embeddings_made_earlier_and_refuses_those_of_others() {
    let place = Place::new();
    place.write(
        "docs.txt",
        "A dog barks\nStocks fell\n\nThe kitten sleeps\nAn orchestra plays\n",
    );
    place.write(
        "other.txt",
        "A dog barks\nStocks fell\n\nThe kitten sleeps\nMarkets rose\n",
    );
    place.write("short.txt", "A dog barks\n");
    place.ok("fit docs.txt -o m.wme -q --features 40");
    for name in ["docs", "other", "short"] {
        place.ok(&format!("embed {name}.txt --model m.wme -o {name}.npy -q"));
    }
    let search = "search docs.txt cat -k 2 --candidates 3 --json -q --by embedding --model m.wme";
    let fresh = place.ok(search);
    assert_eq!(place.ok(&format!("{search} --embeddings docs.npy")), fresh);
    for (file, due) in [
        (
            "other.npy",
            "other.npy does not hold what this model makes of these documents: number 4 differs",
        ),
        (
            "short.npy",
            "short.npy holds 1 embeddings of 40 features; the documents and the model need 5 of 40",
        ),
        (
            "docs.txt",
            "docs.txt: not a two-dimensional .npy array of 32-bit floats",
        ),
    ] {
        let ended = place.run(&format!("{search} --embeddings {file}"));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(due), "{}", ended.stderr);
    }
    let by_wmd = place.run("search docs.txt cat --model m.wme --embeddings docs.npy");
    assert_eq!(by_wmd.code, Some(2));
    assert!(by_wmd.stderr.contains("--embeddings needs --by embedding"));
    let alone = place.run("search docs.txt cat --by embedding --embeddings docs.npy");
    assert_eq!(alone.code, Some(2));
}
