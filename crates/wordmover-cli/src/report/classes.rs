//! How well every class is told from the others: figures, and the confusion matrix.

use std::fmt::Write;

use wordmover_learn::metrics::ConfusionMatrix;

use super::bars::{Bar, GREY};
use super::confusion;
use super::svg::escape;

/// Both sections. `names` are those of all classes, by number; `documents` says which
/// were judged.
pub fn sections(names: &[String], confusion: &ConfusionMatrix, documents: &str) -> String {
    let names = names_of(names, confusion);
    let mut html = String::from(
        "<h2>Classes</h2>\n<table>\n<tr><th>class</th><th>documents</th><th>predicted</th>\
         <th>precision</th><th>recall</th><th>F1</th><th></th></tr>\n",
    );
    for (name, figures) in names.iter().zip(confusion.class_figures()) {
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.2} %</td><td>{:.2} %</td><td>{:.2} %</td>\
             <td class=\"bar\"><span style=\"width:{:.0}%\"></span></td></tr>",
            escape(name),
            figures.n_rows,
            figures.n_predicted,
            100.0 * figures.precision,
            100.0 * figures.recall,
            100.0 * figures.f1,
            100.0 * figures.f1
        );
    }
    html.push_str("</table>\n<h2>Confusion matrix</h2>\n");
    html.push_str(&confusion::figure(&names, confusion, documents));
    html
}

/// What would be right if all documents were taken for the class they are most often of.
pub fn baseline(names: &[String], confusion: &ConfusionMatrix) -> Bar {
    let sizes: Vec<u64> = confusion.rows().map(|row| row.iter().sum()).collect();
    let total: u64 = sizes.iter().sum();
    let largest = (0..sizes.len()).max_by_key(|&i| (sizes[i], std::cmp::Reverse(i)));
    let (name, size) = match largest {
        Some(i) => (names_of(names, confusion)[i], sizes[i]),
        None => ("", 0),
    };
    let share = size as f64 / total.max(1) as f64;
    Bar::share(format!("always “{name}”"), share, 0.0, GREY)
}

fn names_of<'n>(names: &'n [String], confusion: &ConfusionMatrix) -> Vec<&'n str> {
    let classes = confusion.classes().iter();
    classes.map(|&class| names[class].as_str()).collect()
}
