//! The report of an evaluation.

use std::fmt::Write;

use wordmover_classify::{CrossValidation, Evaluation, Outcome};

use super::bars::{self, BLUE, Bar, LIGHT_BLUE};
use super::{Heading, choice, classes, curves, list, page as whole, surface, times};
use crate::progress::Stages;

/// The whole page. `names` are those of the classes, by number.
pub fn page(
    heading: &Heading,
    names: &[String],
    evaluation: &Evaluation,
    stages: &Stages,
) -> String {
    let figures = &evaluation.figures;
    let what = match figures.confusion {
        Some(_) => "accuracy",
        None => "micro F1",
    };
    let spread = match evaluation.outcomes.len() {
        1 => String::new(),
        n => format!(" ± {:.2} over {n} splits", 100.0 * evaluation.deviation),
    };
    let mut body = format!(
        "<p><span class=\"accuracy\">{:.2} %</span> {what}{spread}, macro F1 {:.2} %</p>\n",
        100.0 * evaluation.accuracy,
        100.0 * figures.macro_f1
    );
    let caption = "Documents predicted right, among those of each kind; and what the most \
                   frequent class alone would give.";
    body.push_str(&bars::figure(&accuracies(names, evaluation), 1.0, caption));
    body.push_str(&classes::sections(names, figures, "Test documents"));
    body.push_str("<h2>Splits</h2>\n");
    body.push_str(&split_table(evaluation));
    body.push_str("<h2>Cross-validation</h2>\n");
    for (i, outcome) in evaluation.outcomes.iter().enumerate() {
        let open = if i == 0 { " open" } else { "" };
        let _ = writeln!(body, "<details{open}><summary>split {}</summary>", i + 1);
        body.push_str(&list(&outcome.notes));
        body.push_str(&cross_validation(outcome));
        body.push_str("</details>\n");
    }
    body.push_str(&times(stages));
    whole(heading, &body)
}

fn accuracies(names: &[String], evaluation: &Evaluation) -> Vec<Bar> {
    let outcomes = &evaluation.outcomes;
    let mean = |share: &dyn Fn(&Outcome) -> Option<f64>| -> Option<f64> {
        let shares: Option<Vec<f64>> = outcomes.iter().map(share).collect();
        shares.map(|shares| shares.iter().sum::<f64>() / outcomes.len().max(1) as f64)
    };
    let mut bars = Vec::new();
    if let Some(share) = mean(&|outcome| outcome.train_accuracy) {
        bars.push(Bar::share("documents learnt from", share, 0.0, LIGHT_BLUE));
    }
    if let Some(share) = mean(&|outcome| Some(outcome.cross_validation.accuracy())) {
        bars.push(Bar::share(
            "held out in cross-validation",
            share,
            0.0,
            LIGHT_BLUE,
        ));
    }
    let (accuracy, deviation) = (evaluation.accuracy, evaluation.deviation);
    bars.push(Bar::share("test documents", accuracy, deviation, BLUE));
    bars.push(classes::baseline(names, &evaluation.figures));
    bars
}

fn cross_validation(outcome: &Outcome) -> String {
    match &outcome.cross_validation {
        CrossValidation::Wme {
            choice,
            rounds,
            views,
        } => surface::figures(rounds, choice, views),
        CrossValidation::KnnWmd { choice, curves } => curves::figure(curves, choice),
        _ => String::new(),
    }
}

fn split_table(evaluation: &Evaluation) -> String {
    let mut table = String::from(
        "<div class=\"scroll\"><table>\n<tr><th>split</th><th>trained on</th><th>tested on</th><th>learnt from</th>\
         <th>held out</th><th>test</th><th class=\"left\">chosen</th></tr>\n",
    );
    for (i, outcome) in evaluation.outcomes.iter().enumerate() {
        let training = outcome.train_accuracy;
        let training = training.map_or(String::new(), |share| format!("{:.2} %", 100.0 * share));
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{training}</td><td>{:.2} %</td>\
             <td>{:.2} %</td><td class=\"left\">{}</td></tr>",
            i + 1,
            outcome.n_train,
            outcome.n_test,
            100.0 * outcome.cross_validation.accuracy(),
            100.0 * outcome.accuracy,
            choice(&outcome.cross_validation)
        );
    }
    table + "</table></div>\n"
}
