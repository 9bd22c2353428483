//! `wordmover distance`: the number, the plan and the drawing.

use serde_json::Value;

use crate::support::{GLOVE, Place};

const FIRST: &str = "Obama speaks to the media in Illinois";
const SECOND: &str = "The president greets the press in Chicago";

fn distance(place: &Place, first: &str, second: &str) -> f64 {
    let printed = place.run_with(&["distance", first, second]).succeeded();
    printed.strip_suffix('\n').unwrap().parse().unwrap()
}

fn json(place: &Place, first: &str, second: &str) -> Value {
    let ended = place.run_with(&["distance", first, second, "--json"]);
    assert_eq!(ended.stderr, "");
    serde_json::from_str(&ended.succeeded()).unwrap()
}

#[test]
fn the_paper_s_example_is_explained() {
    let place = Place::new();
    let ended = place.run_with(&["distance", FIRST, SECOND, "--explain"]);
    assert_eq!(ended.stderr, "");
    let (head, table) = ended.stdout.split_once('\n').unwrap();
    let said: f64 = head.strip_prefix("distance ").unwrap().parse().unwrap();
    assert!((said - 0.976_918_858_096_319_7).abs() < 1e-12, "{said}");
    assert_eq!(
        table,
        "\n\
         from        to           mass  distance  share of the whole\n\
         speaks   -> greets     0.2500    1.1784   30.2% ######\n\
         media    -> press      0.2500    0.9379   24.0% #####\n\
         obama    -> president  0.2500    0.9179   23.5% #####\n\
         illinois -> chicago    0.2500    0.8734   22.4% ####\n"
    );
    let ended = place.run_with(&["distance", "cat ᚠᚢᚦ", "dog ᚦᚢᚠ ᚠᚢᚦ", "--explain"]);
    assert!(
        ended.stdout.ends_with("\n\nunknown: ᚠᚢᚦ ᚦᚢᚠ\n"),
        "{}",
        ended.stdout
    );
    assert_eq!(ended.stderr, "");
}

#[test]
fn json_accounts_for_the_distance() {
    let place = Place::new();
    for (first, second) in [
        (FIRST, SECOND),
        ("cat cat dog", "dog king of Paris, queen ᚠᚢᚦ 'ünknøwn'"),
        ("physics", "students read books about quantum mechanics"),
    ] {
        let plan = json(&place, first, second);
        let moves = plan["moves"].as_array().unwrap();
        let number = |step: &Value, name: &str| step[name].as_f64().unwrap();
        let mass: f64 = moves.iter().map(|step| number(step, "mass")).sum();
        let cost: f64 = moves
            .iter()
            .map(|step| number(step, "mass") * number(step, "cost"))
            .sum();
        assert!((mass - 1.0).abs() < 1e-12, "{mass}");
        let said = plan["distance"].as_f64().unwrap();
        assert!((cost - said).abs() < 1e-12, "{cost} and {said}");
        assert!((said - distance(&place, first, second)).abs() < 1e-15);
        for step in moves {
            assert!(step["from"].is_string() && step["to"].is_string());
            assert_eq!(step["from"] == step["to"], number(step, "cost") == 0.0);
            let words = step.as_object().unwrap();
            assert_eq!(words.len(), 4);
        }
        assert_eq!(plan.as_object().unwrap().len(), 3);
    }
    let plan = json(&place, "cat ᚠᚢᚦ", "dog \"ᚦᚢᚠ\" ᚠᚢᚦ");
    assert_eq!(plan["unknown"], serde_json::json!(["ᚠᚢᚦ", "ᚦᚢᚠ"]));
    assert_eq!(json(&place, "cat", "dog")["unknown"], serde_json::json!([]));
}

#[test]
fn distances_are_symmetric_and_zero_between_equal_bags() {
    let place = Place::new();
    let there = distance(&place, FIRST, SECOND);
    let back = distance(&place, SECOND, FIRST);
    assert!((there - back).abs() < 1e-12, "{there} and {back}");
    for other in [
        FIRST,
        "illinois MEDIA; obama speaks!",
        &format!("{FIRST} {FIRST}"),
    ] {
        assert_eq!(distance(&place, FIRST, other), 0.0, "{other}");
    }
    let ended = place.run_with(&["distance", "cat", "a cat", "--explain"]);
    assert!(
        ended.stdout.starts_with("distance 0\n\n"),
        "{}",
        ended.stdout
    );
    assert!(
        ended
            .stdout
            .ends_with("cat  -> cat  1.0000    0.0000    0.0%\n")
    );
}

#[test]
fn unknown_words_are_told_apart_from_the_result() {
    let ended = Place::new().run_with(&["distance", "cat ᚠᚢᚦ", "cat ᚦᚢᚠ"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "0\n", "unknown words: ᚠᚢᚦ ᚦᚢᚠ\n")
    );
}

#[test]
fn a_text_without_a_known_word_has_no_distance() {
    let place = Place::new();
    let reason = "has no Word Mover's Distance: it has no word that minilm-160d-81k knows, apart from stop words";
    for text in ["", "  ", "the of and", "ᚱᚢᚾ", "!?", "\n\u{1b}[?"] {
        for arguments in [[text, "a cat"], ["a cat", text]] {
            place
                .run_with(&["distance", arguments[0], arguments[1], "--json"])
                .failed(1, &format!("{text:?} {reason}"));
        }
    }
    let long = "ᚠᚢᚦ ".repeat(10_000);
    place
        .run_with(&["distance", &long, "cat", "--svg", "plan.svg"])
        .failed(1, &format!("{:?}... {reason}", "ᚠᚢᚦ ".repeat(15)));
    assert!(place.names().is_empty());
    // Stop words count where none are dropped.
    place.ok("distance the of --stop-words none");
}

#[test]
fn texts_are_never_files_and_may_begin_with_a_hyphen() {
    let place = Place::new();
    place.write("cat", "dog");
    assert_eq!(place.ok("distance cat cat"), "0\n");
    assert!(place.ok("distance dog cat") != "0\n");
    assert_eq!(
        place
            .run_with(&["distance", "--", "-cat", "cat"])
            .succeeded(),
        "0\n"
    );
    place.run_with(&["distance", "-cat", "dog"]).failed(
        2,
        "unexpected argument '-c' found; to pass '-c' as a value, use '-- -c'",
    );
}

#[test]
fn options_change_vectors_and_words() {
    let place = Place::new();
    place.write("glove.txt", GLOVE);
    place.write("stop.txt", "dog\n");
    // |cat - dog| before and after both are scaled to length 1.
    let printed = place.ok("distance cat dog --vectors glove.txt --normalize none");
    let said: f64 = printed.trim_end().parse().unwrap();
    assert!((said - 0.03f64.sqrt()).abs() < 1e-6, "{said}");
    let unit = place.ok("distance cat dog --vectors glove.txt");
    let cosine = (0.30 + 0.20 + 0.02) / (0.51f64.sqrt() * 0.56f64.sqrt());
    let wanted = (2.0 - 2.0 * cosine).sqrt();
    assert!(
        (unit.trim_end().parse::<f64>().unwrap() - wanted).abs() < 1e-6,
        "{unit}"
    );
    let dropped = place.run_with(&["distance", "cat", "cat dog", "--stop-words", "stop.txt"]);
    assert_eq!(dropped.succeeded(), "0\n");
    let keep = [
        "distance",
        "Cat",
        "dog",
        "--case",
        "keep",
        "--unknown",
        "skip",
    ];
    place.run_with(&keep).failed(
        1,
        "\"Cat\" has no Word Mover's Distance: it has no word that minilm-160d-81k knows, apart from stop words",
    );
}

/// Vectors without parts of words give an unknown word one of its own, unless told not to.
#[test]
fn no_word_is_lost_with_foreign_vectors() {
    let place = Place::new();
    place.write("glove.txt", "cat 0.5 0.5 0.1\ndog 0.6 0.4 0.2\n");
    let distance = |first: &str, second: &str| {
        let printed = place.run_with(&["distance", first, second, "--vectors", "glove.txt"]);
        printed.succeeded().trim_end().parse::<f64>().unwrap()
    };
    assert_eq!(distance("cat zyrtecon", "zyrtecon cat"), 0.0);
    assert!(distance("zyrtecon", "goverment") > 0.0);
    assert!(distance("cat zyrtecon", "cat") > 0.0);
    let skip = "distance zyrtecon cat --vectors glove.txt --unknown skip";
    let skip: Vec<&str> = skip.split(' ').collect();
    place.run_with(&skip).failed(
        1,
        "\"zyrtecon\" has no Word Mover's Distance: it has no word that glove.txt knows, apart from stop words",
    );
}

#[test]
fn the_drawing_is_well_formed_and_holds_every_word_and_move() {
    let place = Place::new();
    let ended = place.run_with(&["distance", FIRST, SECOND, "--svg", "plan.svg", "--json"]);
    let plan: Value = serde_json::from_str(&ended.succeeded()).unwrap();
    let svg = place.read_text("plan.svg");
    let (n_elements, text) = check_xml(&svg);
    let moves = plan["moves"].as_array().unwrap();
    assert!(n_elements > 3 * moves.len());
    assert_eq!(svg.matches("<path ").count(), moves.len());
    for step in moves {
        let (from, to) = (step["from"].as_str().unwrap(), step["to"].as_str().unwrap());
        assert!(
            text.contains(&format!("{from} to {to}: mass 0.2500, ")),
            "{text}"
        );
    }
    assert!(text.contains("Word Mover's Distance 0.9769"));

    place
        .run("distance cat dog --svg plan.svg")
        .failed(1, "plan.svg exists; pass --force to replace it");
    assert_eq!(place.read_text("plan.svg"), svg);
    place.ok("distance cat dog --svg plan.svg --force");
    assert_ne!(place.read_text("plan.svg"), svg);
}

/// Checks that tags are closed in order, attributes quoted and entities known.
/// Returns the number of elements and the text outside tags.
fn check_xml(document: &str) -> (usize, String) {
    let (mut open, mut n_elements, mut text) = (Vec::new(), 0, String::new());
    let mut rest = document;
    while let Some((before, after)) = rest.split_once('<') {
        for part in before.split('&').skip(1) {
            let entity = part.split_once(';').unwrap().0;
            assert!(
                ["amp", "lt", "gt", "quot", "apos"].contains(&entity),
                "&{part}"
            );
        }
        assert!(!before.contains('>'), "{before}");
        text += before;
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        n_elements += 1;
        let name = tag.split([' ', '/']).next().unwrap();
        assert!(
            tag.matches('"').count() % 2 == 0 && !tag.contains('&'),
            "{tag}"
        );
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty() && document.starts_with("<svg "));
    (n_elements, text)
}

#[test]
fn the_best_part_of_the_mass_moves_and_the_rest_is_listed() {
    let place = Place::new();
    let texts = ["a cat on the mat", "a cat"];
    let whole = distance(&place, texts[0], texts[1]);
    let call = |options: &[&str]| {
        let mut arguments = vec!["distance", texts[0], texts[1]];
        arguments.extend(options);
        place.run_with(&arguments)
    };
    let plan: Value =
        serde_json::from_str(&call(&["--mass", "0.75", "--json"]).succeeded()).unwrap();
    assert_eq!(plan["mass"], 0.75);
    // "cat" stays where it is; a quarter of the whole comes from "mat".
    let said = plan["distance"].as_f64().unwrap();
    assert!((said - whole / 2.0).abs() < 1e-12, "{said} of {whole}");
    assert_eq!(plan["unmatched"][0][0]["word"], "mat");
    assert_eq!(plan["unmatched"][1][0]["word"], "cat");
    let explained = call(&["--mass", "0.5", "--explain", "--svg", "plan.svg"]).succeeded();
    assert!(
        explained.starts_with("distance 0\nmass moved 0.5\n"),
        "{explained}"
    );
    assert!(
        explained.ends_with(
            "\nunmatched words of the first text: mat 0.5000\n\
             \nunmatched words of the second text: cat 0.5000\n"
        ),
        "{explained}"
    );
    assert!(
        place
            .read_text("plan.svg")
            .contains("50.0 % of the mass moved")
    );
    let all: f64 = call(&["--mass", "1"]).succeeded().trim().parse().unwrap();
    assert!((all - whole).abs() < 1e-12);
    let little: f64 = call(&["--penalty", "0.1"])
        .succeeded()
        .trim()
        .parse()
        .unwrap();
    assert!((little - 0.1).abs() < 1e-12, "{little}");
    for mass in ["0", "1.1", "-1", "nan", "much"] {
        let ended = call(&["--mass", mass]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    }
    assert_eq!(call(&["--mass", "1", "--penalty", "1"]).code, Some(2));
}
