//! How good predictions are, as text and as JSON, on the whole and class by class.

use serde_json::{Value, json};
use wordmover_classify::Figures;

use crate::report::Judged;

/// With more classes, a row of the confusion matrix is longer than a line.
const MAX_MATRIX_CLASSES: usize = 20;

/// The figures on the whole, a line each. `spread` follows the first.
pub fn summary(figures: &Figures, accuracy: f64, spread: &str) -> String {
    let percent = |share: f64| 100.0 * share;
    let macro_f1 = percent(figures.macro_f1);
    match figures.confusion {
        Some(_) => format!(
            "accuracy  {:.2} %{spread}\nmacro F1  {macro_f1:.2} %\n",
            percent(accuracy)
        ),
        None => format!(
            "micro F1  {:.2} %{spread}\nmacro F1  {macro_f1:.2} %\nall right {:.2} % (documents \
             with all their classes and no others)\n",
            percent(accuracy),
            percent(figures.accuracy)
        ),
    }
}

/// A line for each class. `names` are those of all classes, by number.
pub fn table(names: &[String], figures: &Figures) -> String {
    let judged = Judged::new(names, figures);
    let width = judged.names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max("class".len());
    let has_matrix = judged.names.len() <= MAX_MATRIX_CLASSES;
    let heading = match (judged.counts.is_empty(), has_matrix) {
        (true, _) => "",
        (false, true) => "predicted as each class, in this order",
        (false, false) => "most often predicted as",
    };
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(format!(
        "{:width$}  documents  precision    recall        F1  {heading}",
        "class",
    ));
    for (i, (name, figures)) in judged.names.iter().zip(&judged.figures).enumerate() {
        let predicted = match (judged.counts.is_empty(), has_matrix) {
            (true, _) => String::new(),
            (false, true) => matrix_row(&judged, i),
            (false, false) => frequent_confusions(&judged, i),
        };
        line(format!(
            "{name:width$}  {:9}  {:7.2} %  {:6.2} %  {:6.2} %  {predicted}",
            figures.n_rows,
            100.0 * figures.precision,
            100.0 * figures.recall,
            100.0 * figures.f1,
        ));
    }
    text
}

fn matrix_row(judged: &Judged, class: usize) -> String {
    let greatest = judged.counts.iter().flatten().max();
    let widest = greatest.map_or(1, |n| n.to_string().len());
    let counts = judged.counts[class].iter();
    let counts = counts.map(|n| format!("{n:widest$}"));
    counts.collect::<Vec<_>>().join(" ")
}

/// The three other classes that documents of a class are most often taken for.
fn frequent_confusions(judged: &Judged, class: usize) -> String {
    let confusions = judged.confusions().into_iter();
    let confusions = confusions.filter(|&(truth, _, _)| truth == class).take(3);
    let confusions = confusions.map(|(_, other, n)| format!("{} ({n})", judged.names[other]));
    confusions.collect::<Vec<_>>().join(", ")
}

/// The figures of every class.
pub fn classes_as_json(names: &[String], figures: &Figures) -> Value {
    let figures = figures.classes.iter().map(|figures| {
        json!({
            "class": names[figures.class],
            "documents": figures.n_rows,
            "predicted": figures.n_predicted,
            "precision": figures.precision,
            "recall": figures.recall,
            "f1": figures.f1,
        })
    });
    figures.collect()
}

/// Documents by true and predicted class; null where a document may have several.
pub fn confusion_as_json(names: &[String], figures: &Figures) -> Value {
    let Some(confusion) = &figures.confusion else {
        return Value::Null;
    };
    let seen = confusion.classes().iter().map(|&class| &names[class]);
    json!({
        "classes": seen.collect::<Vec<_>>(),
        "counts": confusion.rows().collect::<Vec<_>>(),
    })
}
