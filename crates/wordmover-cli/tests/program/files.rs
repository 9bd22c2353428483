//! Files that are missing, empty, directories or out of bounds, wherever they are named.

use crate::support::{Place, gzip};

/// Every option that names a file, with what else the command needs.
const NAMING_A_FILE: [&str; 14] = [
    "embed docs.txt -o x.npy --model",
    "embed docs.txt -o x.npy --vectors",
    "embed docs.txt -o x.npy --stop-words",
    "embed docs.txt -o x.npy --weights sif --frequencies",
    "fit docs.txt -o x.wme --vectors",
    "info",
    "distance cat dog --model",
    "distance cat dog --stop-words",
    "search docs.txt cat --model",
    "search docs.txt --queries",
    "similarity cat dog --model",
    "predict -o x.csv FILE docs.txt",
    "vectors info",
    "vectors nearest cat --vectors",
];

fn naming(command: &str, file: &str) -> String {
    match command.contains("FILE") {
        true => command.replace("FILE", file),
        false => format!("{command} {file}"),
    }
}

#[test]
fn a_missing_file_and_a_directory_are_told_alike_wherever_they_are_named() {
    let place = Place::with_docs();
    std::fs::create_dir(place.path("directory")).unwrap();
    let before = place.names();
    for command in NAMING_A_FILE {
        place
            .run(&naming(command, "missing"))
            .failed(1, "cannot read missing: no such file");
        place
            .run(&naming(command, "directory"))
            .failed(1, "cannot read directory: it is a directory");
    }
    for command in [
        "embed -o x.npy",
        "fit -o x.wme",
        "search FILE cat",
        "train --label-column topic --column text -o x.wmc",
        "evaluate --label-column topic --column text",
    ] {
        place
            .run(&naming(command, "missing.tsv"))
            .failed(1, "cannot read missing.tsv: no such file");
        // A name without a suffix is first of all the name of nothing.
        place
            .run(&naming(command, "missing"))
            .failed(1, "cannot read missing: no such file");
    }
    assert_eq!(place.names(), before);
}

#[test]
fn an_empty_file_is_told_wherever_it_is_named() {
    let place = Place::with_docs();
    place.write("empty.txt", "");
    place.write("blank.tsv", "\n");
    let labeled = "--column text --label-column topic";
    for (arguments, sentence) in [
        (
            "embed docs.txt -o x.npy --stop-words empty.txt".to_owned(),
            "empty.txt holds no stop words; to drop none, pass --stop-words none",
        ),
        (
            "embed docs.txt -o x.npy --vectors empty.txt".to_owned(),
            "empty.txt: it holds no words",
        ),
        (
            "embed docs.txt -o x.npy --weights sif --frequencies empty.txt".to_owned(),
            "empty.txt counts no word that minilm-160d-81k knows",
        ),
        (
            format!("train blank.tsv {labeled} -o x.wmc"),
            "blank.tsv: line 1: expected a header, found a blank line",
        ),
        (
            format!("evaluate blank.tsv {labeled}"),
            "blank.tsv: line 1: expected a header, found a blank line",
        ),
        (
            format!("evaluate - --format tsv {labeled}"),
            "standard input is empty; expected a header line",
        ),
        (
            "embed - -o x.npy".to_owned(),
            "standard input holds no documents",
        ),
    ] {
        place.run(&arguments).failed(1, sentence);
    }
    place.run(&format!("evaluate - {labeled}")).failed(
        2,
        "documents with labels on standard input need --format tsv, csv or jsonl",
    );
}

#[test]
fn a_stop_word_file_may_come_from_anywhere() {
    let place = Place::new();
    let expected = place.ok("distance cat dog");
    // With a byte order mark, as Windows writes it; and compressed.
    place.write("stop.txt", b"\xef\xbb\xbfking\r\n\r\nqueen\r\n");
    place.write("stop.txt.gz", gzip("king\nqueen\n"));
    for list in ["stop.txt", "stop.txt.gz"] {
        let texts = ["distance", "king cat", "dog queen", "--stop-words", list];
        assert_eq!(place.run_with(&texts).succeeded(), expected);
    }
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_is_told_before_the_work() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let place = Place::with_docs();
    std::fs::create_dir(place.path("closed")).unwrap();
    set_permissions(place.path("closed"), Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(place.path("closed/x"), "").is_ok() {
        // The superuser writes where he likes.
        return;
    }
    for (arguments, sentence) in [
        (
            "embed missing.txt -o closed/x.npy",
            "cannot write closed/x.npy: permission denied",
        ),
        (
            "train missing.tsv --label-column topic -o closed/x.wmc",
            "cannot write closed/x.wmc: permission denied",
        ),
        (
            "train docs.tsv --column text --label-column topic -o x.wmc --cache closed",
            "cannot use the cache closed: permission denied",
        ),
    ] {
        place.write("docs.tsv", "topic\ttext\na\tcat\n");
        place.run(arguments).failed(1, sentence);
    }
}

#[cfg(unix)]
#[test]
fn an_output_never_replaces_an_input_by_whatever_name() {
    let place = Place::with_docs();
    let text = place.read("docs.txt");
    let rows = "animals\ta cat and a dog\nrule\tthe king and the queen\n".repeat(6);
    place.write("news.tsv", format!("topic\ttext\n{rows}"));
    place.write("glove.txt", crate::support::GLOVE);
    place.write("stop.html", "the\n");
    place.ok("fit docs.txt -o model.wme -q");
    let train = "train news.tsv --column text --label-column topic --features 8 --d-max 2";
    place.ok(&format!("{train} -o news.wmc -q"));
    std::os::unix::fs::symlink("docs.txt", place.path("soft.npy")).unwrap();
    std::fs::hard_link(place.path("docs.txt"), place.path("hard.csv")).unwrap();
    std::os::unix::fs::symlink("glove.txt", place.path("soft.safetensors")).unwrap();
    let before = place.names();
    for (arguments, option, output, input) in [
        (
            "embed docs.txt -o soft.npy",
            "--output",
            "soft.npy",
            "docs.txt",
        ),
        (
            "embed docs.txt -o hard.csv",
            "--output",
            "hard.csv",
            "docs.txt",
        ),
        (
            "embed docs.txt -o x.npy --save-model docs.txt",
            "--save-model",
            "docs.txt",
            "docs.txt",
        ),
        (
            "embed docs.txt --vectors glove.txt --save-model glove.txt",
            "--save-model",
            "glove.txt",
            "glove.txt",
        ),
        (
            "fit docs.txt -o ./docs.txt",
            "--output",
            "./docs.txt",
            "docs.txt",
        ),
        (
            "fit docs.txt --stop-words stop.html -o stop.html",
            "--output",
            "stop.html",
            "stop.html",
        ),
        (
            "predict news.wmc hard.csv -o hard.csv",
            "--output",
            "hard.csv",
            "hard.csv",
        ),
        (
            "vectors convert glove.txt -o soft.safetensors",
            "--output",
            "soft.safetensors",
            "glove.txt",
        ),
        (
            "distance cat dog --model model.wme --svg model.wme",
            "--svg",
            "model.wme",
            "model.wme",
        ),
        (
            "evaluate news.tsv --column text --label-column topic --report news.tsv",
            "--report",
            "news.tsv",
            "news.tsv",
        ),
        (
            "train news.tsv --column text --label-column topic -o news.tsv",
            "--output",
            "news.tsv",
            "news.tsv",
        ),
    ] {
        for force in ["", " --force"] {
            place.run(&format!("{arguments}{force}")).failed(
                2,
                &format!("{option} {output} would replace {input}, which is read here"),
            );
        }
        assert_eq!(place.names(), before, "{arguments}");
    }
    assert_eq!(place.read("docs.txt"), text);
    // Standard input is a file, too.
    let documents = std::fs::File::open(place.path("docs.txt")).unwrap();
    let child = place
        .command("embed - --format text -o hard.csv --force".split(' '))
        .stdin(documents)
        .spawn()
        .unwrap();
    crate::support::wait(child).failed(
        2,
        "--output hard.csv would replace standard input, which is read here",
    );
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let place = Place::with_docs();
    place.write(".docs.npy.aB3xYz.part", "half");
    place.write(".other.npy.aB3xYz.part", "half");
    place.ok("embed docs.txt -o docs.npy --features 4 -q");
    let names: Vec<String> = place.names().into_iter().collect();
    assert_eq!(names, [".other.npy.aB3xYz.part", "docs.npy", "docs.txt"]);
}
