//! Time of each stage on made-up data of real shapes: solver, distances, embedding.
//!
//! Whether results are right is for the tests; here each benchmark only asserts that
//! it computes what it says.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use wordmover::transport::Workspace;
use wordmover::{
    Document, EmbeddingParams, WordMoversEmbedding, WordVectors,
    space::{Normalization, WordSpace},
    wmd,
};

/// splitmix64: uniform numbers from a fixed seed.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn weights(&mut self, n: usize) -> Vec<f64> {
        let counts: Vec<f64> = (0..n).map(|_| 1.0 + (self.next() * 3.0).floor()).collect();
        let total: f64 = counts.iter().sum();
        counts.iter().map(|count| count / total).collect()
    }

    /// Points on the unit sphere, as words are by default.
    fn sphere(&mut self, n: usize, dim: usize) -> Vec<Vec<f64>> {
        let mut point = || {
            let x: Vec<f64> = (0..dim).map(|_| self.next() - 0.5).collect();
            let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / length).collect()
        };
        (0..n).map(|_| point()).collect()
    }
}

fn costs(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<f64> {
    let distance = |x: &Vec<f64>, y: &Vec<f64>| -> f64 {
        x.iter()
            .zip(y)
            .map(|(x, y)| (x - y) * (x - y))
            .sum::<f64>()
            .sqrt()
    };
    a.iter()
        .flat_map(|x| b.iter().map(move |y| distance(x, y)))
        .collect()
}

fn solver(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("solve");
    let shapes = [
        (10, 3),
        (40, 3),
        (72, 1),
        (72, 3),
        (72, 6),
        (72, 12),
        (72, 21),
        (500, 6),
        (72, 72),
        (120, 120),
    ];
    for (n, m) in shapes {
        let mut uniform = Uniform(1);
        // Many problems, so that branches are not learnt by heart.
        let problems: Vec<_> = (0..400_000usize.div_ceil(n * m).clamp(32, 1024))
            .map(|_| {
                let costs = costs(&uniform.sphere(n, 50), &uniform.sphere(m, 50));
                (costs, uniform.weights(n), vec![1.0 / m as f64; m])
            })
            .collect();
        let mut workspace = Workspace::default();
        group.bench_function(BenchmarkId::from_parameter(format!("{n}x{m}")), |bencher| {
            let mut i = 0;
            bencher.iter(|| {
                let (costs, supply, demand) = &problems[i % problems.len()];
                i += 1;
                let cost = workspace
                    .solve(costs, supply, demand)
                    .expect("a sound problem");
                assert!(cost > 0.0);
                cost
            });
        });
    }
    group.finish();
}

fn vectors(n: usize, dim: usize) -> Arc<WordVectors> {
    let mut uniform = Uniform(2);
    let words = (0..n).map(|i| format!("w{i}")).collect();
    let matrix = (0..n * dim)
        .map(|_| (uniform.next() - 0.5) as f32)
        .collect();
    Arc::new(WordVectors::from_rows("random", words, matrix, dim).expect("sound vectors"))
}

fn documents(n: usize, length: usize, n_words: usize) -> Vec<Document> {
    let mut uniform = Uniform(3);
    (0..n)
        .map(|_| {
            let weights = uniform.weights(length);
            let word = |_| (uniform.next() * n_words as f64) as u32;
            let words: Vec<u32> = (0..length).map(word).collect();
            Document::from_weights(words.into_iter().zip(weights)).expect("a sound document")
        })
        .collect()
}

fn distances(criterion: &mut Criterion) {
    let space = WordSpace::new(vectors(2000, 100), Normalization::Unit, &[]).expect("a space");
    let pairs = documents(64, 40, 2000);
    criterion.bench_function("wmd/40x40x100d", |bencher| {
        let mut i = 0;
        bencher.iter(|| {
            i += 1;
            let (x, y) = (&pairs[i % 64], &pairs[(i * 7 + 1) % 64]);
            wmd::distance(black_box(&space), x, y).expect("a distance")
        });
    });
}

fn embedding(criterion: &mut Criterion) {
    let texts: Vec<String> = (0..200)
        .map(|i| format!("w{i} w{}", i * 7 % 2000))
        .collect();
    let params = EmbeddingParams::default().n_features(128);
    let model = WordMoversEmbedding::fit(params, vectors(2000, 100), &texts).expect("a model");
    let documents = documents(100, 60, 2000);
    let mut group = criterion.benchmark_group("embed");
    group.sample_size(20);
    group.bench_function("100 documents of 60 words, R = 128", |bencher| {
        bencher.iter(|| {
            let z = model.embed(&documents).expect("an embedding");
            assert_eq!(z.len(), 100 * 128);
            z
        });
    });
    group.finish();
}

criterion_group!(benches, solver, distances, embedding);
criterion_main!(benches);
