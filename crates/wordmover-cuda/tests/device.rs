//! The GPU against the library. Without a GPU these tests say that they were skipped.

#![expect(clippy::print_stderr, reason = "skipped tests say so")]

use std::sync::Arc;

use wordmover::transport::{self, Certificate, Workspace};
use wordmover::{EmbeddingParams, ModelFile, WordMoversEmbedding, WordVectors};
use wordmover_cuda::{Bags, Device, Error, RandomDocuments, TransportProblem, distance_on_host};

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

/// Problems of any shapes, kept together.
#[derive(Default)]
struct Batch(Vec<[Vec<f64>; 3]>);

impl Batch {
    fn problems(&self) -> Vec<TransportProblem<'_>> {
        let problems = self.0.iter();
        let problems = problems.map(|[costs, supply, demand]| TransportProblem {
            costs,
            supply,
            demand,
        });
        problems.collect()
    }

    fn add(&mut self, random: &mut Random, n: usize, m: usize, kind: usize) {
        let cost = |random: &mut Random| match kind % 4 {
            0 | 1 => random.uniform(),
            2 => random.below(4) as f64,
            _ => random.uniform() * 2e6 - 1e6,
        };
        let costs = (0..n * m).map(|_| cost(random)).collect();
        let mut weights = |n: usize| -> Vec<f64> {
            let raw: Vec<f64> = (0..n)
                .map(|i| match kind % 5 {
                    0 => 1.0,
                    1 => 1.0 + random.below(4) as f64,
                    2 if i > 0 => random.below(3) as f64,
                    _ => 0.001 + random.uniform(),
                })
                .collect();
            let total: f64 = raw.iter().sum();
            raw.iter().map(|w| w / total).collect()
        };
        let (supply, demand) = (weights(n), weights(m));
        self.0.push([costs, supply, demand]);
    }

    /// Solves on the device and compares every cost; gives how many the CPU had to solve.
    fn check(&self, device: &Device) -> u64 {
        let problems = self.problems();
        let (costs, statistics) = device
            .transport_costs(&problems, &Arc::default())
            .expect("solved");
        assert_eq!(statistics.problems, problems.len() as u64);
        let mut workspace = Workspace::default();
        for (i, (problem, found)) in problems.iter().zip(&costs).enumerate() {
            let TransportProblem {
                costs,
                supply,
                demand,
            } = *problem;
            let expected = transport::cost(costs, supply, demand, &mut workspace).expect("solved");
            let largest = costs.iter().fold(0.0f64, |most, c| most.max(c.abs()));
            assert!(
                (found - expected).abs() <= 1e-12 * largest,
                "problem {i}, {} x {}: {found}, not {expected}",
                supply.len(),
                demand.len()
            );
        }
        statistics.on_host
    }
}

#[test]
fn transport_problems_of_every_shape_have_the_costs_of_the_library() {
    let Some(device) = device() else { return };
    let random = &mut Random(6);
    let sizes = [1, 2, 3, 10, 31, 40, 64, 72, 97, 120, 190, 250, 390];
    let mut batch = Batch::default();
    for kind in 0..20 {
        for n in sizes {
            let m = sizes[random.below(sizes.len())];
            batch.add(random, n, m, kind);
        }
    }
    for (n, m) in [
        (500, 500),
        (1, 5000),
        (5000, 1),
        (40, 3000),
        (3000, 40),
        (1100, 900),
    ] {
        batch.add(random, n, m, 3);
    }
    assert_eq!(batch.check(&device), 0);
}

#[test]
fn large_transport_problems_are_solved() {
    let Some(device) = device() else { return };
    let random = &mut Random(7);
    let mut batch = Batch::default();
    batch.add(random, 2000, 2000, 0);
    batch.add(random, 2000, 2000, 3);
    // Beyond the shared memory of any GPU.
    batch.add(random, 300, 9000, 1);
    assert_eq!(batch.check(&device), 0);
}

#[test]
fn batches_in_many_parts_are_in_order() {
    let Some(device) = device() else { return };
    let random = &mut Random(8);
    let mut batch = Batch::default();
    // 64 MiB and more.
    for i in 0..20_000 {
        let (n, m) = (10 + i % 30, 5 + i % 41);
        batch.add(random, n, m, i);
    }
    assert_eq!(batch.check(&device), 0);
}

#[test]
fn solutions_on_the_gpu_have_certificates() {
    let Some(device) = device() else { return };
    let random = &mut Random(9);
    let mut batch = Batch::default();
    for i in 0..200 {
        let (n, m) = (1 + random.below(150), 1 + random.below(150));
        batch.add(random, n, m, i);
    }
    let problems = batch.problems();
    let (solutions, _) = device
        .transport_solutions(&problems, &Arc::default())
        .expect("solved");
    for (problem, solution) in problems.iter().zip(&solutions) {
        let TransportProblem {
            costs,
            supply,
            demand,
        } = *problem;
        let certificate = Certificate::check(costs, supply, demand, solution);
        assert!(certificate.holds(1e-12), "{certificate:?}");
    }
}

#[test]
fn what_the_library_refuses_is_refused_by_its_number() {
    let Some(device) = device() else { return };
    let random = &mut Random(10);
    let mut batch = Batch::default();
    for i in 0..8 {
        batch.add(random, 5, 6, i);
    }
    // Not for the device, but for the library.
    batch.0[2][0].iter_mut().for_each(|cost| *cost *= 1e-290);
    batch.0[3][1][0] += 1e-10;
    assert_eq!(batch.check(&device), 2);
    let refusal = |change: fn(&mut [Vec<f64>; 3])| {
        let mut bad = Batch(batch.0.clone());
        change(&mut bad.0[5]);
        let solved = device.transport_costs(&bad.problems(), &Arc::default());
        match solved.expect_err("refused") {
            Error::Problem { index: 5, source } => source.to_string(),
            error => panic!("{error}"),
        }
    };
    let not_a_number = refusal(|problem| problem[0][7] = f64::NAN);
    assert!(not_a_number.contains("NaN"), "{not_a_number}");
    let unbalanced = refusal(|problem| problem[1][0] += 0.5);
    assert!(unbalanced.contains("sum"), "{unbalanced}");
    let shape = refusal(|problem| problem[0].truncate(3));
    assert!(shape.contains("30"), "{shape}");
    let stopped = device.transport_costs(&batch.problems(), &Arc::new(true.into()));
    assert!(matches!(
        stopped,
        Err(Error::Host(wordmover::Error::Interrupted))
    ));
    let nothing = device.transport_costs(&[], &Arc::default());
    assert!(nothing.expect("none to solve").0.is_empty());
}
