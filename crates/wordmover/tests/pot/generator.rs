//! Transport problems rebuilt bit for bit from (kind, seed, n, m, dim).
//!
//! The twin of `testdata/pot/problems.py`, which says what each kind is for.
//! Both use integer operations and single correctly rounded f64 operations only,
//! and the order of the draws and of every sum is part of the definition: a
//! reordered line here is a different problem, which the checksums notice.

/// Occurrences of a word in a document: mostly one, seldom many.
const COUNTS: [f64; 16] = [
    1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 9.0,
];

type Points = Vec<Vec<f64>>;

/// Points and unnormalised weights of both sides.
struct Parts {
    a: Points,
    b: Points,
    supply: Vec<f64>,
    demand: Vec<f64>,
}

/// Costs (row-major, n x m), supply and demand.
///
/// # Panics
///
/// If there is no such kind, or a size is zero.
pub fn build(
    kind: &str,
    seed: u64,
    n: usize,
    m: usize,
    dim: usize,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let Parts {
        a,
        b,
        supply,
        demand,
    } = parts(kind, seed, n, m, dim);
    (
        ground_costs(&a, &b),
        normalised(&supply),
        normalised(&demand),
    )
}

/// The points of both sides in single precision, one after the other, and the weights.
///
/// # Panics
///
/// As [`build`].
pub fn points(
    kind: &str,
    seed: u64,
    n: usize,
    m: usize,
    dim: usize,
) -> ([Vec<f32>; 2], [Vec<f64>; 2]) {
    let Parts {
        a,
        b,
        supply,
        demand,
    } = parts(kind, seed, n, m, dim);
    let single = |points: Points| points.into_iter().flatten().map(|x| x as f32).collect();
    (
        [single(a), single(b)],
        [normalised(&supply), normalised(&demand)],
    )
}

/// 64-bit FNV-1a over the little-endian bytes of all the values in turn.
pub fn checksum(parts: [&[f64]; 3]) -> u64 {
    parts
        .into_iter()
        .flatten()
        .flat_map(|value| value.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |state, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn parts(kind: &str, seed: u64, n: usize, m: usize, dim: usize) -> Parts {
    let mut stream = Stream { state: seed };
    // Fields are drawn in the order written: Rust evaluates them so.
    match kind {
        "uniform" => Parts {
            a: stream.cube(n, dim),
            b: stream.cube(m, dim),
            supply: stream.counts(n),
            demand: vec![1.0; m],
        },
        "weights" => Parts {
            a: stream.cube(n, dim),
            b: stream.cube(m, dim),
            supply: stream.powers(n),
            demand: stream.powers(m),
        },
        "ties" => {
            let side = 2 + stream.below(3);
            Parts {
                a: stream.lattice(n, dim, side),
                b: stream.lattice(m, dim, side),
                supply: stream.counts(n),
                demand: stream.counts(m),
            }
        }
        "shared" => shared(&mut stream, n, m, dim),
        "duplicates" => Parts {
            a: stream.repeated(n, dim),
            b: stream.repeated(m, dim),
            supply: stream.counts(n),
            demand: stream.counts(m),
        },
        "pairs" => Parts {
            a: stream.cube(n, dim),
            b: stream.cube(m, dim),
            supply: stream.counts(n),
            demand: stream.counts(m),
        },
        "unit" => {
            let equal = stream.below(2) == 0;
            Parts {
                a: stream.sphere(n, dim),
                b: stream.sphere(m, dim),
                supply: stream.counts(n),
                demand: if equal {
                    vec![1.0; m]
                } else {
                    stream.counts(m)
                },
            }
        }
        "zeros" => Parts {
            a: stream.cube(n, dim),
            b: stream.cube(m, dim),
            supply: stream.some_zero(n),
            demand: stream.some_zero(m),
        },
        "far" => far(&mut stream, n, m, dim),
        _ => panic!("no such kind: {kind}"),
    }
}

/// Two documents of which the second repeats some points of the first, shuffled.
fn shared(stream: &mut Stream, n: usize, m: usize, dim: usize) -> Parts {
    let variant = stream.below(4);
    let least = n.min(m);
    let n_shared = if variant < 2 {
        least
    } else {
        stream.below(least + 1)
    };
    let a = stream.cube(n, dim);
    let mut b = a[..n_shared].to_vec();
    b.extend(stream.cube(m - n_shared, dim));
    let supply = stream.counts(n);
    let mut demand = Vec::new();
    if variant == 0 {
        demand.extend_from_slice(&supply[..n_shared]);
    }
    demand.extend(stream.counts(m - demand.len()));
    for j in (1..m).rev() {
        let other = stream.below(j + 1);
        b.swap(j, other);
        demand.swap(j, other);
    }
    Parts {
        a,
        b,
        supply,
        demand,
    }
}

/// All points near, all far, or some of each, by factors 1e-6 and 1e6.
fn far(stream: &mut Stream, n: usize, m: usize, dim: usize) -> Parts {
    let variant = stream.below(3);
    let mut a = stream.cube(n, dim);
    let mut b = stream.cube(m, dim);
    for point in a.iter_mut().chain(&mut b) {
        let near = match variant {
            0 => true,
            1 => false,
            _ => stream.below(2) == 0,
        };
        let scale = if near { 1e-6 } else { 1e6 };
        point.iter_mut().for_each(|x| *x *= scale);
    }
    Parts {
        a,
        b,
        supply: stream.counts(n),
        demand: stream.counts(m),
    }
}

fn normalised(weights: &[f64]) -> Vec<f64> {
    let mut total = 0.0;
    for weight in weights {
        total += weight;
    }
    weights.iter().map(|weight| weight / total).collect()
}

fn ground_costs(a: &Points, b: &Points) -> Vec<f64> {
    let mut costs = Vec::with_capacity(a.len() * b.len());
    for x in a {
        for y in b {
            let mut square = 0.0;
            for (x_k, y_k) in x.iter().zip(y) {
                let difference = x_k - y_k;
                square += difference * difference;
            }
            costs.push(f64::sqrt(square));
        }
    }
    costs
}

/// SplitMix64 and what is drawn from it.
struct Stream {
    state: u64,
}

impl Stream {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// In [0, 1), a multiple of 2^-53.
    fn unit_interval(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn points(&mut self, n: usize, dim: usize, mut draw: impl FnMut(&mut Self) -> f64) -> Points {
        (0..n)
            .map(|_| (0..dim).map(|_| draw(self)).collect())
            .collect()
    }

    /// Coordinates in [-1, 1).
    fn cube(&mut self, n: usize, dim: usize) -> Points {
        self.points(n, dim, |stream| 2.0 * stream.unit_interval() - 1.0)
    }

    fn lattice(&mut self, n: usize, dim: usize, side: usize) -> Points {
        self.points(n, dim, |stream| stream.below(side) as f64)
    }

    /// Points of the cube scaled to unit length.
    fn sphere(&mut self, n: usize, dim: usize) -> Points {
        let mut points = self.cube(n, dim);
        for point in &mut points {
            let mut square = 0.0;
            for x in point.iter() {
                square += x * x;
            }
            let length = f64::sqrt(square);
            point.iter_mut().for_each(|x| *x /= length);
        }
        points
    }

    /// Points drawn with replacement from at most (n + 1) / 2 distinct ones.
    fn repeated(&mut self, n: usize, dim: usize) -> Points {
        let n_distinct = 1 + self.below(n.div_ceil(2));
        let pool = self.cube(n_distinct, dim);
        (0..n)
            .map(|_| pool[self.below(n_distinct)].clone())
            .collect()
    }

    fn count(&mut self) -> f64 {
        COUNTS[self.below(COUNTS.len())]
    }

    fn counts(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.count()).collect()
    }

    /// Weights u * 2^-k with u in [1/2, 1) and k in 0..=27.
    fn powers(&mut self, n: usize) -> Vec<f64> {
        (0..n)
            .map(|_| {
                let mantissa = 0.5 + 0.5 * self.unit_interval();
                mantissa / (1_u64 << self.below(28)) as f64
            })
            .collect()
    }

    /// Counts of which about a third, but never all, are zero.
    fn some_zero(&mut self, n: usize) -> Vec<f64> {
        let mut weights: Vec<f64> = (0..n)
            .map(|_| {
                let count = self.count();
                if self.below(3) == 0 { 0.0 } else { count }
            })
            .collect();
        let kept = self.below(n);
        if weights[kept] == 0.0 {
            weights[kept] = 1.0;
        }
        weights
    }
}
