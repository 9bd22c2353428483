//! `wordmover explain`: the page in one file. The service itself has tests of its own.

use crate::support::Place;

#[test]
fn two_texts_are_explained_in_one_file() {
    let place = Place::new();
    let texts = [
        "Obama speaks to the media",
        "The president greets the <press>",
    ];
    let arguments = ["explain", texts[0], texts[1], "--html", "plan.html"];
    assert_eq!(place.run_with(&arguments).stderr, "wrote plan.html\n");
    let page = place.read_text("plan.html");
    assert!(page.contains("\"obama\"") && page.contains("Content-Security-Policy"));
    assert!(!page.contains("<press>") && !page.contains("{{"));
    assert!(page.len() < 80 << 10, "{}", page.len());
    place
        .run_with(&arguments)
        .failed(1, "plan.html exists; pass --force to replace it");
    place
        .run_with(&["explain", "cat", "!?", "--html", "other.html"])
        .failed(1, "\"!?\" cannot be explained: it has no word that minilm-160d-81k knows, apart from stop words");
}
