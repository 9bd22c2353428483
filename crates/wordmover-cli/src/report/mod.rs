//! Reports of a training, a test and an evaluation: one HTML file that needs nothing else.

mod bars;
mod classes;
mod confusion;
mod curves;
mod evaluation;
mod surface;
mod svg;
mod test;
mod training;

pub use classes::Judged;
pub use evaluation::page as of_evaluation;
pub use test::page as of_test;
pub use training::page as of_training;

use std::fmt::Write;

use wordmover::WordVectors;
use wordmover_classify::{CrossValidation, WmeChoice};

use crate::markup::escape;
use crate::progress::Stages;
use bars::{BLUE, Bar};

/// What a report is about.
pub struct Heading {
    /// What was done, in a line.
    pub title: String,
    pub corpus: String,
    /// Names and values.
    pub facts: Vec<(&'static str, String)>,
}

const STYLE: &str = "\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #212529; background: #fff; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } .title { color: #666; margin: 0 0 1.2rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid #dee2e6; }
h3 { font-size: 1rem; margin: 1.4rem 0 .2rem; } p { margin: .3rem 0 .8rem; }
.accuracy { font-size: 2.6rem; font-weight: 600; line-height: 1.2; }
table { border-collapse: collapse; } td, th { padding: .15rem 1.1rem .15rem 0; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:first-child, th:first-child, .left { text-align: left; } td.name { min-width: 5rem; max-width: 22rem; white-space: normal; overflow-wrap: anywhere; }
.facts td { text-align: left; vertical-align: top; white-space: normal; overflow-wrap: anywhere; } .facts td:first-child { color: #666; white-space: nowrap; }
.bar { width: 8rem; padding-right: 0; } td.bar span { display: block; height: .7rem; border-radius: 2px; background: #a5d0f5; }
svg { max-width: 100%; height: auto; display: block; } .scroll, figure, details { overflow-x: auto; } .axis { fill: #666; }
figure { margin: .3rem 1.5rem 1rem 0; display: inline-block; vertical-align: top; max-width: 100%; } figure.wide { display: block; max-width: 50rem; }
.bars { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr max-content; gap: .3rem .6rem; align-items: center; }
.bars .name { text-align: right; overflow-wrap: anywhere; max-width: 20rem; } .bars .value { font-weight: 600; font-variant-numeric: tabular-nums; }
.track { position: relative; height: 1.1rem; } .track span { display: block; height: 100%; min-width: 1px; border-radius: 2px; } .track i { position: absolute; top: 50%; height: 0; border-top: 1.5px solid #222; }
figcaption { color: #666; font-size: .87rem; } summary { cursor: pointer; }
@media (max-width: 40rem) { body { margin: 1rem auto; } .bar, .extra { display: none; } table { font-size: .8rem; } td, th { padding-right: .45rem; } figure { margin-right: 0; }
.bars { grid-template-columns: 1fr max-content; } .bars .name { grid-column: 1 / -1; text-align: left; max-width: none; } }";

/// The whole page around its sections.
fn page(heading: &Heading, body: &str) -> String {
    let corpus = escape(&heading.corpus);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>wordmover: {corpus}</title>\n\
         <style>\n{STYLE}\n</style>\n<h1>{corpus}</h1>\n<p class=\"title\">{}</p>\n{body}",
        escape(&heading.title)
    );
    page.push_str("<h2>What was run</h2>\n");
    page.push_str(&facts(&heading.facts));
    page.push_str("</html>\n");
    page
}

fn facts(facts: &[(&'static str, String)]) -> String {
    let mut table = String::from("<table class=\"facts\">\n");
    for (name, value) in facts {
        let _ = writeln!(table, "<tr><td>{name}</td><td>{}</td></tr>", escape(value));
    }
    table + "</table>\n"
}

fn list(notes: &[String]) -> String {
    let mut list = String::from("<ul>\n");
    for note in notes {
        let _ = writeln!(list, "<li>{}</li>", escape(note));
    }
    list + "</ul>\n"
}

fn times(stages: &Stages) -> String {
    let seconds = || stages.seconds().map(|(_, seconds)| seconds);
    let bars = stages.seconds().map(|(stage, seconds)| Bar {
        name: stage.to_owned(),
        length: seconds,
        deviation: 0.0,
        label: format!("{seconds:.2} s"),
        colour: BLUE,
    });
    let bars: Vec<Bar> = bars.collect();
    let longest = seconds().fold(0.0, f64::max);
    let figure = bars::figure(&bars, longest, "Seconds by stage.");
    format!("<h2>Time</h2>\n{figure}")
}

/// The vectors in a line of facts.
pub fn describe(vectors: &WordVectors) -> String {
    let (words, dim) = (vectors.len(), vectors.dim());
    let checksum = vectors.checksum();
    format!("{}, {words} x {dim}, sha256 {checksum}", vectors.name())
}

/// What was chosen, in a few words.
pub fn choice(cross_validation: &CrossValidation) -> String {
    match cross_validation {
        CrossValidation::Wme { choice, .. } => wme_choice(choice),
        CrossValidation::KnnWmd { choice, .. } => {
            format!("{}, K = {}", choice.weighting, choice.k)
        }
        _ => String::new(),
    }
}

fn wme_choice(choice: &WmeChoice) -> String {
    let cost = format!("C = {:.3e}", choice.cost);
    if !choice.views.have_meanings() {
        return format!("{}, {cost}", choice.views);
    }
    let mut views = String::new();
    if let Some(weight) = choice.meanings_weight {
        views = format!("{} (weight of meanings {weight:.3e}), ", choice.views);
    }
    format!(
        "{views}{}, R = {}, gamma = {:.4}, {cost}",
        choice.candidate, choice.n_features, choice.gamma
    )
}
