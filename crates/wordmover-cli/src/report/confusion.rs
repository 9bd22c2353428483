//! The confusion matrix as a picture.

use std::fmt::Write;

use wordmover_learn::metrics::ConfusionMatrix;

use super::svg::{escape, open, shade, shorten};

/// Characters of a class' name that are shown; the rest is in the squares' titles.
const NAME: usize = 28;

/// A square for every pair of classes, as dark as its share of the true class.
/// `documents` says which were judged.
pub fn figure(names: &[&str], confusion: &ConfusionMatrix, documents: &str) -> String {
    let n = names.len();
    let cell = (720.0 / n as f64).clamp(30.0, 84.0);
    let longest = names.iter().map(|name| name.chars().count()).max();
    let label = 6.6 * longest.unwrap_or(0).min(NAME) as f64 + 14.0;
    // Names of columns rise at 40 degrees.
    let (left, top) = (label + 24.0, label * 0.65 + 38.0);
    let side = cell * n as f64;
    let mut svg = open(left + side + label * 0.7 + 10.0, top + side + 6.0);
    let middle = top + side / 2.0;
    let _ = writeln!(
        svg,
        "<text class=\"axis\" x=\"{:.1}\" y=\"14\" text-anchor=\"middle\">predicted class</text>\
         <text class=\"axis\" x=\"14\" y=\"{middle:.1}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 14 {middle:.1})\">true class</text>",
        left + side / 2.0,
    );
    for (i, name) in names.iter().enumerate() {
        let name = escape(&shorten(name, NAME));
        let middle = cell * (i as f64 + 0.5);
        let (x, y) = (left + middle, top + middle);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\
             <text x=\"{x:.1}\" y=\"{:.1}\" transform=\"rotate(-40 {x:.1} {:.1})\">{name}</text>",
            left - 8.0,
            y + 4.0,
            top - 7.0,
            top - 7.0
        );
    }
    for (i, row) in confusion.rows().enumerate() {
        let total: u64 = row.iter().sum();
        for (j, &count) in row.iter().enumerate() {
            let share = count as f64 / total.max(1) as f64;
            let (fill, ink) = shade(share);
            let (x, y) = (left + cell * j as f64, top + cell * i as f64);
            let _ = write!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{cell:.1}\" height=\"{cell:.1}\" \
                 fill=\"{fill}\" stroke=\"#dee2e6\"><title>{} as {}: {count} ({:.1} %)</title></rect>",
                escape(names[i]),
                escape(names[j]),
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
    format!(
        "<figure>{svg}</svg><figcaption>{documents}; the shade is the share of the true class.\
         </figcaption></figure>\n"
    )
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
