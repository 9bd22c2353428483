//! `wordmover vectors`: info, convert, nearest.

use serde_json::Value;

use crate::support::{GLOVE, Place, gzip};

fn place() -> Place {
    let place = Place::with_docs();
    place.write("glove.txt", GLOVE);
    place
}

fn info(place: &Place, arguments: &str) -> Value {
    let printed = place.ok(&format!("vectors info --json{arguments}"));
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn info_describes_the_built_in_vectors_and_others() {
    let place = place();
    let printed = place.ok("vectors info --verify");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "name       minilm-160d-81k",
            "words      81000",
            "dimension  160",
            "precision  int8"
        ]
    );
    assert!(lines[4].starts_with("sha256     ") && lines[4].ends_with(" (verified)"));
    assert_eq!(lines[5], "first      the of and to in");

    let glove = info(&place, " glove.txt");
    assert_eq!(glove["words"], 8);
    assert_eq!(glove["dim"], 3);
    assert_eq!(glove["precision"], "f32");
    assert_eq!(glove["first_words"][7], Value::Null);
    assert_eq!(info(&place, " glove.txt --limit 2")["words"], 2);
    place.write("headed.vec", format!("8 3\n{GLOVE}"));
    place.write("zipped", gzip(GLOVE));
    for same in [" headed.vec", " zipped"] {
        assert_eq!(info(&place, same)["checksum"], glove["checksum"]);
    }
}

#[test]
fn convert_keeps_the_vectors_as_precisely_as_asked() {
    let place = place();
    for (precision, tolerance) in [("f32", 0.0), ("f16", 2e-3), ("int8", 2e-2)] {
        let file = format!("{precision}.safetensors");
        let ended = place.run(&format!(
            "vectors convert glove.txt -o {file} --precision {precision}"
        ));
        assert_eq!(ended.stdout, "");
        let summary = format!("wrote {file}: 8 words x 3, {precision}\n");
        assert!(ended.stderr.starts_with(&summary), "{}", ended.stderr);
        place.ok(&format!("vectors info {file} --verify"));
        assert_eq!(info(&place, &format!(" {file}"))["precision"], precision);
        let distance = |vectors: &str| -> f64 {
            let printed = place.ok(&format!("distance obama chicago --vectors {vectors}"));
            printed.trim_end().parse().unwrap()
        };
        let difference = (distance("glove.txt") - distance(&file)).abs();
        assert!(difference <= tolerance, "{precision}: {difference}");
        // Converted again at the same precision, not a byte changes.
        place.ok(&format!(
            "vectors convert {file} -o again.safetensors --precision {precision} --force -q"
        ));
        assert_eq!(
            place.read("again.safetensors"),
            place.read(&file),
            "{precision}"
        );
    }
    assert_eq!(
        info(&place, " f32.safetensors")["checksum"],
        info(&place, " glove.txt")["checksum"]
    );
    for (vectors, output) in [("glove.txt", "a.npy"), ("f32.safetensors", "b.npy")] {
        place.ok(&format!("embed docs.txt --vectors {vectors} -o {output}"));
    }
    assert_eq!(place.read("a.npy"), place.read("b.npy"));
}

#[test]
fn convert_keeps_only_the_first_words_if_told() {
    let place = place();
    let ended = place.run("vectors convert glove.txt -o three.safetensors --limit 3 -q");
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "", "")
    );
    assert_eq!(
        info(&place, " three.safetensors")["first_words"],
        serde_json::json!(["obama", "president", "media"])
    );
    place
        .run("vectors convert glove.txt -o three.safetensors")
        .failed(1, "three.safetensors exists; pass --force to replace it");
    place.run("vectors convert glove.txt -o glove.bin").failed(
        2,
        "glove.bin: the native form is written to a .safetensors file",
    );
}

#[test]
fn nearest_words_make_sense() {
    let place = place();
    let printed = place.ok("vectors nearest king -k 3");
    assert_eq!(
        printed,
        "0.9181  kings\n0.8128  kingsmead\n0.7382  kingship\n"
    );
    assert_eq!(place.ok("vectors nearest king").lines().count(), 10);
    let json: Value =
        serde_json::from_str(&place.ok("vectors nearest obama -k 2 --json --vectors glove.txt"))
            .unwrap();
    assert_eq!(json["word"], "obama");
    assert_eq!(json["nearest"][0]["word"], "president");
    assert_eq!(json["nearest"].as_array().unwrap().len(), 2);
    let all = place.ok("vectors nearest cat -k 99999999 --vectors glove.txt --limit 7");
    assert_eq!(all.lines().count(), 6);
    place.run("vectors nearest King").failed(
        1,
        "minilm-160d-81k does not know \"King\", but it knows \"king\"",
    );
    place
        .run("vectors nearest ᚠᚢᚦ")
        .failed(1, "minilm-160d-81k does not know \"ᚠᚢᚦ\"");
}

#[test]
fn what_holds_no_vectors_is_refused_by_name() {
    let place = place();
    place.ok("fit docs.txt -o model.wme -q");
    place.write("empty.txt", "");
    place.write("ragged.txt", "cat 1 2 3\ndog 1 2\n");
    place.write("words.txt", "cat 1 2 x\n");
    place.write("cut.txt.gz", &gzip(GLOVE)[..40]);
    place.write("nan.txt", "cat 1 nan\ndog 1 2\n");
    for (name, reason) in [
        ("missing.txt", "cannot read missing.txt: "),
        (".", "cannot read .: "),
        ("docs.txt", "docs.txt: not a known word-vector format: "),
        ("empty.txt", "empty.txt: it holds no words"),
        ("ragged.txt", "ragged.txt: "),
        ("words.txt", "words.txt: "),
        ("cut.txt.gz", "cut.txt.gz"),
        (
            "model.wme",
            "model.wme: a safetensors file, but not of word vectors: ",
        ),
    ] {
        for command in [
            "vectors info",
            "vectors convert -o x.safetensors",
            "distance cat dog --vectors",
            "embed docs.txt -o x.npy --vectors",
        ] {
            let ended = place.run(&format!("{command} {name}"));
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{name}");
            let said = ended.stderr;
            assert!(said.contains(reason) && said.lines().count() == 1, "{said}");
        }
    }
    let ended = place.run("distance cat dog --vectors nan.txt");
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{ended:?}"
    );
}

#[test]
fn words_that_are_not_known_are_listed_and_low_coverage_is_told() {
    let place = place();
    place.write("german.txt", "Wissenschaftler entdeckten gestern merkw\u{fc}rdige Zusammenh\u{e4}nge\nWissenschaftler schweigen\n");
    let listed = place.ok("vectors coverage german.txt -q");
    assert!(listed.starts_with("2\twissenschaftler\n"), "{listed}");
    let json: Value =
        serde_json::from_str(&place.ok("vectors coverage german.txt --json")).unwrap();
    assert_eq!(json["words"][0]["count"], 2);
    assert_eq!(json["words"][0]["composed"], true);
    let ended = place.run("embed german.txt -o german.npy");
    let told = "few words are known; the most frequent others: wissenschaftler ";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("% composed of their parts"),
        "{}",
        ended.stderr
    );
}

#[test]
fn misspelt_and_invented_words_have_neighbours_and_a_distance() {
    let place = place();
    let nearest = |word: &str| place.ok(&format!("vectors nearest {word} -k 10"));
    for (word, expected) in [
        ("goverment", "government"),
        ("govermental", "governmental"),
        ("pharmacologicaly", "pharmacology"),
        ("ibuprofene", "ibuprofen"),
    ] {
        let found = nearest(word);
        assert!(found.contains(expected), "{word}: {found}");
    }
    assert_eq!(nearest("Zyrtecon").lines().count(), 10);
    let distance = |a: &str, b: &str| -> f64 {
        let said = place.ok(&format!("distance {a} {b}"));
        said.trim().parse().unwrap()
    };
    assert!(distance("govermental", "governmental") < distance("govermental", "banana"));
    assert!(distance("Zyrtecon", "ibuprofene").is_finite());
}

#[test]
fn words_cannot_be_composed_with_vectors_without_parts_of_words() {
    let place = place();
    place.write("docs.txt", "a cat\n");
    for command in [
        "embed docs.txt -o x.npy",
        "distance cat dog",
        "search docs.txt cat",
    ] {
        place
            .run(&format!("{command} --vectors glove.txt --unknown compose"))
            .failed(
                2,
                "--unknown compose needs parts of words, which glove.txt does not have; pass random or skip",
            );
    }
    assert!(!place.names().contains("x.npy"));
}
