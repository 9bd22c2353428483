//! Distances ready to use.

use crate::document::Document;
use crate::error::Result;
use crate::space::WordSpace;
use crate::wmd;

use super::Distance;

/// The Word Mover's Distance between documents of a space.
#[derive(Debug, Clone)]
pub struct WordMoversDistance(pub WordSpace);

impl Distance<Document> for WordMoversDistance {
    fn distance(&self, first: &Document, second: &Document) -> Result<f64> {
        wmd::distance(&self.0, first, second)
    }
}

/// Levenshtein's distance: how many characters must be put in, taken out or replaced.
#[must_use]
pub fn edit_distance(first: &str, second: &str) -> f64 {
    strsim::levenshtein(first, second) as f64
}

/// Dynamic time warping of two series of points with `dim` coordinates each: the root of the
/// least sum of squared Euclidean distances over all ways to step through both series together.
/// With a `window`, positions may differ by no more than that (Sakoe and Chiba), or than the
/// lengths do. Infinite if one series is empty and the other is not.
///
/// # Panics
///
/// If a series is not a whole number of points.
#[must_use]
pub fn dtw(first: &[f64], second: &[f64], dim: usize, window: Option<usize>) -> f64 {
    assert!(
        dim > 0 && first.len().is_multiple_of(dim) && second.len().is_multiple_of(dim),
        "whole points"
    );
    let (n, m) = (first.len() / dim, second.len() / dim);
    if n == 0 || m == 0 {
        return if n == m { 0.0 } else { f64::INFINITY };
    }
    let window = window.map_or(usize::MAX, |window| window.max(n.abs_diff(m)));
    let mut previous = vec![f64::INFINITY; m + 1];
    let mut row = previous.clone();
    previous[0] = 0.0;
    for (i, x) in first.chunks_exact(dim).enumerate() {
        row.fill(f64::INFINITY);
        let start = i.saturating_sub(window);
        let end = i.saturating_add(window).saturating_add(1).min(m);
        for j in start..end {
            let y = &second[j * dim..][..dim];
            let squared: f64 = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum();
            row[j + 1] = squared + row[j].min(previous[j]).min(previous[j + 1]);
        }
        std::mem::swap(&mut previous, &mut row);
    }
    previous[m].sqrt()
}

/// The Hausdorff distance of two sets of points with `dim` coordinates each: how far the point
/// is that is farthest from the other set. Infinite if one set is empty and the other is not.
///
/// # Panics
///
/// If a set is not a whole number of points.
#[must_use]
pub fn hausdorff(first: &[f64], second: &[f64], dim: usize) -> f64 {
    assert!(
        dim > 0 && first.len().is_multiple_of(dim) && second.len().is_multiple_of(dim),
        "whole points"
    );
    let farthest = |from: &[f64], to: &[f64]| {
        let nearest = from.chunks_exact(dim).map(|x| {
            let squares = to.chunks_exact(dim).map(|y| {
                let differences = x.iter().zip(y).map(|(a, b)| (a - b) * (a - b));
                differences.sum::<f64>()
            });
            squares.fold(f64::INFINITY, f64::min)
        });
        nearest.fold(0.0, f64::max)
    };
    farthest(first, second).max(farthest(second, first)).sqrt()
}
