//! The report of an evaluation: one HTML file that needs nothing else.

mod confusion;
mod curves;
mod surface;
mod svg;

use std::fmt::Write;

use wordmover_classify::{CrossValidation, Evaluation, Outcome, weighting_name};

use svg::escape;

/// What was evaluated.
pub struct Heading {
    pub corpus: String,
    /// Names and values.
    pub facts: Vec<(&'static str, String)>,
}

const STYLE: &str = "\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.accuracy { font-size: 2.6rem; font-weight: 600; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: right; }
td:first-child, th:first-child { text-align: left; }
.facts td { text-align: left; vertical-align: top; overflow-wrap: anywhere; } .facts td:first-child { color: #666; white-space: nowrap; }
svg { max-width: 100%; height: auto; } figure { margin: 0 1rem 1rem 0; display: inline-block; vertical-align: top; }
figcaption { color: #666; font-size: .85rem; }
summary { cursor: pointer; }";

/// The whole page. `classes` are names by number.
pub fn html(heading: &Heading, classes: &[String], evaluation: &Evaluation) -> String {
    let mut page = String::new();
    let title = format!("wordmover evaluate: {}", escape(&heading.corpus));
    let _ = writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>\n{STYLE}\n</style>\n<h1>{}</h1>",
        escape(&heading.corpus)
    );
    let spread = match evaluation.outcomes.len() {
        1 => String::new(),
        n => format!(" ± {:.2} over {n} splits", 100.0 * evaluation.deviation),
    };
    let confusion = &evaluation.confusion;
    let _ = writeln!(
        page,
        "<p><span class=\"accuracy\">{:.2} %</span> accuracy{spread}, macro F1 {:.2} %</p>",
        100.0 * evaluation.accuracy,
        100.0 * confusion.macro_f1()
    );
    page.push_str("<table class=\"facts\">\n");
    for (name, value) in &heading.facts {
        let _ = writeln!(page, "<tr><td>{name}</td><td>{}</td></tr>", escape(value));
    }
    page.push_str("</table>\n");

    page.push_str("<h2>Classes</h2>\n");
    let names: Vec<&str> = confusion
        .classes()
        .iter()
        .map(|&class| classes[class].as_str())
        .collect();
    page.push_str(&class_table(&names, evaluation));
    page.push_str("<h2>Confusion matrix</h2>\n");
    page.push_str(&confusion::figure(&names, confusion));

    page.push_str("<h2>Splits</h2>\n");
    page.push_str(&split_table(evaluation));

    page.push_str("<h2>Cross-validation</h2>\n");
    for (i, outcome) in evaluation.outcomes.iter().enumerate() {
        let open = if i == 0 { " open" } else { "" };
        let _ = writeln!(page, "<details{open}><summary>split {}</summary>", i + 1);
        page.push_str("<ul>\n");
        for note in &outcome.notes {
            let _ = writeln!(page, "<li>{}</li>", escape(note));
        }
        page.push_str("</ul>\n");
        page.push_str(&cross_validation(outcome));
        page.push_str("</details>\n");
    }
    page.push_str("</html>\n");
    page
}

/// What was chosen, in a few words.
pub fn choice(cross_validation: &CrossValidation) -> String {
    match cross_validation {
        CrossValidation::Wme { choice, .. } => format!(
            "{}, D_max = {}, R = {}, gamma = {:.4}, C = {:.3e}",
            weighting_name(choice.weighting),
            choice.d_max,
            choice.n_features,
            choice.gamma,
            choice.cost
        ),
        CrossValidation::KnnWmd { choice, .. } => {
            format!("{}, K = {}", weighting_name(choice.weighting), choice.k)
        }
        _ => String::new(),
    }
}

fn cross_validation(outcome: &Outcome) -> String {
    match &outcome.cross_validation {
        CrossValidation::Wme { choice, rounds } => surface::figures(rounds, choice),
        CrossValidation::KnnWmd { choice, curves } => curves::figure(curves, choice),
        _ => String::new(),
    }
}

fn class_table(names: &[&str], evaluation: &Evaluation) -> String {
    let mut table = String::from(
        "<table>\n<tr><th>class</th><th>documents</th><th>predicted</th><th>precision</th>\
         <th>recall</th><th>F1</th></tr>\n",
    );
    for (name, figures) in names.iter().zip(evaluation.confusion.class_figures()) {
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.2} %</td><td>{:.2} %</td><td>{:.2} %</td></tr>",
            escape(name),
            figures.n_rows,
            figures.n_predicted,
            100.0 * figures.precision,
            100.0 * figures.recall,
            100.0 * figures.f1
        );
    }
    table + "</table>\n"
}

fn split_table(evaluation: &Evaluation) -> String {
    let mut table = String::from(
        "<table>\n<tr><th>split</th><th>trained on</th><th>tested on</th><th>held out</th>\
         <th>training</th><th>test</th><th>chosen</th></tr>\n",
    );
    for (i, outcome) in evaluation.outcomes.iter().enumerate() {
        let training = outcome.train_accuracy;
        let training = training.map_or(String::new(), |share| format!("{:.2} %", 100.0 * share));
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.2} %</td><td>{training}</td>\
             <td>{:.2} %</td><td>{}</td></tr>",
            i + 1,
            outcome.n_train,
            outcome.n_test,
            100.0 * outcome.cross_validation.accuracy(),
            100.0 * outcome.accuracy,
            choice(&outcome.cross_validation)
        );
    }
    table + "</table>\n"
}
