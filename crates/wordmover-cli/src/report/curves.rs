//! Accuracy by number of neighbours, as a picture.

use std::fmt::Write;

use wordmover::names::Named;
use wordmover_classify::{KnnChoice, KnnCurve};

use super::svg::open;

const COLOURS: [&str; 2] = ["#1c7ed6", "#e8590c"];
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 76.0;
/// Room for the names of the curves.
const RIGHT: f64 = 70.0;
const BOTTOM: f64 = 48.0;

/// One line for each weighting, the choice marked.
pub fn figure(curves: &[KnnCurve], choice: &KnnChoice) -> String {
    let all = || {
        curves
            .iter()
            .flat_map(|curve| curve.accuracies.iter().copied())
    };
    let (low, high) = (all().fold(1.0, f64::min), all().fold(0.0, f64::max));
    let step = step(high - low);
    let low = (low / step).floor() * step;
    let high = ((high / step).ceil() * step).max(low + step);
    let n = curves.iter().map(|curve| curve.accuracies.len()).max();
    let n = n.unwrap_or(1).max(2);
    let x = |k: usize| LEFT + 10.0 + (WIDTH - LEFT - RIGHT) * (k - 1) as f64 / (n - 1) as f64;
    let y = |share: f64| 10.0 + (HEIGHT - BOTTOM - 10.0) * (high - share) / (high - low);
    let mut svg = open(WIDTH, HEIGHT);
    for tick in 0..=((high - low) / step).round() as u32 {
        let share = low + f64::from(tick) * step;
        let at = y(share);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#dee2e6\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{:.1} %</text>",
            WIDTH - RIGHT + 20.0,
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
            HEIGHT - BOTTOM + 20.0
        );
    }
    let middle = (HEIGHT - BOTTOM) / 2.0;
    let _ = writeln!(
        svg,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">K, the number of neighbours</text>\
         <text class=\"axis\" x=\"14\" y=\"{middle}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 14 {middle})\">right, held out</text>",
        (x(1) + x(n)) / 2.0,
        HEIGHT - 6.0
    );
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
    }
    // Names at the lines' ends, the higher line's higher.
    let mut ends: Vec<(f64, &str, &str)> = curves
        .iter()
        .zip(COLOURS)
        .filter_map(|(curve, colour)| {
            let last = curve.accuracies.last()?;
            Some((y(*last), curve.weighting.name(), colour))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut least = f64::MIN;
    for (y, name, colour) in ends {
        let y = y.max(least);
        least = y + 15.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\" font-weight=\"600\">{name}</text>",
            x(n) + 6.0,
            y + 4.0
        );
    }
    format!(
        "<figure>{svg}</svg><figcaption>Share of the documents held out that were right, by number \
         of neighbours; the dot is the choice.</figcaption></figure>\n"
    )
}

/// A round step that divides a range of shares into four to ten.
fn step(range: f64) -> f64 {
    let steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05];
    let found = steps.into_iter().find(|step| range / step <= 8.0);
    found.unwrap_or(0.1)
}
