//! The confusion matrix as a picture.

use std::fmt::Write;

use wordmover_learn::metrics::ConfusionMatrix;

use super::svg::{escape, open, shade, shorten};

/// A square for every pair of classes, as dark as its share of the true class.
pub fn figure(names: &[&str], confusion: &ConfusionMatrix) -> String {
    let n = names.len();
    let cell = (640.0 / n as f64).clamp(22.0, 64.0);
    let longest = names.iter().map(|name| name.chars().count()).max();
    let label = 7.0 * longest.unwrap_or(0).min(24) as f64 + 12.0;
    let (left, top) = (label + 18.0, label * 0.75 + 30.0);
    let side = cell * n as f64;
    let mut svg = open(left + side + label * 0.7 + 10.0, top + side + 10.0);
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"14\" fill=\"#666\">predicted</text>\
         <text x=\"12\" y=\"{:.1}\" fill=\"#666\" transform=\"rotate(-90 12 {:.1})\">true</text>",
        left,
        top + 30.0,
        top + 30.0
    );
    for (i, name) in names.iter().enumerate() {
        let name = escape(&shorten(name, 24));
        let middle = cell * (i as f64 + 0.5);
        let (x, y) = (left + middle, top + middle);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\
             <text x=\"{x:.1}\" y=\"{:.1}\" transform=\"rotate(-40 {x:.1} {:.1})\">{name}</text>",
            left - 6.0,
            y + 4.0,
            top - 6.0,
            top - 6.0
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
                 fill=\"{fill}\" stroke=\"#ddd\"><title>{} as {}: {count} ({:.1} %)</title></rect>",
                escape(names[i]),
                escape(names[j]),
                100.0 * share
            );
            if count > 0 {
                let _ = write!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\" \
                     pointer-events=\"none\">{count}</text>",
                    x + cell / 2.0,
                    y + cell / 2.0 + 4.0
                );
            }
            svg.push('\n');
        }
    }
    format!(
        "<figure>{svg}</svg><figcaption>Test documents; shade: share of the true class.\
         </figcaption></figure>\n"
    )
}
