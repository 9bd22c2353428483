//! The console examples of the README and the guide print what they show, the README stays
//! short, and what the documents link to is there.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a document and the lines it shows below it.
struct Example {
    command: Vec<String>,
    shown: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_console_examples_of_the_readme_print_what_they_show() {
    run_examples("README.md", 6);
}

#[test]
fn the_console_examples_of_the_guide_print_what_they_show() {
    run_examples("docs/guide.md", 8);
}

#[test]
fn the_readme_has_at_most_900_words() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let n_words = readme.split_whitespace().count();
    assert!(n_words <= 900, "{n_words} words");
}

#[test]
fn what_the_documents_link_to_is_there() {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|suffix| suffix == "md"));
    let top = [
        "README.md",
        "CONTRIBUTING.md",
        "RELEASE.md",
        "SECURITY.md",
        "bench/README.md",
    ];
    for document in docs.chain(top.map(|name| root().join(name))) {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = link.split('#').next().unwrap_or_default();
            let is_file = !file.is_empty() && !file.contains("://");
            let target = document.parent().unwrap().join(file);
            assert!(
                !is_file || target.exists(),
                "{}: {link}",
                document.display()
            );
        }
    }
}

fn run_examples(document: &str, least: usize) {
    let root = root();
    let text = std::fs::read_to_string(root.join(document)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    for headlines in ["examples/headlines.txt", "examples/headlines.tsv"] {
        let headlines = PathBuf::from(headlines);
        std::fs::copy(root.join(&headlines), folder.path().join(&headlines)).unwrap();
    }

    let examples = examples(&text);
    assert!(examples.len() >= least, "found {} examples", examples.len());
    for Example { command, shown } in examples {
        assert_eq!(command[0], "wordmover");
        let output = Command::new(env!("CARGO_BIN_EXE_wordmover"))
            .args(&command[1..])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8(printed).unwrap();
        let printed: Vec<String> = printed.lines().map(without_times).collect();
        let shown: Vec<String> = shown.iter().map(|line| without_times(line)).collect();
        assert_eq!(printed, shown, "{command:?}");
    }
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (line, inside) {
            ("```console", _) => inside = true,
            ("```", _) => inside = false,
            (line, true) => match line.strip_prefix("$ ") {
                Some(command) => examples.push(Example {
                    command: words(command),
                    shown: Vec::new(),
                }),
                None => examples.last_mut().unwrap().shown.push(line.to_owned()),
            },
            _ => {}
        }
    }
    examples
}

/// Splits at blanks outside double quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in command.split('"').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Seconds and documents per second are of the moment.
fn without_times(line: &str) -> String {
    let tokens: Vec<&str> = line.split(' ').collect();
    let is_time = |i: usize| {
        let unit = tokens
            .get(i + 1)
            .map(|unit| unit.trim_end_matches([',', ';']));
        matches!(unit, Some("s" | "documents/s")) && tokens[i].parse::<f64>().is_ok()
    };
    let kept: Vec<&str> = (0..tokens.len())
        .map(|i| if is_time(i) { "_" } else { tokens[i] })
        .collect();
    kept.join(" ")
}
