//! Accuracy by number of neighbours, as a picture.

use std::fmt::Write;

use wordmover_classify::{KnnChoice, KnnCurve, weighting_name};

use super::svg::open;

const COLOURS: [&str; 2] = ["#1c7ed6", "#e8590c"];
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 36.0;

/// One line for each weighting, the choice marked.
pub fn figure(curves: &[KnnCurve], choice: &KnnChoice) -> String {
    let all = || {
        curves
            .iter()
            .flat_map(|curve| curve.accuracies.iter().copied())
    };
    let (low, high) = (all().fold(1.0, f64::min), all().fold(0.0, f64::max));
    let (low, high) = (low - 0.005, high + 0.005);
    let n = curves.iter().map(|curve| curve.accuracies.len()).max();
    let n = n.unwrap_or(1).max(2);
    let x = |k: usize| LEFT + 8.0 + (WIDTH - LEFT - 20.0) * (k - 1) as f64 / (n - 1) as f64;
    let y = |share: f64| 10.0 + (HEIGHT - BOTTOM - 10.0) * (high - share) / (high - low);
    let mut svg = open(WIDTH, HEIGHT);
    for step in 0..=4 {
        let share = low + (high - low) * f64::from(step) / 4.0;
        let at = y(share);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#e4e4e4\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{:.1} %</text>",
            LEFT - 6.0,
            at + 4.0,
            100.0 * share
        );
    }
    for k in (1..=n).step_by(2) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{k}</text>",
            x(k),
            HEIGHT - BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" fill=\"#666\" text-anchor=\"end\">K</text>",
        LEFT - 6.0,
        HEIGHT - BOTTOM + 18.0
    );
    let mut captions = Vec::new();
    for (curve, colour) in curves.iter().zip(COLOURS) {
        let points = curve.accuracies.iter().enumerate();
        let points = points.map(|(i, &share)| format!("{:.1},{:.1}", x(i + 1), y(share)));
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.collect::<Vec<_>>().join(" ")
        );
        if curve.weighting == choice.weighting {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{colour}\"/>",
                x(choice.k),
                y(choice.accuracy)
            );
        }
        let name = weighting_name(curve.weighting);
        captions.push(format!("<span style=\"color:{colour}\">{name}</span>"));
    }
    format!(
        "<figure>{svg}</svg><figcaption>Accuracy on documents held out, by number of neighbours: \
         {}. The dot is the choice.</figcaption></figure>\n",
        captions.join(", ")
    )
}
