//! The report of a training.

use anyhow::Result;
use wordmover_classify::{TextClassifier, Training};

use super::bars::{self, BLUE, Bar, LIGHT_BLUE};
use super::{Heading, classes, facts, list, page as whole, surface, times};
use crate::progress::Stages;

/// Words named for each class.
const N_WORDS: usize = 15;

/// The whole page.
///
/// # Errors
///
/// As predicting a text.
pub fn page(
    heading: &Heading,
    classifier: &TextClassifier,
    training: &Training,
    stages: &Stages,
) -> Result<String> {
    let names = classifier.classes();
    let choice = &training.choice;
    let share = 100.0 * choice.accuracy;
    let mut body = match &training.held_out {
        Some(held_out) if held_out.confusion.is_some() => format!(
            "<p><span class=\"accuracy\">{share:.2} %</span> of the documents held out were \
             predicted right</p>\n"
        ),
        Some(_) => format!(
            "<p><span class=\"accuracy\">{share:.2} %</span> micro F1 on documents held out</p>\n"
        ),
        None => "<p>No document could be held out.</p>\n".to_owned(),
    };
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
        let candidate = &choice.candidate;
        let stop_words = match candidate.keep_stop_words {
            true => "kept",
            false => "dropped",
        };
        chosen.extend([
            ("weights of words", candidate.weighting.to_string()),
            ("stop words", stop_words.to_owned()),
            (
                "weights from labels",
                match candidate.label_exponent > 0.0 {
                    true => format!("to the power {}", candidate.label_exponent),
                    false => "none".to_owned(),
                },
            ),
            ("random words", candidate.random_words.to_string()),
            ("D_max", candidate.d_max.to_string()),
            ("post-processing", choice.post_processing.to_string()),
            ("R", choice.n_features.to_string()),
            ("gamma", format!("{:.4}", choice.gamma)),
        ]);
    }
    if let Some(weight) = choice.meanings_weight {
        chosen.push(("weight of meanings", format!("{weight:.3e}")));
    }
    chosen.push(("C", format!("{:.3e}", choice.cost)));
    if let Some(bias) = choice.bias {
        chosen.push(("bias", bias.to_string()));
    }
    body.push_str(&facts(&chosen));
    body.push_str(&list(&training.notes));
    let telling = classifier.telling_words(N_WORDS)?;
    body.push_str(&classes::telling_words(names, &telling));
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
    Ok(whole(heading, &body))
}
