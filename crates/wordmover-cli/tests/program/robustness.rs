//! Files that are not what they should be, places that cannot be written, readers
//! that go away and users who lose patience.

use std::fmt::Write as _;
use std::process::Stdio;

use crate::support::{Place, Rows, TEXTS, gzip, lines, wait};

#[test]
fn inputs_that_cannot_be_read_are_told_with_file_and_line() {
    let place = Place::new();
    std::fs::create_dir(place.path("directory.txt")).unwrap();
    place.write("latin1.txt", b"a cat\ncaf\xe9\n");
    place.write("ragged.tsv", "id\ttext\n1\ta cat\n2\tb\tc\n");
    place.write("blank.tsv", "id\ttext\n\n1\ta cat\n");
    place.write("open.csv", "id,text\n1,\"a cat\n2,dog\n");
    place.write("stray.csv", "id,text\n1,\"a\" cat\n");
    place.write("empty.csv", "");
    place.write("broken.jsonl", "{\"text\":\"a cat\"}\n{\"text\":\n");
    place.write("number.jsonl", "{\"text\":3}\n");
    place.write("other.jsonl", "{\"body\":\"a cat\"}\n");
    place.write("array.jsonl", "[\"a cat\"]\n");
    let zipped = gzip(lines(&TEXTS));
    place.write("cut.txt.gz", &zipped[..zipped.len() / 2]);
    place.write("header.txt.gz", &zipped[..5]);
    place.write("junk.txt.gz", b"\x1f\x8bnothing like gzip");
    let mut flipped = zipped.clone();
    let n = flipped.len();
    flipped[n - 6] ^= 0x40;
    place.write("flipped.txt.gz", flipped);
    let before = place.names();
    for (input, sentence) in [
        ("missing.txt", "cannot read missing.txt: no such file"),
        (
            "directory.txt",
            "cannot read directory.txt: it is a directory",
        ),
        (
            "latin1.txt",
            "latin1.txt: line 2: not valid UTF-8 from byte 4 of the line on",
        ),
        (
            "ragged.tsv --column text",
            "ragged.tsv: line 3: expected 2 columns, found 3",
        ),
        (
            "blank.tsv --column text",
            "blank.tsv: line 2: expected 2 columns, found a blank line",
        ),
        (
            "open.csv --column text",
            "open.csv: line 2: a quote in the row that starts here is never closed",
        ),
        (
            "stray.csv --column text",
            "stray.csv: line 2: a field goes on after its closing quote; a quote inside a quoted field is written twice",
        ),
        ("empty.csv", "empty.csv is empty; expected a header line"),
        (
            "broken.jsonl --field text",
            "broken.jsonl: line 2: broken JSON at column 8: EOF while parsing a value",
        ),
        (
            "number.jsonl --field text",
            "number.jsonl: line 1: the field `text` is a number, not a string",
        ),
        (
            "other.jsonl --field text",
            "other.jsonl: line 1: there is no field `text`",
        ),
        (
            "array.jsonl --field text",
            "array.jsonl: line 1: expected a JSON object, found an array",
        ),
        (
            "header.txt.gz",
            "cannot read header.txt.gz: unexpected end of file",
        ),
        (
            "junk.txt.gz",
            "cannot read junk.txt.gz: invalid gzip header",
        ),
        (
            "flipped.txt.gz",
            "cannot read flipped.txt.gz at line 8: corrupt gzip stream does not have a matching checksum",
        ),
    ] {
        for command in ["embed -o x.npy", "fit -o x.wme"] {
            place.run(&format!("{command} {input}")).failed(1, sentence);
            assert_eq!(place.names(), before, "{command} {input}");
        }
    }
    // How far a file cut short can be read is the decompressor's affair.
    let ended = place.run("embed cut.txt.gz -o x.npy");
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1));
    assert!(
        ended
            .stderr
            .starts_with("error: cannot read cut.txt.gz at line ")
    );
    assert_eq!(place.names(), before);
    place
        .run_with(&["embed", "two\nlines.txt", "-o", "x.npy"])
        .failed(1, "cannot read two\\nlines.txt: no such file");
    place
        .run("distance cat dog --stop-words latin1.txt")
        .failed(
            1,
            "latin1.txt: line 2: not valid UTF-8 from byte 4 of the line on",
        );
}

#[test]
fn odd_texts_are_documents_like_others() {
    let place = Place::new();
    let odd = [
        "\u{0}\u{1}\u{7f}",
        "\u{feff}cat",
        "cat\rdog",
        "🐈 猫 кошка قطة",
        "e\u{301}\u{301}\u{301} \u{200d}\u{200d} \u{202e}tac",
        &"a".repeat(100_000),
        &"cat ".repeat(50_000),
        "'''s 's 1.5e308 -0 ∞",
    ];
    place.write("odd.txt", lines(&odd));
    let rows = Rows::from_json_lines(&place.ok("embed odd.txt -o - --features 6"));
    assert_eq!(rows.len(), odd.len());
    assert!(rows.values.iter().all(|value| value.is_finite()));
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let place = Place::new();
    std::fs::create_dir(place.path("directory.npy")).unwrap();
    // The input is missing, but it is not even looked for.
    for (arguments, sentence) in [
        (
            "embed missing.txt -o none/docs.npy",
            "cannot write none/docs.npy: there is no directory none",
        ),
        (
            "embed missing.txt -o directory.npy --force",
            "cannot write directory.npy: it is a directory",
        ),
        (
            "embed missing.txt -o x.npy --save-model none/x.wme",
            "cannot write none/x.wme: there is no directory none",
        ),
        (
            "fit missing.txt -o none/x.wme",
            "cannot write none/x.wme: there is no directory none",
        ),
        (
            "distance ᚠᚢᚦ ᚠᚢᚦ --svg none/x.svg",
            "cannot write none/x.svg: there is no directory none",
        ),
        (
            "vectors convert missing.txt -o none/x.safetensors",
            "cannot write none/x.safetensors: there is no directory none",
        ),
    ] {
        place.run(arguments).failed(1, sentence);
    }
    assert_eq!(place.names().len(), 1);
}

/// Long documents of common words, all different.
fn many_documents(n: usize) -> String {
    const WORDS: [&str; 24] = [
        "king", "queen", "paris", "france", "london", "river", "water", "music", "film", "science",
        "school", "doctor", "hospital", "road", "city", "army", "ship", "ocean", "forest",
        "garden", "house", "kitchen", "bread", "wine",
    ];
    let mut text = String::new();
    let mut state = 1u64;
    for _ in 0..n {
        for _ in 0..80 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let word = WORDS[(state >> 33) as usize % WORDS.len()];
            write!(text, "{word} ").unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    use std::io::{BufRead, BufReader};

    let place = Place::new();
    place.write("docs.txt", many_documents(400));
    for (arguments, model) in [
        (
            "embed docs.txt -o - --features 400 --save-model kept.wme",
            Some("kept.wme"),
        ),
        ("embed docs.txt --features 400", None),
        ("vectors nearest king -k 80000", None),
    ] {
        let mut child = place.command(arguments.split(' ')).spawn().unwrap();
        let mut first = String::new();
        // Dropped after one line, as by `head -1`.
        BufReader::with_capacity(64, child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        assert!(first.ends_with('\n'));
        let ended = wait(child);
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{arguments}"
        );
        if let Some(model) = model {
            place.ok(&format!("info {model}"));
        }
    }
    for arguments in [
        "distance cat dog",
        "distance cat dog --json",
        "vectors info",
        "info kept.wme",
    ] {
        let mut child = place.command(arguments.split(' ')).spawn().unwrap();
        drop(child.stdout.take());
        let ended = wait(child);
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{arguments}"
        );
    }
}

#[test]
fn nobody_needs_to_listen_to_standard_error() {
    let place = Place::with_docs();
    let mut child = place
        .command("embed docs.txt -o docs.npy".split(' '))
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(Rows::from_npy(&place.read("docs.npy")).len(), 7);

    let mut child = place
        .command("embed missing.txt -o x.npy".split(' '))
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    use std::fs::File;

    let place = Place::with_docs();
    place.ok("fit docs.txt -o model.wme -q");
    let rows = "animals\ta cat and a dog\nrule\tthe king and the queen\n".repeat(6);
    place.write("news.tsv", format!("topic\ttext\n{rows}"));
    place.ok(
        "train news.tsv --column text --label-column topic --features 8 --d-max 2 -o news.wmc -q",
    );
    for arguments in [
        "embed docs.txt -o -",
        "distance cat dog",
        "distance cat dog --explain",
        "distance cat dog --json",
        "info model.wme",
        "info model.wme --json",
        "vectors info",
        "vectors nearest king",
        "search docs.txt cat",
        "similarity cat dog",
        "predict news.wmc docs.txt -o - -q",
        "train news.tsv --column text --label-column topic --features 8 --d-max 2 -o x.wmc --json -q --force",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let child = place
            .command(arguments.split(' '))
            .stdout(Stdio::from(full))
            .spawn()
            .unwrap();
        wait(child).failed(1, "cannot write standard output: no space left on device");
    }
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let child = place
        .command("embed docs.txt -o docs.npy".split(' '))
        .stderr(full())
        .spawn()
        .unwrap();
    assert_eq!(wait(child).code, Some(0));
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_file() {
    use std::process::Command;
    use std::time::{Duration, Instant};

    let place = Place::new();
    place.write("docs.txt", many_documents(4000));
    let embed = "embed docs.txt -o docs.npy --raw --features 4096";
    let embed_and_keep = format!("{embed} --save-model model.wme");
    let index = "index build docs.txt -o docs.wmi --features 4096 -q";
    for (signal, arguments, n_unfinished, code, what) in [
        ("-INT", embed, 1, 130, "interrupted"),
        ("-INT", embed_and_keep.as_str(), 2, 130, "interrupted"),
        ("-TERM", embed, 1, 143, "terminated"),
        ("-INT", index, 1, 130, "interrupted"),
    ] {
        let child = place.command(arguments.split(' ')).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while place.names().len() < 1 + n_unfinished {
            assert!(Instant::now() < deadline, "nothing was begun");
            std::thread::sleep(Duration::from_millis(10));
        }
        let killed = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(killed.success());
        let ended = wait(child);
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
            (
                Some(code),
                "",
                format!("{what}: unfinished files were removed\n").as_str()
            )
        );
        let names: Vec<String> = place.names().into_iter().collect();
        assert_eq!(names, ["docs.txt"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_run_leaves_a_file_that_the_next_one_removes_and_a_living_one_keeps_its() {
    use std::time::{Duration, Instant};

    let place = Place::new();
    place.write("docs.txt", many_documents(4000));
    let embed = "embed docs.txt -o docs.npy --raw --features 4096";
    let parts = || {
        let names = place.names().into_iter();
        let parts: Vec<String> = names.filter(|name| name.ends_with(".part")).collect();
        parts
    };
    // One that is still there after a while: the place is tried with a file, too.
    #[expect(
        clippy::zombie_processes,
        reason = "whoever takes the child waits for it"
    )]
    let started = || {
        let before = parts();
        let child = place.command(embed.split(' ')).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        let new_parts = || parts().into_iter().filter(|part| !before.contains(part));
        loop {
            assert!(Instant::now() < deadline, "nothing was begun");
            let seen: Vec<String> = new_parts().collect();
            std::thread::sleep(Duration::from_millis(200));
            if new_parts().any(|part| seen.contains(&part)) {
                return child;
            }
        }
    };
    let mut killed = started();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = parts();
    assert_eq!(left.len(), 1, "kill -9 cannot be caught");
    let mut living = started();
    let kept = parts();
    assert!(!kept.contains(&left[0]), "{kept:?}");
    // A third run for the same output leaves the living one's alone.
    place.write("one.txt", "a cat\n");
    place.ok("embed one.txt -o docs.npy --features 4 -q");
    assert!(kept.iter().any(|part| parts().contains(part)), "{kept:?}");
    living.kill().unwrap();
    living.wait().unwrap();
}

/// Nobody is told that a service is there which then is not.
#[test]
fn a_service_whose_files_cannot_be_used_says_only_that() {
    let place = Place::with_docs();
    for (option, sentence) in [
        ("--model none.wme", "cannot read none.wme: no such file"),
        (
            "--classifier none.wmc",
            "cannot read none.wmc: no such file",
        ),
        ("--index none.wmi", "cannot read none.wmi: no such file"),
        (
            "--index docs.txt",
            "docs.txt: not a search index of wordmover",
        ),
    ] {
        let ended = place.run(&format!("serve --port 0 {option}"));
        ended.failed(1, sentence);
    }
}
