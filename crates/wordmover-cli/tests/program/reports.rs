//! What `wordmover info` and `train --report` say of a classifier.

use serde_json::Value;

use crate::classify::{TRAIN, place};
use crate::support::Place;

#[test]
fn a_classifier_is_described() {
    let place = place();
    place.ok(&format!("{TRAIN} -o news.wmc -q"));
    let info = place.ok("info news.wmc");
    let lines: Vec<&str> = info.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "classifier      5 classes: business, culture, politics, science, sport",
            "                business for a document without a known word",
            "protocol        fast (5 folds)",
        ]
    );
    let json: Value = serde_json::from_str(&place.ok("info news.wmc --json")).unwrap();
    let classifier = &json["classifier"];
    assert_eq!(classifier["classes"].as_array().unwrap().len(), 5);
    let (choice, share) = (&classifier["choice"], &classifier["train_accuracy"]);
    let percent = |share: &Value| format!("{:.2} %", 100.0 * share.as_f64().unwrap());
    let view = choice["views"].as_str().unwrap();
    assert!(
        lines[3].starts_with(&format!("view            {view}")),
        "{info}"
    );
    assert_eq!(
        lines[4],
        format!("C               {:.3e}", choice["cost"].as_f64().unwrap())
    );
    let held_out = percent(&choice["accuracy"]);
    assert!(
        lines[5].starts_with(&format!(
            "held out        {held_out} right in cross-validation, ± "
        )),
        "{info}"
    );
    assert_eq!(
        lines[6],
        format!("learnt from     {} right", percent(share))
    );
    assert_eq!(lines[7], "features        64 (R)");
    assert!(
        info.contains("minilm-160d-81k, 81000 x 160, built in\n"),
        "{info}"
    );
    // A model has no such lines.
    place.write("docs.txt", "a cat\n");
    place.ok("fit docs.txt -o model.wme -q");
    assert!(place.ok("info model.wme").starts_with("features "));
    let json: Value = serde_json::from_str(&place.ok("info model.wme --json")).unwrap();
    assert!(json.get("classifier").is_none());
}

#[test]
fn a_training_is_reported() {
    let place = place();
    let train = format!("{TRAIN} --cache cache -o news.wmc --report news.html --json");
    let ended = place.run(&train);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.ends_with("\nwrote news.html\n"),
        "{}",
        ended.stderr
    );
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["classes"][4], "sport");
    let training = &json["training"];
    assert_eq!(training["n_documents"], 40);
    let accuracy = 100.0 * training["choice"]["accuracy"].as_f64().unwrap();

    let html = place.read_text("news.html");
    assert!(html.contains(&format!(
        "{accuracy:.2} %</span> of the documents held out were predicted right"
    )));
    for section in [
        "What was chosen, and why",
        "Classes",
        "Confusion matrix",
        "Cross-validation",
        "Time",
        "What was run",
    ] {
        assert!(html.contains(&format!("<h2>{section}</h2>")), "{section}");
    }
    // Every document is held out once.
    let counts = html.split("<title>").skip(2).filter_map(|title| {
        let (_, count) = title.split_once(" as ")?.1.split_once(": ")?;
        count.split(' ').next()?.parse::<u64>().ok()
    });
    assert_eq!(counts.sum::<u64>(), 40);
    assert!(html.contains("stroke=\"#e8590c\""), "the choice is framed");
    assert!(html.contains("<h3>Views</h3>"));
    for outside in ["<script", "<link", "src=", "href=", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    // The report changes nothing about the classifier.
    place.ok(&format!("{TRAIN} -o plain.wmc -q"));
    assert_eq!(place.read("plain.wmc"), place.read("news.wmc"));

    place
        .run(&format!("{TRAIN} -o new.wmc --report news.html"))
        .failed(1, "news.html exists; pass --force to replace it");
    place
        .run(&format!("{TRAIN} -o new.wmc --report ./new.wmc"))
        .failed(2, "--output and --report name the same file");
    assert!(!place.names().contains("new.wmc"));
}

#[test]
fn names_of_classes_are_harmless_in_a_report() {
    let place = Place::new();
    let odd = "<b>&\"'\u{1}";
    let rows = format!(
        "{odd}\ta cat and a dog\nvery {}\tthe king\n",
        "long ".repeat(20)
    );
    place.write("odd.tsv", format!("topic\ttext\n{}", rows.repeat(6)));
    place.ok(
        "train odd.tsv --column text --label-column topic --features 8 --d-max 2 -o x.wmc \
         --report odd.html -q",
    );
    let html = place.read_text("odd.html");
    assert!(html.contains("&lt;b&gt;&amp;&quot;&#39; "));
    assert!(!html.contains("<b>&") && !html.contains('\u{1}'));
    // A long name is wrapped, and cut off only where there is no room for it all.
    assert!(html.contains(">very long long long long</tspan>"), "{html}");
    assert!(
        html.contains(">long long long long long…</tspan>"),
        "{html}"
    );
    assert!(html.contains(&format!("<td class=\"name\">very {}", "long ".repeat(19))));
}
