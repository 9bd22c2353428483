//! Results do not depend on the processor's flags for subnormal numbers, which fast-math
//! libraries set for a whole process. Distances of some 35 words never ended with them.
#![cfg(target_arch = "x86_64")]

use std::arch::asm;
use std::sync::Arc;

use wordmover::transport::{self, Certificate, Solution};
use wordmover::{
    Document, EmbeddingParams, WordMoversEmbedding, WordVectors,
    embedding::Gamma,
    random_documents::RandomWords,
    space::{Normalization, WordSpace},
    wmd,
};

/// Denormals-are-zero, flush-to-zero, and both.
const FLAGS: [u32; 3] = [0x40, 0x8000, 0x8040];

fn mxcsr() -> u32 {
    let mut register = 0;
    // SAFETY: stores the control register to a variable of ours.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack)) };
    register
}

fn set_mxcsr(register: u32) {
    // SAFETY: no bit is set but those that were read and flags that every x86-64 processor has.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

/// Runs `work` in a thread with the flags set; threads that it starts inherit them.
fn with_flags<T: Send>(flags: u32, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let default = mxcsr();
            set_mxcsr(default | flags);
            let result = work();
            assert_eq!(mxcsr() & flags, flags, "the caller's flags are restored");
            set_mxcsr(default);
            result
        });
        thread.join().expect("the thread ends")
    })
}

/// A fixed generator of numbers from 0 to 1.
fn uniforms(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn bits(solution: &Solution) -> Vec<u64> {
    let flows = solution.flows.iter().flat_map(|flow| {
        let arc = u64::from(flow.from) << 32 | u64::from(flow.to);
        [arc, flow.mass.to_bits()]
    });
    let duals = solution.supply_duals.iter().chain(&solution.demand_duals);
    flows
        .chain(duals.map(|dual| dual.to_bits()))
        .chain([solution.cost.to_bits()])
        .collect()
}

#[test]
fn every_solver_gives_the_same_bits() {
    let shapes = [
        (1, 1),
        (7, 1),
        (9, 2),
        (40, 2),
        (10, 3),
        (72, 3),
        (10, 6),
        (23, 6),
        (72, 6),
        (24, 12),
        (40, 21),
        (195, 24),
        (26, 25),
        (35, 35),
        (66, 70),
        (120, 90),
    ];
    let mut uniform = uniforms(5);
    for round in 0..6 {
        for (n, m) in shapes {
            // Ties leave reduced costs of zero, whose last bits hold numbers.
            let mut cost = || match round {
                0 => (uniform() * 4.0).floor(),
                1 => 1e-304 * uniform(),
                2 => 1e-310 * uniform(),
                _ => uniform(),
            };
            let costs: Vec<f64> = (0..n * m).map(|_| cost()).collect();
            let mut weights = |n: usize| {
                let counts: Vec<f64> = (0..n).map(|_| (1.0 + 4.0 * uniform()).floor()).collect();
                let total: f64 = counts.iter().sum();
                counts.iter().map(|x| x / total).collect::<Vec<f64>>()
            };
            let (supply, demand) = (weights(n), weights(m));
            let expected = transport::solve(&costs, &supply, &demand).unwrap();
            let certificate = Certificate::check(&costs, &supply, &demand, &expected);
            // Products with subnormal costs have few digits themselves.
            let tolerance = if round == 2 { 1e-9 } else { 1e-12 };
            assert!(certificate.holds(tolerance), "{n} x {m}: {certificate:?}");
            for flags in FLAGS {
                let found = with_flags(flags, || {
                    transport::solve(&costs, &supply, &demand).unwrap()
                });
                assert_eq!(bits(&found), bits(&expected), "{n} x {m}, {flags:#x}");
            }
        }
    }
}

const N_WORDS: usize = 300;
const DIM: usize = 20;

fn vectors() -> Arc<WordVectors> {
    let mut uniform = uniforms(9);
    let words = (0..N_WORDS).map(|i| format!("w{i}")).collect();
    let matrix = (0..N_WORDS * DIM).map(|_| uniform() as f32 - 0.5).collect();
    Arc::new(WordVectors::from_rows("random", words, matrix, DIM).unwrap())
}

#[test]
fn distances_between_documents_end_with_the_same_bits() {
    let space = WordSpace::new(vectors(), Normalization::Unit, &[]).unwrap();
    let mut uniform = uniforms(17);
    for n_words in [3, 12, 35, 80] {
        let mut document = || {
            let words: std::collections::BTreeSet<u32> = (0..n_words)
                .map(|_| (uniform() * N_WORDS as f64) as u32)
                .collect();
            let weight = 1.0 / words.len() as f64;
            Document::from_weights(words.iter().map(|&word| (word, weight))).unwrap()
        };
        let (x, y) = (document(), document());
        let expected = wmd::transport(&space, &x, &y).unwrap();
        for flags in FLAGS {
            let found = with_flags(flags, || wmd::distance(&space, &x, &y).unwrap());
            assert_eq!(found.to_bits(), expected.distance.to_bits(), "{n_words}");
            let found = with_flags(flags, || wmd::transport(&space, &x, &y).unwrap());
            assert_eq!(found, expected, "{n_words}");
        }
    }
}

#[test]
fn embeddings_on_threads_that_inherit_the_flags_have_the_same_bits() {
    let mut uniform = uniforms(23);
    let mut text = || -> String {
        let word = |_| format!("w{} ", (uniform() * N_WORDS as f64) as usize);
        (0..30).map(word).collect()
    };
    let texts: Vec<String> = (0..20).map(|_| text()).collect();
    // At the greater gamma, features in single precision are subnormal numbers.
    for gamma in [1.0, 80.0] {
        let params = EmbeddingParams::default()
            .n_features(64)
            .d_max(12)
            .gamma(Gamma::Value(gamma))
            .random_words(RandomWords::Uniform)
            .raw();
        let model = WordMoversEmbedding::fit(params, vectors(), &texts).unwrap();
        let embed = || {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(2)
                .build()
                .unwrap();
            let features = pool.install(|| model.transform(&texts).unwrap());
            features.iter().map(|x| x.to_bits()).collect::<Vec<u32>>()
        };
        let expected = embed();
        if gamma > 1.0 {
            let is_subnormal = |&bits: &u32| f32::from_bits(bits).is_subnormal();
            assert!(expected.iter().any(is_subnormal), "nothing to lose");
        }
        for flags in FLAGS {
            assert_eq!(with_flags(flags, embed), expected, "{gamma}, {flags:#x}");
        }
    }
}
