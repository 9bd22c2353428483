//! Embeddings on a plane: principal components first, then neighbours drawn together.
//!
//! The first components keep what tells documents apart at large. Within them, the nearest
//! neighbours of every document attract it and documents drawn by chance repel it (as in
//! LargeVis and UMAP), starting from the plane of the first two components, so that the
//! large picture stays. Everything is seeded and summed in one order: the same documents
//! give the same map.

use rayon::prelude::*;

/// Components in which neighbours are looked for.
const COMPONENTS: usize = 24;
/// Documents the components are found on.
const SAMPLE: usize = 2000;
const POWER_STEPS: usize = 24;
const NEIGHBORS: usize = 12;
const EPOCHS: usize = 120;
const REPELLED: usize = 4;

/// A place between 0 and 1 in each direction for every row of `n_features`.
pub(crate) fn onto_plane(mut rows: Vec<f32>, n_features: usize) -> (Vec<f32>, Vec<f32>) {
    let n = rows.len() / n_features.max(1);
    if n < 3 {
        return (
            vec![0.5; n],
            (0..n).map(|i| 0.25 + 0.5 * i as f32).collect(),
        );
    }
    to_unit_length(&mut rows, n_features);
    let components = components(&rows, n_features);
    let k = components.len() / n_features;
    let places: Vec<f32> = rows
        .par_chunks_exact(n_features)
        .flat_map_iter(|row| {
            components
                .chunks_exact(n_features)
                .map(|axis| dot(row, axis))
        })
        .collect();
    let neighbors = neighbors(&places, k);
    let mut plane: Vec<[f32; 2]> = places
        .chunks_exact(k)
        .map(|place| [place[0], place.get(1).copied().unwrap_or(0.0)])
        .collect();
    scale(&mut plane, 10.0);
    draw_together(&mut plane, &neighbors);
    scale(&mut plane, 1.0);
    plane.iter().map(|&[x, y]| (x, y)).unzip()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Cosines count, not lengths; the mean is subtracted afterwards.
fn to_unit_length(rows: &mut [f32], n_features: usize) {
    rows.par_chunks_exact_mut(n_features).for_each(|row| {
        let length = dot(row, row).sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    });
    let n = (rows.len() / n_features) as f32;
    let mut mean = vec![0.0; n_features];
    for row in rows.chunks_exact(n_features) {
        mean.iter_mut()
            .zip(row)
            .for_each(|(mean, x)| *mean += x / n);
    }
    rows.par_chunks_exact_mut(n_features)
        .for_each(|row| row.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean));
}

/// The first principal components by orthogonal iteration.
fn components(rows: &[f32], n_features: usize) -> Vec<f32> {
    let n = rows.len() / n_features;
    let step = n.div_ceil(SAMPLE);
    let sample: Vec<&[f32]> = rows.chunks_exact(n_features).step_by(step).collect();
    let k = COMPONENTS.min(n_features).min(sample.len());
    let mut chance = Chance(1);
    let mut axes: Vec<Vec<f32>> = (0..k)
        .map(|_| (0..n_features).map(|_| chance.uniform() - 0.5).collect())
        .collect();
    orthogonal(&mut axes);
    for _ in 0..POWER_STEPS {
        axes = axes
            .par_iter()
            .map(|axis| {
                let mut next = vec![0.0; n_features];
                for row in &sample {
                    let along = dot(row, axis);
                    next.iter_mut()
                        .zip(*row)
                        .for_each(|(sum, x)| *sum += along * x);
                }
                next
            })
            .collect();
        orthogonal(&mut axes);
    }
    axes.concat()
}

/// Gram and Schmidt's way; an axis without a length of its own becomes zeros.
fn orthogonal(axes: &mut [Vec<f32>]) {
    for i in 0..axes.len() {
        let (before, rest) = axes.split_at_mut(i);
        let axis = &mut rest[0];
        for other in before.iter() {
            let along = dot(axis, other);
            axis.iter_mut()
                .zip(other)
                .for_each(|(x, y)| *x -= along * y);
        }
        let length = dot(axis, axis).sqrt();
        let factor = if length > 1e-12 { 1.0 / length } else { 0.0 };
        axis.iter_mut().for_each(|x| *x *= factor);
    }
}

/// The nearest other places of every place.
fn neighbors(places: &[f32], k: usize) -> Vec<[u32; NEIGHBORS]> {
    let n = places.len() / k;
    let far = |a: usize, b: usize| -> f32 {
        let (a, b) = (&places[a * k..][..k], &places[b * k..][..k]);
        a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
    };
    (0..n)
        .into_par_iter()
        .map(|i| {
            let mut best = [(f32::INFINITY, i as u32); NEIGHBORS];
            for j in (0..n).filter(|&j| j != i) {
                let distance = far(i, j);
                if distance < best[NEIGHBORS - 1].0 {
                    let at = best.partition_point(|other| other.0 <= distance);
                    best.copy_within(at..NEIGHBORS - 1, at + 1);
                    best[at] = (distance, j as u32);
                }
            }
            best.map(|(_, j)| j)
        })
        .collect()
}

/// Every neighbour attracts, some others repel, less and less.
fn draw_together(plane: &mut [[f32; 2]], neighbors: &[[u32; NEIGHBORS]]) {
    let n = plane.len();
    let mut chance = Chance(2);
    for epoch in 0..EPOCHS {
        let rate = 1.0 - epoch as f32 / EPOCHS as f32;
        for i in 0..n {
            // One neighbour a turn: all of them over the epochs.
            let j = neighbors[i][(epoch + i) % NEIGHBORS] as usize;
            let (x, y) = (plane[i][0] - plane[j][0], plane[i][1] - plane[j][1]);
            let square = x * x + y * y;
            let pull = rate * -2.0 * 1.58 * square.powf(-0.1) / (1.0 + 1.58 * square.powf(0.9));
            if square > 0.0 {
                for (axis, along) in [x, y].into_iter().enumerate() {
                    let step = (pull * along).clamp(-4.0, 4.0);
                    plane[i][axis] += step;
                    plane[j][axis] -= step;
                }
            }
            for _ in 0..REPELLED {
                let other = chance.below(n);
                let (x, y) = (plane[i][0] - plane[other][0], plane[i][1] - plane[other][1]);
                let square = x * x + y * y;
                if other == i || square == 0.0 {
                    continue;
                }
                let push = rate * 2.0 * 0.9 / ((0.001 + square) * (1.0 + 1.58 * square.powf(0.9)));
                plane[i][0] += (push * x).clamp(-4.0, 4.0);
                plane[i][1] += (push * y).clamp(-4.0, 4.0);
            }
        }
    }
}

/// Both directions by the same factor into `0..size`; the outermost hundredth on either
/// side are put on the edge, so that a few far ones do not shrink the rest.
fn scale(plane: &mut [[f32; 2]], size: f32) {
    let range = |axis: usize| {
        let mut values: Vec<f32> = plane.iter().map(|place| place[axis]).collect();
        values.sort_unstable_by(f32::total_cmp);
        let cut = values.len() / 100;
        (values[cut], values[values.len() - 1 - cut])
    };
    let ranges = [range(0), range(1)];
    let width = ranges
        .iter()
        .map(|(low, high)| high - low)
        .fold(1e-9, f32::max);
    for place in plane {
        for (axis, (low, high)) in ranges.into_iter().enumerate() {
            let middle = (low + high) / 2.0;
            place[axis] = size * ((place[axis] - middle) / width + 0.5).clamp(0.0, 1.0);
        }
    }
}

/// Numbers by chance, the same every time (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_the_map_is_the_same_every_time() {
        let mut chance = Chance(5);
        let n_features = 16;
        let rows: Vec<f32> = (0..300)
            .flat_map(|i| {
                let mut row: Vec<f32> = (0..n_features)
                    .map(|_| 0.3 * (chance.uniform() - 0.5))
                    .collect();
                row[i % 3] += 1.0;
                row
            })
            .collect();
        let (x, y) = onto_plane(rows.clone(), n_features);
        assert!(x.iter().chain(&y).all(|place| (0.0..=1.0).contains(place)));
        // The nearest on the map is nearly always of the same group.
        let n_right = (0..300).filter(|&i| {
            let far = |j: usize| (x[i] - x[j]).powi(2) + (y[i] - y[j]).powi(2);
            let others = (0..300).filter(|&j| j != i);
            let nearest = others.min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap();
            nearest % 3 == i % 3
        });
        assert!(n_right.count() > 290);
        assert_eq!(onto_plane(rows, n_features), (x, y));
    }

    #[test]
    fn few_or_equal_documents_have_places_too() {
        for n in 0..5 {
            let (x, y) = onto_plane(vec![1.0; n * 4], 4);
            assert_eq!((x.len(), y.len()), (n, n));
            assert!(x.iter().chain(&y).all(|place| place.is_finite()));
        }
    }
}
