//! The report of a test of a classifier.

use anyhow::Result;
use wordmover_classify::{Test, TextClassifier};

use super::bars::{self, BLUE, Bar, LIGHT_BLUE};
use super::{Heading, classes, list, page as whole, times};
use crate::commands::test::remarks;
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
    test: &Test,
    classifier: &TextClassifier,
    stages: &Stages,
) -> Result<String> {
    let figures = &test.figures;
    let what = match figures.confusion {
        Some(_) => "accuracy",
        None => "micro F1",
    };
    let mut body = format!(
        "<p><span class=\"accuracy\">{:.2} %</span> {what}, macro F1 {:.2} %</p>\n",
        100.0 * figures.score(),
        100.0 * figures.macro_f1
    );
    let choice = classifier.choice();
    let (held_out, deviation) = (choice.accuracy, choice.deviation);
    let bars = [
        Bar::share("held out in training", held_out, deviation, LIGHT_BLUE),
        Bar::share("these documents", figures.score(), 0.0, BLUE),
        classes::baseline(&test.classes, figures),
    ];
    let caption = "What training expected, what these documents gave, and what the most frequent \
                   class alone would give.";
    body.push_str(&bars::figure(&bars, 1.0, caption));
    let mut remarks = remarks(test);
    if let Some(loss) = test.log_loss {
        remarks.push(format!("log loss of the probabilities: {loss:.4}"));
    }
    if !remarks.is_empty() {
        body.push_str(&list(&remarks));
    }
    body.push_str(&classes::sections(&test.classes, figures, "Documents"));
    let telling = classifier.telling_words(N_WORDS)?;
    body.push_str(&classes::telling_words(classifier.classes(), &telling));
    body.push_str(&times(stages));
    Ok(whole(heading, &body))
}
