//! The confusion matrix: as a figure, and the confusions that weigh most as a table.

use std::fmt::Write;

use super::classes::Judged;
use super::svg::{open, shade};
use crate::markup::{escape, wrap};

/// Characters of a line of a class' name. What does not fit is in the squares' titles.
const NAME: usize = 28;

/// Height of a line of a name.
const LINE: f64 = 13.0;

/// With more classes, names stand on all four sides: those of one are far away.
const MAX_CLASSES_NAMED_ONCE: usize = 25;

/// With more classes, the confusions that weigh most are listed as well.
const MAX_CLASSES_SEEN_AT_ONCE: usize = 12;

/// How many of them.
const MAX_LISTED: usize = 15;

/// A square for every pair of classes, as dark as its share of the true class.
/// `documents` says which were judged.
pub fn figure(judged: &Judged, documents: &str) -> String {
    let n = judged.names.len();
    let cell = (720.0 / n as f64).clamp(30.0, 84.0);
    // Names of columns rise at 40 degrees, which leaves them less room.
    let row_names = names(judged, (cell / LINE) as usize);
    let column_names = names(judged, (0.64 * cell / LINE) as usize);
    let longest = |names: &[Vec<String>]| {
        let lengths = names.iter().flatten().map(|line| line.chars().count());
        6.6 * lengths.max().unwrap_or(0) as f64 + 14.0
    };
    let is_large = n > MAX_CLASSES_NAMED_ONCE;
    let (row_label, column_label) = (longest(&row_names), longest(&column_names));
    let (left, top) = (row_label + 24.0, column_label * 0.65 + 38.0);
    let right = match is_large {
        true => row_label.max(column_label * 0.7),
        false => column_label * 0.7,
    };
    let bottom = if is_large {
        column_label * 0.65 + 14.0
    } else {
        6.0
    };
    let side = cell * n as f64;
    let mut svg = open(left + side + right + 10.0, top + side + bottom);
    let middle = top + side.min(720.0) / 2.0;
    let _ = writeln!(
        svg,
        "<text class=\"axis\" x=\"{:.1}\" y=\"14\" text-anchor=\"middle\">predicted class</text>\
         <text class=\"axis\" x=\"14\" y=\"{middle:.1}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 14 {middle:.1})\">true class</text>",
        // In view before a large figure is scrolled.
        left + side.min(720.0) / 2.0,
    );
    for i in 0..n {
        let middle = cell * (i as f64 + 0.5);
        let (x, y) = (left + middle, top + middle);
        svg.push_str(&label(&row_names[i], left - 8.0, y + 4.0, "end", 0.0));
        svg.push_str(&label(&column_names[i], x, top - 7.0, "start", -40.0));
        if is_large {
            let (end, below) = (left + side + 8.0, top + side + 14.0);
            svg.push_str(&label(&row_names[i], end, y + 4.0, "start", 0.0));
            svg.push_str(&label(&column_names[i], x + 4.0, below, "end", -40.0));
        }
    }
    for (i, row) in judged.counts.iter().enumerate() {
        let total: u64 = row.iter().sum();
        for (j, &count) in row.iter().enumerate() {
            let share = count as f64 / total.max(1) as f64;
            let (fill, ink) = shade(share);
            let (x, y) = (left + cell * j as f64, top + cell * i as f64);
            let _ = write!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{cell:.1}\" height=\"{cell:.1}\" \
                 fill=\"{fill}\" stroke=\"#dee2e6\"><title>{} as {}: {count} ({:.1} %)</title></rect>",
                escape(judged.names[i]),
                escape(judged.names[j]),
                100.0 * share
            );
            if count > 0 {
                svg.push_str(&number(
                    x + cell / 2.0,
                    y + cell / 2.0,
                    cell,
                    count,
                    share,
                    ink,
                ));
            }
            svg.push('\n');
        }
    }
    let listed = match n > MAX_CLASSES_SEEN_AT_ONCE {
        true => most_frequent(judged),
        false => String::new(),
    };
    format!(
        "<figure>{svg}</svg><figcaption>{documents}; the shade is the share of the true class.\
         </figcaption></figure>\n{listed}"
    )
}

fn names(judged: &Judged, n_lines: usize) -> Vec<Vec<String>> {
    let names = judged.names.iter();
    names
        .map(|name| wrap(name, NAME, n_lines.clamp(1, 3)))
        .collect()
}

/// A name around a point, its lines below each other, turned by some degrees.
fn label(lines: &[String], x: f64, y: f64, anchor: &str, degrees: f64) -> String {
    let first = match degrees == 0.0 {
        // The middle of the lines is where one line would be.
        true => y - LINE * (lines.len() - 1) as f64 / 2.0,
        false => y - LINE * (lines.len() - 1) as f64,
    };
    let lines = lines.iter().enumerate().map(|(i, line)| {
        let y = first + LINE * i as f64;
        format!("<tspan x=\"{x:.1}\" y=\"{y:.1}\">{}</tspan>", escape(line))
    });
    let lines: String = lines.collect();
    let turn = match degrees == 0.0 {
        true => String::new(),
        false => format!(" transform=\"rotate({degrees} {x:.1} {y:.1})\""),
    };
    format!("<text text-anchor=\"{anchor}\"{turn}>{lines}</text>\n")
}

/// The count and, where there is room, its share.
fn number(x: f64, y: f64, cell: f64, count: u64, share: f64, ink: &str) -> String {
    let text = |y: f64, size: u32, text: String| {
        format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"{size}\" \
             fill=\"{ink}\" pointer-events=\"none\">{text}</text>"
        )
    };
    if cell < 50.0 {
        return text(y + 4.0, 11, count.to_string());
    }
    let percent = format!("{:.0} %", 100.0 * share);
    text(y - 1.0, 14, count.to_string()) + &text(y + 14.0, 11, percent)
}

/// The pairs of classes that are confused most often.
fn most_frequent(judged: &Judged) -> String {
    let confusions = judged.confusions();
    if confusions.is_empty() {
        return String::new();
    }
    let mut table = String::from(
        "<h3>Most frequent confusions</h3>\n<div class=\"scroll\"><table>\n<tr>\
         <th>true class</th><th class=\"left\">predicted as</th><th>documents</th>\
         <th>of the true class</th></tr>\n",
    );
    for &(truth, predicted, count) in confusions.iter().take(MAX_LISTED) {
        let total: u64 = judged.counts[truth].iter().sum();
        let _ = writeln!(
            table,
            "<tr><td class=\"name\">{}</td><td class=\"left name\">{}</td><td>{count}</td>\
             <td>{:.1} %</td></tr>",
            escape(judged.names[truth]),
            escape(judged.names[predicted]),
            100.0 * count as f64 / total.max(1) as f64
        );
    }
    table + "</table></div>\n"
}
