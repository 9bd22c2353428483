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
            "empty.txt counts no word that glove-6b-100d-80k knows",
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
        "--column is for TSV and CSV; in a text file every line is a document; \
         standard input is text unless --format says otherwise",
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
