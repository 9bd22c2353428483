//! The surface that cross-validation searched, as pictures: one a candidate and round.

use std::fmt::Write;

use wordmover_classify::{SurfacePoint, SurfaceRound, ViewPoint, WmeChoice};

use super::svg::{open, shade};

const LEFT: f64 = 56.0;
/// Room for the name of the rows.
const TOP: f64 = 22.0;
/// Room for the values of C and the name of their axis.
const BELOW: f64 = 62.0;

/// All rounds in their order, and then the views. One scale of shades a round.
pub fn figures(rounds: &[SurfaceRound], choice: &WmeChoice, views: &[ViewPoint]) -> String {
    let mut html = String::new();
    for (i, round) in rounds.iter().enumerate() {
        let accuracies = || round.points.iter().map(|point| point.accuracy);
        let best = accuracies().fold(0.0, f64::max);
        // Shades tell the better half apart: what is far below is all white.
        let low = median(accuracies().collect()).min(best - 1e-9);
        let _ = write!(
            html,
            "<h3>Round {}: R = {}</h3>\n<p>Per cent of {} documents that were right while their \
             fold, one of {}, was held out; white is {:.1} or less, the darkest {:.1}.</p>\n",
            i + 1,
            round.n_features,
            round.n_documents,
            round.n_folds,
            100.0 * low,
            100.0 * best
        );
        let chosen = (i + 1 == rounds.len()).then_some(choice);
        let same = |a: &SurfacePoint, b: &SurfacePoint| a.candidate == b.candidate;
        for points in round.points.chunk_by(same) {
            let frame = chosen.and_then(|choice| position(points, choice));
            html.push_str(&figure(points, low, best, frame));
        }
    }
    html + &self::views(views)
}

/// What each view contributes: a table of all that was tried of words, of both, and the
/// best of meanings.
fn views(points: &[ViewPoint]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let mut html = "<h3>Views</h3>\n<p>The same documents by their meanings, by their words, \
                    and by both side by side.</p>\n<table><tr><th>view</th><th>weight of \
                    meanings</th><th>C</th><th>right, %</th><th>± over the folds</th></tr>\n"
        .to_owned();
    for point in points {
        let weight = point.meanings_weight;
        let weight = weight.map_or(String::new(), |weight| format!("{weight:.3e}"));
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{weight}</td><td>{:.3e}</td><td>{:.2}</td><td>{:.2}</td></tr>",
            point.views,
            point.cost,
            100.0 * point.accuracy,
            100.0 * point.deviation
        );
    }
    html + "</table>\n"
}

/// The best of the points, if they are the candidate's that was chosen.
fn position(points: &[SurfacePoint], choice: &WmeChoice) -> Option<usize> {
    let is_chosen = points
        .first()
        .is_some_and(|first| first.candidate == choice.candidate);
    let order = |a: &SurfacePoint, b: &SurfacePoint| {
        let right = b.accuracy.total_cmp(&a.accuracy);
        right
            .then(a.cost.total_cmp(&b.cost))
            .then(a.gamma.total_cmp(&b.gamma))
    };
    let best = points.iter().enumerate().min_by(|a, b| order(a.1, b.1));
    best.map(|(position, _)| position).filter(|_| is_chosen)
}

/// The points of one candidate, one of them perhaps framed.
fn figure(points: &[SurfacePoint], low: f64, best: f64, frame: Option<usize>) -> String {
    let first = &points[0];
    let n_costs = points.iter().take_while(|p| p.gamma == first.gamma).count();
    let n_gammas = points.len().div_ceil(n_costs);
    // The paper's grid has 26 values of C.
    let (cell, row, size) = match n_costs {
        0..=14 => (46.0, 26.0, 12),
        _ => (33.0, 20.0, 10),
    };
    let (width, height) = (cell * n_costs as f64, row * n_gammas as f64);
    let mut svg = open(LEFT + width + 6.0, TOP + height + BELOW);
    for (i, point) in points.iter().enumerate() {
        let (x, y) = (
            LEFT + cell * (i % n_costs) as f64,
            TOP + row * (i / n_costs) as f64,
        );
        let (fill, ink) = shade((point.accuracy - low) / (best - low));
        let ink = if point.accuracy < low { "#868e96" } else { ink };
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{cell}\" height=\"{row}\" fill=\"{fill}\" stroke=\"#dee2e6\">\
             <title>gamma {:.4}, C {:.3e}: {:.2} % ± {:.2}</title></rect>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{size}\" fill=\"{ink}\" \
             pointer-events=\"none\">{:.1}</text>",
            point.gamma,
            point.cost,
            100.0 * point.accuracy,
            100.0 * point.deviation,
            x + cell / 2.0,
            y + row / 2.0 + 4.0,
            100.0 * point.accuracy
        );
        if i % n_costs == 0 {
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                LEFT - 7.0,
                y + row / 2.0 + 4.0,
                short(point.gamma)
            );
        }
        if i < n_costs {
            let (x, y) = (x + cell / 2.0 + 4.0, TOP + height + 14.0);
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\" transform=\"rotate(-35 {x} {y})\">{}</text>",
                short(point.cost)
            );
        }
    }
    if let Some(i) = frame {
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#e8590c\" stroke-width=\"3\"/>",
            LEFT + cell * (i % n_costs) as f64 + 1.0,
            TOP + row * (i / n_costs) as f64 + 1.0,
            cell - 2.0,
            row - 2.0
        );
    }
    let _ = write!(
        svg,
        "<text class=\"axis\" x=\"{}\" y=\"14\" text-anchor=\"end\">gamma</text>\
         <text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">C</text></svg>",
        LEFT - 7.0,
        LEFT + width / 2.0,
        TOP + height + BELOW - 6.0
    );
    let highest = points
        .iter()
        .map(|point| point.accuracy)
        .fold(0.0, f64::max);
    let mark = if frame.is_some() {
        "; the choice is framed"
    } else {
        ""
    };
    format!(
        "<figure>{svg}<figcaption><b>{}</b>: {:.2} % at best{mark}</figcaption></figure>\n",
        first.candidate,
        100.0 * highest
    )
}

/// A number in two digits and few characters.
fn short(value: f64) -> String {
    if !(0.01..1000.0).contains(&value) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let decimals = (1 - value.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use wordmover::Weighting;
    use wordmover::{embedding::PostProcessing, random_documents::RandomWords};
    use wordmover_classify::{Candidate, Views};

    use super::*;

    #[test]
    fn the_best_point_of_the_candidate_chosen_is_framed() {
        let candidate = |d_max| Candidate {
            weighting: Weighting::Nbow,
            keep_stop_words: false,
            label_exponent: 0.0,
            random_words: RandomWords::Uniform,
            d_max,
        };
        let point = |gamma, cost, accuracy| SurfacePoint {
            candidate: candidate(6),
            gamma,
            cost,
            accuracy,
            deviation: 0.0,
        };
        let points = [
            point(1.0, 0.1, 0.8),
            point(1.0, 0.3, 0.9),
            point(2.0, 0.2, 0.9),
        ];
        let choice = |d_max| WmeChoice {
            views: Views::Meanings,
            meanings_weight: None,
            candidate: candidate(d_max),
            post_processing: PostProcessing::Raw,
            bias: None,
            n_features: 64,
            gamma: 2.0,
            cost: 7.0,
            accuracy: 0.9,
            deviation: 0.0,
        };
        assert_eq!(position(&points, &choice(6)), Some(2));
        assert_eq!(position(&points, &choice(3)), None);
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (3.90625e-5, "3.9e-5"),
            (1e-5, "1e-5"),
            (0.0390625, "0.039"),
            (0.39, "0.39"),
            (1.4745, "1.5"),
            (1.0, "1"),
            (10.0, "10"),
            (100.0, "100"),
            (999.9, "1000"),
            (1000.0, "1e3"),
            (1e8, "1e8"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
