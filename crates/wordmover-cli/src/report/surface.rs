//! The surface that cross-validation searched, as pictures: one a candidate and round.

use std::fmt::Write;

use wordmover_classify::{SurfacePoint, SurfaceRound, WmeChoice, weighting_name};

use super::svg::{open, shade};

const CELL: f64 = 21.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 8.0;

/// All rounds in their order. One scale of shades a round.
pub fn figures(rounds: &[SurfaceRound], choice: &WmeChoice) -> String {
    let mut html = String::new();
    for round in rounds {
        let accuracies = || round.points.iter().map(|point| point.accuracy);
        let best = accuracies().fold(0.0, f64::max);
        // Shades tell the better half apart: what is far below is all white.
        let low = median(accuracies().collect()).min(best - 1e-9);
        let _ = write!(
            html,
            "<h3>R = {}</h3>\n<p>Accuracy on documents held out in {} folds: white {:.1} % or less, \
             darkest {:.2} %.</p>\n",
            round.n_features,
            round.n_folds,
            100.0 * low,
            100.0 * best
        );
        let is_last = round.n_features == choice.n_features;
        let mut start = 0;
        while start < round.points.len() {
            let first = &round.points[start];
            let same = |point: &&SurfacePoint| {
                (point.weighting, point.d_max) == (first.weighting, first.d_max)
            };
            let n = round.points[start..].iter().take_while(same).count();
            let points = &round.points[start..start + n];
            let chosen = is_last.then_some(choice);
            html.push_str(&figure(points, low, best, chosen));
            start += n;
        }
    }
    html
}

fn figure(points: &[SurfacePoint], low: f64, best: f64, chosen: Option<&WmeChoice>) -> String {
    let first = &points[0];
    let n_costs = points.iter().take_while(|p| p.gamma == first.gamma).count();
    let n_gammas = points.len() / n_costs.max(1);
    let (width, height) = (CELL * n_costs as f64, CELL * n_gammas as f64);
    let mut svg = open(LEFT + width + 6.0, TOP + height + 52.0);
    let top_of_candidate = points
        .iter()
        .map(|point| point.accuracy)
        .fold(0.0, f64::max);
    for (i, point) in points.iter().enumerate() {
        let (row, column) = (i / n_costs, i % n_costs);
        let (x, y) = (LEFT + CELL * column as f64, TOP + CELL * row as f64);
        let (fill, _) = shade((point.accuracy - low) / (best - low));
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" stroke=\"#e4e4e4\">\
             <title>gamma {:.4}, C {:.3e}: {:.2} % ± {:.2}</title></rect>",
            point.gamma,
            point.cost,
            100.0 * point.accuracy,
            100.0 * point.deviation
        );
        let is_chosen = chosen.is_some_and(|c| {
            (c.weighting, c.d_max) == (point.weighting, point.d_max)
                && (c.gamma, c.cost) == (point.gamma, point.cost)
        });
        if is_chosen {
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#d9480f\" stroke-width=\"2.5\"/>",
                x + 1.0,
                y + 1.0,
                CELL - 2.0,
                CELL - 2.0
            );
        }
        if column == 0 {
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                LEFT - 5.0,
                y + CELL / 2.0 + 4.0,
                short(point.gamma)
            );
        }
        if row + 1 == n_gammas {
            let (x, y) = (x + CELL / 2.0 + 3.0, TOP + height + 8.0);
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\" transform=\"rotate(-60 {x} {y})\">{}</text>",
                short(point.cost)
            );
        }
    }
    let _ = write!(
        svg,
        "<text x=\"4\" y=\"{}\" fill=\"#666\">γ</text><text x=\"{}\" y=\"{}\" fill=\"#666\">C</text></svg>",
        TOP + CELL / 2.0 + 4.0,
        LEFT - 16.0,
        TOP + height + 18.0
    );
    let mark = if chosen.is_some_and(|c| (c.weighting, c.d_max) == (first.weighting, first.d_max)) {
        "; chosen: framed"
    } else {
        ""
    };
    format!(
        "<figure>{svg}<figcaption>{}, D_max = {}: at best {:.2} %{mark}</figcaption></figure>\n",
        weighting_name(first.weighting),
        first.d_max,
        100.0 * top_of_candidate
    )
}

/// A number in a few characters.
fn short(value: f64) -> String {
    if (0.01..1000.0).contains(&value) {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.0e}")
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
