//! The GPU against the library. Without a GPU these tests say that they were skipped.

#![expect(clippy::print_stderr, reason = "skipped tests say so")]

use std::sync::Arc;

use wordmover::transport::Workspace;
use wordmover::{EmbeddingParams, ModelFile, WordMoversEmbedding, WordVectors};
use wordmover_cuda::{Bags, Device, Error, RandomDocuments, distance_on_host};

/// The GPU; none where there is none.
fn device() -> Option<Device> {
    match Device::open(0) {
        Ok(device) => Some(device),
        Err(error @ (Error::NoDriver | Error::NoDevice { .. })) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn without_a_driver_one_sentence_says_so() {
    if !Device::has_driver() {
        let error = Device::open(0).expect_err("there is no driver");
        assert_eq!(
            error.to_string(),
            "no CUDA driver is installed on this machine"
        );
    }
}

/// A small generator: the same problems everywhere.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    fn vectors(&mut self, n: usize, dim: usize, is_unit: bool) -> Vec<f32> {
        let mut vectors: Vec<f32> = (0..n * dim).map(|_| self.uniform() as f32 - 0.4).collect();
        for vector in vectors.chunks_exact_mut(dim) {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            if is_unit {
                vector.iter_mut().for_each(|x| *x /= length);
            }
        }
        vectors
    }
}

#[derive(Default)]
struct Problem {
    dim: usize,
    vectors: Vec<f32>,
    starts: Vec<usize>,
    words: Vec<u32>,
    weights: Vec<f64>,
    random_starts: Vec<usize>,
    random_vectors: Vec<f32>,
}

impl Problem {
    fn new(random: &mut Random, dim: usize, n_words: usize, is_unit: bool) -> Self {
        Problem {
            dim,
            vectors: random.vectors(n_words, dim, is_unit),
            starts: vec![0],
            random_starts: vec![0],
            ..Problem::default()
        }
    }

    fn add_document(&mut self, random: &mut Random, length: usize, is_counted: bool) {
        let n_words = self.vectors.len() / self.dim;
        let first = random.below(n_words);
        let weight = |random: &mut Random| match is_counted {
            true => 1.0 + random.below(4) as f64,
            false => 0.01 + random.uniform(),
        };
        let raw: Vec<f64> = (0..length).map(|_| weight(random)).collect();
        let total: f64 = raw.iter().sum();
        for (i, raw) in raw.into_iter().enumerate() {
            self.words.push(((first + i) % n_words) as u32);
            self.weights.push(raw / total);
        }
        self.starts.push(self.words.len());
    }

    fn add_random(&mut self, vectors: &[f32]) {
        self.random_vectors.extend_from_slice(vectors);
        self.random_starts
            .push(self.random_vectors.len() / self.dim);
    }

    /// Solves on the device and compares every distance; gives the share that has other bits.
    fn check(&self, device: &Device) -> f64 {
        let (n, r) = (self.starts.len() - 1, self.random_starts.len() - 1);
        let mut found = vec![-1f32; n * r];
        let bags = Bags {
            starts: &self.starts,
            words: &self.words,
            weights: &self.weights,
        };
        let random = RandomDocuments {
            starts: &self.random_starts,
            vectors: &self.random_vectors,
        };
        let statistics = device
            .distances(&self.vectors, self.dim, bags, random, &mut found)
            .expect("solved");
        assert_eq!(statistics.distances, (n * r) as u64);
        let mut workspace = Workspace::default();
        let mut n_other = 0;
        for i in 0..n {
            let range = self.starts[i]..self.starts[i + 1];
            let row = |&word: &u32| &self.vectors[word as usize * self.dim..][..self.dim];
            let vectors: Vec<f32> = self.words[range.clone()]
                .iter()
                .flat_map(row)
                .copied()
                .collect();
            for j in 0..r {
                let found = found[i * r + j];
                if range.is_empty() {
                    assert_eq!(found, f32::INFINITY);
                    continue;
                }
                let words = &self.random_vectors
                    [self.random_starts[j] * self.dim..self.random_starts[j + 1] * self.dim];
                let weights = &self.weights[range.clone()];
                let expected = distance_on_host(&vectors, weights, words, self.dim, &mut workspace)
                    .expect("solved");
                assert!(
                    (found - expected).abs() <= 1e-6 * expected,
                    "document {i} of {} words, random document {j} of {}: {found}, not {expected}",
                    range.len(),
                    words.len() / self.dim
                );
                n_other += usize::from(found.to_bits() != expected.to_bits());
            }
        }
        n_other as f64 / (n * r) as f64
    }
}

#[test]
fn distances_of_every_shape_are_the_librarys() {
    let Some(device) = device() else { return };
    let random = &mut Random(1);
    let mut problem = Problem::new(random, 37, 3000, true);
    for length in [
        0, 1, 2, 3, 7, 16, 17, 31, 33, 64, 72, 72, 72, 97, 130, 200, 333, 500, 1000, 0, 2500,
    ] {
        for is_counted in [true, false] {
            problem.add_document(random, length, is_counted);
        }
    }
    for n_sinks in (1..=36).chain([1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1, 2, 2, 2, 60]) {
        let vectors = random.vectors(n_sinks, 37, true);
        problem.add_random(&vectors);
    }
    // All within 1e-6 of their value; a few differ in the last bit (docs/gpu.md).
    let other = problem.check(&device);
    assert!(other < 1e-2, "{other}");
}

#[test]
fn random_documents_of_the_vocabulary_are_solved() {
    let Some(device) = device() else { return };
    let random = &mut Random(2);
    let mut problem = Problem::new(random, 10, 400, false);
    for _ in 0..50 {
        let length = 1 + random.below(120);
        problem.add_document(random, length, true);
    }
    for _ in 0..100 {
        let words: Vec<f32> = (0..1 + random.below(8))
            .flat_map(|_| {
                let word = random.below(400) * 10;
                problem.vectors[word..word + 10].to_vec()
            })
            .collect();
        problem.add_random(&words);
    }
    // A document at distance zero.
    problem.words.push(5);
    problem.weights.push(1.0);
    problem.starts.push(problem.words.len());
    let word = problem.vectors[50..60].to_vec();
    problem.add_random(&word);
    problem.check(&device);
}

#[test]
fn lengths_that_single_precision_cannot_square_are_solved() {
    let Some(device) = device() else { return };
    for scale in [1e30f32, 1e-30, 1e-3] {
        let random = &mut Random(3);
        let mut problem = Problem::new(random, 5, 60, false);
        problem.vectors.iter_mut().for_each(|x| *x *= scale);
        // One long vector makes all others' costs coarse.
        problem.vectors[..5].iter_mut().for_each(|x| *x *= 1000.0);
        for _ in 0..20 {
            let length = 1 + random.below(30);
            problem.add_document(random, length, false);
        }
        for n_sinks in 1..9 {
            let mut vectors = random.vectors(n_sinks, 5, false);
            vectors.iter_mut().for_each(|x| *x *= scale);
            problem.add_random(&vectors);
        }
        problem.check(&device);
    }
}

#[test]
fn a_distance_does_not_depend_on_what_else_is_asked() {
    let Some(device) = device() else { return };
    let random = &mut Random(4);
    let mut problem = Problem::new(random, 20, 500, true);
    for _ in 0..300 {
        let length = 1 + random.below(90);
        problem.add_document(random, length, true);
    }
    for _ in 0..200 {
        let n_sinks = 1 + random.below(6);
        let vectors = random.vectors(n_sinks, 20, true);
        problem.add_random(&vectors);
    }
    let distances = |n: usize, r: usize| {
        let bags = Bags {
            starts: &problem.starts[..n + 1],
            words: &problem.words[..problem.starts[n]],
            weights: &problem.weights[..problem.starts[n]],
        };
        let random = RandomDocuments {
            starts: &problem.random_starts[..r + 1],
            vectors: &problem.random_vectors[..problem.random_starts[r] * 20],
        };
        let mut out = vec![0f32; n * r];
        device
            .distances(&problem.vectors, 20, bags, random, &mut out)
            .expect("solved");
        out
    };
    let all = distances(300, 200);
    let some = distances(17, 23);
    for (all, some) in all.chunks(200).zip(some.chunks(23)) {
        assert_eq!(&all[..23], some);
    }
}

#[test]
fn an_embedding_on_the_gpu_has_the_features_of_the_cpu() {
    let Some(device) = device() else { return };
    let random = &mut Random(5);
    let vectors = Arc::new(WordVectors::builtin());
    let texts: Vec<String> = (0..400)
        .map(|_| {
            let n_words = 1 + random.below(60);
            let words = (0..n_words).map(|_| vectors.word(random.below(20_000) as u32));
            words.collect::<Vec<_>>().join(" ")
        })
        .chain(["".to_owned(), "goverment Zyrtecon".to_owned()])
        .collect();
    let params = EmbeddingParams::default().n_features(300);
    let on_cpu = WordMoversEmbedding::fit(params, vectors, &texts).expect("fitted");
    let expected = on_cpu.transform(&texts).expect("embedded");
    let bytes = on_cpu.to_bytes(false).expect("written");
    let read = ModelFile::from_bytes(&bytes, "m.wme").expect("read");
    let on_gpu = read.with_vectors(None).expect("built-in vectors");
    let on_gpu = on_gpu.with_accelerator(Some(Arc::new(device)));
    let found = on_gpu.transform(&texts).expect("embedded");
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((found - expected).abs() < 1e-4, "{i}: {found} {expected}");
    }
}
