//! Calls that make no sense: code 2, one sentence, nothing done.

use crate::support::{GLOVE, Place, TEXTS};

#[test]
fn every_wrong_call_is_told_in_one_sentence() {
    let place = Place::with_docs();
    place.write("docs.tsv", "id\ttext\n1\tcat\n");
    place.write("docs.jsonl", "{\"body\":\"cat\"}\n");
    place.write("docs.dat", TEXTS[0]);
    place.write("glove.txt", GLOVE);
    place.ok("fit docs.txt -o model.wme -q");
    let before = place.names();
    let no_suffix = "from its suffix; end it in .npy, .parquet, .jsonl or .csv";
    let no_stream = "this cannot be written to standard output; name a file instead of -";
    let bad_gamma = |gamma: &str| {
        format!(
            "invalid value '{gamma}' for '--gamma <GAMMA>': expected auto, none or a positive number"
        )
    };
    for (arguments, sentence) in [
        ("sing", "unrecognized subcommand 'sing'".to_owned()),
        (
            "embed",
            "the following required arguments were not provided: <INPUT>".into(),
        ),
        (
            "embed docs.txt -o x.npy --feature 2",
            "unexpected argument '--feature' found; a similar argument exists: '--features'".into(),
        ),
        ("embed docs.txt docs.txt -o x.npy", "unexpected argument 'docs.txt' found".into()),
        ("embed docs.txt -o x.foo", format!("cannot tell the format of x.foo {no_suffix}")),
        ("embed docs.txt -o x", format!("cannot tell the format of x {no_suffix}")),
        (
            "embed docs.dat -o x.npy",
            "cannot tell the format of docs.dat from its suffix; pass --format text, tsv, csv or jsonl"
                .into(),
        ),
        (
            "embed docs.txt -o x.npy --format xml",
            "invalid value 'xml' for '--format <FORMAT>' [possible values: text, tsv, csv, jsonl]".into(),
        ),
        (
            "embed docs.tsv -o x.npy",
            "docs.tsv has 2 columns; choose the text with --column: `id`, `text`".into(),
        ),
        (
            "embed docs.tsv -o x.npy --column body",
            "docs.tsv has no column `body`; its columns are `id`, `text`".into(),
        ),
        (
            "embed docs.tsv -o x.npy --no-header",
            "docs.tsv has 2 columns; choose the text with --column, a number from 1 to 2".into(),
        ),
        (
            "embed docs.tsv -o x.npy --no-header --column 3",
            "docs.tsv has no column 3; its first row has 2 columns".into(),
        ),
        (
            "embed docs.tsv -o x.npy --no-header --column text",
            "with --no-header, --column takes the column's number, counted from 1, not `text`".into(),
        ),
        (
            "embed docs.tsv -o x.csv --column text --id-column key",
            "docs.tsv has no column `key`; its columns are `id`, `text`".into(),
        ),
        (
            "embed docs.tsv -o x.npy --column text --id-column id",
            "x.npy cannot hold ids; write .parquet, .jsonl or .csv, or leave out --id-column".into(),
        ),
        (
            "embed docs.txt -o x.npy --column text",
            "--column is for TSV, CSV and JSON lines; in a text file every line is a document".into(),
        ),
        (
            "embed docs.tsv -o x.npy --field text --column id",
            "the argument '--column <NAME>' cannot be used multiple times".into(),
        ),
        (
            "train docs.txt --label-column topic -o x.wmc --format text",
            "invalid value 'text' for '--format <FORMAT>' [possible values: tsv, csv, jsonl]".into(),
        ),
        (
            "train - --label-column topic -o x.wmc",
            "documents with labels on standard input need --format tsv, csv or jsonl".into(),
        ),
        (
            "search docs.txt cat --candidates 3",
            "--candidates needs --by embedding".into(),
        ),
        (
            "serve --host 0.0.0.0 --port 0",
            "0.0.0.0:0 can be reached from other machines: give --api-key-file, or --no-api-key to serve everybody".into(),
        ),
        (
            "serve --vectors glove.txt",
            "--vectors needs --model, --classifier or --index: the built-in model has its own".into(),
        ),
        (
            "completions tcsh",
            "invalid value 'tcsh' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]; a similar value exists: 'zsh'".into(),
        ),
        (
            "embed docs.jsonl -o x.npy",
            "JSON lines need --field, the name of the field that holds the text".into(),
        ),
        ("embed docs.txt -o x.npy --no-header", "--no-header is for TSV and CSV".into()),
        (
            "embed docs.txt -o x.npy --model model.wme --save-model y.wme",
            "the argument '--model <FILE>' cannot be used with '--save-model <FILE>'".into(),
        ),
        (
            "embed docs.txt -o x.npy --model model.wme --features 7",
            "--features cannot be given with --model: the model settles it".into(),
        ),
        (
            "embed docs.txt -o x.npy --save-model ./x.npy",
            "--output and --save-model name the same file".into(),
        ),
        (
            "embed docs.txt -o x.npy --limit 3",
            "the following required arguments were not provided: --vectors <FILE>".into(),
        ),
        (
            "embed docs.txt -o x.npy --vectors glove.txt --limit 0",
            "invalid value '0' for '--limit <N>': expected a number of at least 1".into(),
        ),
        (
            "vectors info --limit 3",
            "--limit needs a FILE: the built-in vectors are used whole".into(),
        ),
        ("embed docs.txt -o x.npy --gamma 0", bad_gamma("0")),
        ("embed docs.txt -o x.npy --gamma -1", bad_gamma("-1")),
        ("embed docs.txt -o x.npy --gamma nan", bad_gamma("nan")),
        ("embed docs.txt -o x.npy --gamma inf", bad_gamma("inf")),
        ("fit docs.txt -o x.wme --gamma big", bad_gamma("big")),
        (
            "embed docs.txt -o x.npy --threads 0",
            "invalid value '0' for '--threads <N>': 0 is not in 1..=1024".into(),
        ),
        (
            "embed docs.txt -o x.npy --threads 999999999",
            "invalid value '999999999' for '--threads <N>': 999999999 is not in 1..=1024".into(),
        ),
        (
            "embed docs.txt -o x.npy --features 0",
            "--features is 0: it must be between 1 and 1048576".into(),
        ),
        (
            "fit docs.txt -o x.wme --features 99999999999",
            "--features is 99999999999: it must be between 1 and 1048576".into(),
        ),
        (
            "embed docs.txt -o x.npy --features -5",
            "invalid value '-5' for '--features <R>': invalid digit found in string".into(),
        ),
        (
            "embed docs.txt -o x.npy --d-max 0",
            "--d-max is 0: it must be between 1 and 4096".into(),
        ),
        (
            "embed docs.txt -o x.npy --features 1048576 --d-max 4096",
            "--features times --d-max is 4294967296: it must be at most 16777216".into(),
        ),
        (
            "embed docs.txt -o x.npy --max-words 0",
            "--max-words is 0: it must be between 1 and 16777216".into(),
        ),
        (
            "embed docs.txt -o x.npy --weights bm25",
            "invalid value 'bm25' for '--weights <SCHEME>' [possible values: nbow, tfidf, sif]".into(),
        ),
        (
            "embed docs.txt -o x.npy --on-empty skip",
            "invalid value 'skip' for '--on-empty <WHAT>' [possible values: zero, nan, error]".into(),
        ),
        ("fit docs.txt -o -", no_stream.into()),
        ("embed docs.txt -o x.npy --save-model -", no_stream.into()),
        ("distance cat dog --svg -", no_stream.into()),
        (
            "distance cat",
            "the following required arguments were not provided: <TEXT>".into(),
        ),
        ("distance cat dog cow", "unexpected argument 'cow' found".into()),
        (
            "distance cat dog --json --explain",
            "the argument '--json' cannot be used with '--explain'".into(),
        ),
        (
            "distance cat dog --force",
            "the following required arguments were not provided: --svg <FILE>".into(),
        ),
        (
            "distance cat dog --normalize center",
            "invalid value 'center' for '--normalize <HOW>' [possible values: none, unit]".into(),
        ),
        (
            "vectors convert glove.txt -o x.safetensors --precision int4",
            "invalid value 'int4' for '--precision <f32|f16|int8>': unknown precision `int4`, expected f32, f16 or int8"
                .into(),
        ),
        (
            "vectors convert glove.txt -o -",
            "-: the native form is written to a .safetensors file".into(),
        ),
    ] {
        let ended = place.run(arguments);
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
            (Some(2), "", format!("error: {sentence}\n").as_str()),
            "wordmover {arguments}"
        );
        assert_eq!(place.names(), before, "wordmover {arguments}");
    }
}

#[test]
fn help_is_a_result_unless_nothing_was_asked() {
    let place = Place::new();
    for arguments in [
        "--help",
        "-h",
        "help embed",
        "embed --help",
        "vectors convert -h",
    ] {
        let ended = place.run(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(ended.stdout.contains("Usage: wordmover"), "{arguments}");
    }
    for arguments in [&[][..], &["vectors"]] {
        let ended = place.run_with(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        assert!(ended.stderr.contains("Usage: wordmover"));
    }
}

#[test]
fn the_version_names_the_revision_and_the_built_in_vectors() {
    let place = Place::new();
    let version = place.ok("--version");
    assert_eq!(version, place.ok("-V"));
    let lines: Vec<&str> = version.lines().collect();
    let start = concat!("wordmover ", env!("CARGO_PKG_VERSION"));
    let revision = lines[0].strip_prefix(start).unwrap();
    // There is none outside a checkout.
    let is_revision = |text: &str| text.len() == 12 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let named = revision
        .strip_prefix(" (")
        .and_then(|rest| rest.strip_suffix(')'));
    assert!(
        revision.is_empty() || named.is_some_and(is_revision),
        "{version}"
    );
    let info: serde_json::Value = serde_json::from_str(&place.ok("vectors info --json")).unwrap();
    let (name, words, dim) = (&info["name"], &info["words"], &info["dim"]);
    let name = name.as_str().unwrap();
    assert_eq!(
        lines[1..],
        [format!(
            "built-in vectors: {name}, {words} words of {dim} dimensions"
        )]
    );
}

#[test]
fn quiet_is_understood_everywhere() {
    let place = Place::with_docs();
    place.write("glove.txt", GLOVE);
    for arguments in [
        "distance obama ᚠᚢᚦx",
        "distance obamas ᚠᚢᚦx,president --json",
        "similarity cat ᚠᚢᚦx",
        "vectors info",
        "vectors nearest cat -k 1",
        "vectors convert glove.txt -o glove.safetensors",
        "fit docs.txt -o model.wme --features 4",
        "info model.wme",
        "embed docs.txt --features 4",
        "search docs.txt cat",
        "completions bash",
        "man .",
    ] {
        let quiet = place.run(&format!("{arguments} -q"));
        assert!(
            quiet.stderr.is_empty() || quiet.code != Some(0),
            "{quiet:?}"
        );
        assert!(!quiet.stderr.contains("unexpected argument"), "{quiet:?}");
    }
    // Notes about unknown words are for people.
    let texts = ["distance", "president ᚠᚢᚦx", "cat"];
    assert_eq!(place.run_with(&texts).stderr, "unknown words: ᚠᚢᚦx\n");
    let quiet = place.run_with(&[&texts[..], &["-q"]].concat());
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
}

#[test]
fn shells_get_completions_and_readers_manual_pages() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.ok(&format!("completions {shell}"));
        for word in ["similarity", "label-column", "completions"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    std::fs::create_dir(place.path("pages")).unwrap();
    place.ok("man pages");
    let pages: Vec<String> = std::fs::read_dir(place.path("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for page in [
        "wordmover.1",
        "wordmover-embed.1",
        "wordmover-vectors-info.1",
    ] {
        assert!(pages.contains(&page.to_owned()), "{pages:?}");
    }
    let page = place.read_text("pages/wordmover-similarity.1");
    assert!(
        page.contains(".TH") && page.contains("default: 1024"),
        "{page}"
    );
    let again = place.run("man pages");
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("exists; pass --force to replace it"));
    place.ok("man pages --force -q");
    place
        .run("man missing")
        .failed(1, "there is no directory missing");
}

#[test]
fn columns_and_fields_are_two_words_for_one_thing() {
    let place = Place::new();
    place.write("docs.tsv", "key\ttext\nx\ta cat\ny\ta dog\n");
    place.write(
        "docs.jsonl",
        "{\"key\":\"x\",\"text\":\"a cat\"}\n{\"key\":\"y\",\"text\":\"a dog\"}\n",
    );
    let expected = place.ok("embed docs.tsv --column text --id-column key --features 4 -q");
    for (file, text, id) in [
        ("docs.tsv", "field", "id-field"),
        ("docs.tsv", "text-column", "id-column"),
        ("docs.jsonl", "column", "id-column"),
        ("docs.jsonl", "field", "id-field"),
    ] {
        let embed = format!("embed {file} --{text} text --{id} key --features 4 -q");
        assert_eq!(place.ok(&embed), expected, "{embed}");
    }
}
