//! Precision, recall and F1 of every class, and the confusion matrix.

use std::cmp::Reverse;
use std::fmt::Write;

use wordmover_learn::metrics::{ClassFigures, ConfusionMatrix};

use super::bars::{Bar, GREY};
use super::confusion;
use crate::markup::escape;
use crate::natural_order;

/// A confusion matrix with the names of its classes, in the order people list them.
pub struct Judged<'n> {
    pub names: Vec<&'n str>,
    pub figures: Vec<ClassFigures>,
    /// `counts[t][p]`: documents of class `t` predicted to be of class `p`.
    pub counts: Vec<Vec<u64>>,
}

impl<'n> Judged<'n> {
    /// `names` are those of all classes, by number.
    pub fn new(names: &'n [String], confusion: &ConfusionMatrix) -> Self {
        let names: Vec<&str> = confusion
            .classes()
            .iter()
            .map(|&class| names[class].as_str())
            .collect();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|&a, &b| natural_order::compare(names[a], names[b]));
        let rows: Vec<&[u64]> = confusion.rows().collect();
        let figures = confusion.class_figures();
        let ordered = |row: &[u64]| order.iter().map(|&j| row[j]).collect();
        Judged {
            names: order.iter().map(|&i| names[i]).collect(),
            figures: order.iter().map(|&i| figures[i]).collect(),
            counts: order.iter().map(|&i| ordered(rows[i])).collect(),
        }
    }

    /// True class, predicted class and number of documents, of every pair that was
    /// confused; the most frequent first.
    pub fn confusions(&self) -> Vec<(usize, usize, u64)> {
        let mut confusions = Vec::new();
        for (truth, row) in self.counts.iter().enumerate() {
            for (predicted, &count) in row.iter().enumerate() {
                if truth != predicted && count > 0 {
                    confusions.push((truth, predicted, count));
                }
            }
        }
        confusions.sort_by_key(|&(_, _, count)| Reverse(count));
        confusions
    }
}

/// Both sections. `names` are those of all classes, by number; `documents` says which
/// were judged.
pub fn sections(names: &[String], confusion: &ConfusionMatrix, documents: &str) -> String {
    let judged = Judged::new(names, confusion);
    let mut html = String::from(
        "<h2>Classes</h2>\n<div class=\"scroll\"><table>\n<tr><th>class</th><th>documents</th>\
         <th class=\"extra\">predicted</th><th>precision</th><th>recall</th><th>F1</th><th class=\"bar\"></th>\
         </tr>\n",
    );
    for (name, figures) in judged.names.iter().zip(&judged.figures) {
        let _ = writeln!(
            html,
            "<tr><td class=\"name\">{}</td><td>{}</td><td class=\"extra\">{}</td><td>{:.2} %</td>\
             <td>{:.2} %</td><td>{:.2} %</td><td class=\"bar\"><span style=\"width:{:.0}%\"></span></td></tr>",
            escape(name),
            figures.n_rows,
            figures.n_predicted,
            100.0 * figures.precision,
            100.0 * figures.recall,
            100.0 * figures.f1,
            100.0 * figures.f1
        );
    }
    html.push_str("</table></div>\n<h2>Confusion matrix</h2>\n");
    html.push_str(&confusion::figure(&judged, documents));
    html
}

/// What would be right if all documents were taken for the class they are most often of.
pub fn baseline(names: &[String], confusion: &ConfusionMatrix) -> Bar {
    let judged = Judged::new(names, confusion);
    let sizes: Vec<u64> = judged.counts.iter().map(|row| row.iter().sum()).collect();
    let total: u64 = sizes.iter().sum();
    let largest = (0..sizes.len()).max_by_key(|&i| (sizes[i], Reverse(i)));
    let (name, size) = match largest {
        Some(i) => (judged.names[i], sizes[i]),
        None => ("", 0),
    };
    let share = size as f64 / total.max(1) as f64;
    Bar::share(format!("always “{name}”"), share, 0.0, GREY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_listed_naturally_with_their_counts() {
        let names = ["class 10", "class 2", "class 1"].map(str::to_owned);
        let truth = [0, 0, 0, 1, 2, 2];
        let predicted = [0, 1, 1, 1, 2, 0];
        let confusion = ConfusionMatrix::new(&truth, &predicted).unwrap();
        let judged = Judged::new(&names, &confusion);
        assert_eq!(judged.names, ["class 1", "class 2", "class 10"]);
        assert_eq!(judged.counts, [vec![1, 0, 1], vec![0, 1, 0], vec![0, 2, 1]]);
        assert_eq!(judged.figures[2].n_rows, 3);
        assert_eq!(judged.confusions(), [(2, 1, 2), (0, 2, 1)]);
        assert_eq!(baseline(&names, &confusion).name, "always “class 10”");
    }
}
