//! Precision, recall and F1 of every class, and the confusion matrix.

use std::cmp::Reverse;
use std::fmt::Write;

use wordmover_classify::Figures;
use wordmover_learn::metrics::ClassFigures;

use super::bars::{Bar, GREY};
use super::confusion;
use crate::markup::escape;
use crate::natural_order;

/// Figures with the names of their classes, in the order people list them.
pub struct Judged<'n> {
    pub names: Vec<&'n str>,
    pub figures: Vec<ClassFigures>,
    /// `counts[t][p]`: documents of class `t` predicted to be of class `p`; empty where a
    /// document may have several.
    pub counts: Vec<Vec<u64>>,
}

impl<'n> Judged<'n> {
    /// `names` are those of all classes, by number.
    pub fn new(names: &'n [String], figures: &Figures) -> Self {
        let confusion = figures.confusion.as_ref();
        let figures = &figures.classes;
        let names: Vec<&str> = figures
            .iter()
            .map(|figures| names[figures.class].as_str())
            .collect();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|&a, &b| natural_order::compare(names[a], names[b]));
        let rows: Vec<&[u64]> = confusion
            .iter()
            .flat_map(|confusion| confusion.rows())
            .collect();
        let ordered = |row: &[u64]| order.iter().map(|&j| row[j]).collect();
        Judged {
            names: order.iter().map(|&i| names[i]).collect(),
            figures: order.iter().map(|&i| figures[i]).collect(),
            counts: match rows.is_empty() {
                true => Vec::new(),
                false => order.iter().map(|&i| ordered(rows[i])).collect(),
            },
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
pub fn sections(names: &[String], figures: &Figures, documents: &str) -> String {
    let judged = Judged::new(names, figures);
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
    html.push_str("</table></div>\n");
    if !judged.counts.is_empty() {
        html.push_str("<h2>Confusion matrix</h2>\n");
        html.push_str(&confusion::figure(&judged, documents));
    }
    html
}

/// What would be right if all documents were taken for the class they are most often of.
pub fn baseline(names: &[String], figures: &Figures) -> Bar {
    let total = figures.n_documents as u64;
    let judged = Judged::new(names, figures);
    let sizes: Vec<u64> = judged
        .figures
        .iter()
        .map(|figures| figures.n_rows)
        .collect();
    let largest = (0..sizes.len()).max_by_key(|&i| (sizes[i], Reverse(i)));
    let (name, size) = match largest {
        Some(i) => (judged.names[i], sizes[i]),
        None => ("", 0),
    };
    let share = size as f64 / total.max(1) as f64;
    Bar::share(format!("always “{name}”"), share, 0.0, GREY)
}

/// The words that speak most for each class.
pub fn telling_words(names: &[String], words: &[Vec<(String, f64)>]) -> String {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| natural_order::compare(&names[a], &names[b]));
    let mut html =
        String::from("<h2>Words that speak for each class</h2>\n<table class=\"facts\">\n");
    for class in order {
        let words = words[class].iter().map(|(word, weight)| {
            let word = escape(word);
            format!("<span title=\"{weight:.3}\">{word}</span>")
        });
        let words = words.collect::<Vec<_>>().join(", ");
        let name = escape(&names[class]);
        let _ = writeln!(
            html,
            "<tr><td class=\"name\">{name}</td><td>{words}</td></tr>"
        );
    }
    html + "</table>\n"
}
