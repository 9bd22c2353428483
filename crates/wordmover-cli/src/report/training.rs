//! The report of a training.

use wordmover_classify::Training;

use super::bars::{self, BLUE, Bar, LIGHT_BLUE};
use super::{Heading, classes, facts, list, page as whole, surface, times};
use crate::progress::Stages;

/// The whole page. `names` are those of the classes, by number.
pub fn page(heading: &Heading, names: &[String], training: &Training, stages: &Stages) -> String {
    let choice = &training.choice;
    let mut body = format!(
        "<p><span class=\"accuracy\">{:.2} %</span> of the documents held out {}were predicted \
         right</p>\n",
        100.0 * choice.accuracy,
        training
            .rounds
            .last()
            .map_or(String::new(), |round| format!(
                "in {} folds, with R = {}, ",
                round.n_folds, round.n_features
            ))
    );
    let mut accuracies = vec![
        Bar::share(
            "documents learnt from",
            training.train_accuracy,
            0.0,
            LIGHT_BLUE,
        ),
        Bar::share(
            "held out in cross-validation",
            choice.accuracy,
            choice.deviation,
            BLUE,
        ),
    ];
    if let Some(held_out) = &training.held_out {
        accuracies.push(classes::baseline(names, held_out));
    }
    let caption = "Training documents predicted right by the classifier that learnt from them, \
                   and while their fold was held out (with the deviation over the folds); and \
                   what the most frequent class alone would give.";
    body.push_str(&bars::figure(&accuracies, 1.0, caption));
    body.push_str(
        "<p>The parameters are those that look best on these very documents, so new ones will \
         do a little worse; <code>wordmover evaluate</code> measures it.</p>\n",
    );

    body.push_str("<h2>What was chosen, and why</h2>\n");
    let mut chosen = vec![("view", choice.views.to_string())];
    if choice.views.have_meanings() {
        chosen.extend([
            ("weights of words", choice.weighting.to_string()),
            ("D_max", choice.d_max.to_string()),
            ("R", choice.n_features.to_string()),
            ("gamma", format!("{:.4}", choice.gamma)),
        ]);
    }
    if let Some(weight) = choice.meanings_weight {
        chosen.push(("weight of meanings", format!("{weight:.3e}")));
    }
    chosen.push(("C", format!("{:.3e}", choice.cost)));
    body.push_str(&facts(&chosen));
    body.push_str(&list(&training.notes));
    if let Some(held_out) = &training.held_out {
        let documents = format!(
            "Training documents, each predicted with the parameters chosen (R = {}) while its fold \
             was held out",
            choice.n_features
        );
        body.push_str(&classes::sections(names, held_out, &documents));
    }
    body.push_str("<h2>Cross-validation</h2>\n");
    let views = &training.views;
    body.push_str(&surface::figures(&training.rounds, choice, views));
    body.push_str(&times(stages));
    whole(heading, &body)
}
