//! The kernels' solver, compiled for the host (`kernels/twin.cpp`), against the library's.
//!
//! The same source as on the GPU: lanes of a group are fibers that take turns. Needs a C++
//! compiler on Linux; says so where there is none.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "skipped tests say so")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use wordmover::transport::Workspace;

type Solve = unsafe extern "C" fn(
    costs: *const i32,
    stride: i32,
    n_sources: i32,
    n_sinks: i32,
    masses: *const u32,
    weights: *const f64,
    capacity: i32,
    n_lanes: i32,
    is_reversed: i32,
) -> f64;

/// The twin's library, compiled once; none without a compiler.
fn twin() -> Option<&'static libloading::Library> {
    static TWIN: OnceLock<Option<libloading::Library>> = OnceLock::new();
    let library = TWIN.get_or_init(|| {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/twin.cpp");
        let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("libtwin.so");
        let options = [
            "-O2",
            "-std=c++17",
            "-ffp-contract=off",
            "-shared",
            "-fPIC",
            "-o",
        ];
        let mut command = Command::new(&compiler);
        let status = command.args(options).arg(&target).arg(&source).status();
        match status {
            Err(_) => {
                eprintln!("skipped: no C++ compiler `{compiler}`");
                None
            }
            Ok(status) => {
                assert!(status.success(), "kernels/twin.cpp does not compile");
                // SAFETY: compiled from our source just now; loading runs nothing.
                Some(unsafe { libloading::Library::new(&target) }.expect("just compiled"))
            }
        }
    });
    library.as_ref()
}

/// The groups of lanes the kernels have.
fn groups(n_sinks: usize) -> &'static [i32] {
    match n_sinks {
        2 => &[2, 8],
        3 | 4 => &[4, 16],
        5..=8 => &[8, 32],
        9..=16 => &[16, 32],
        _ => &[32],
    }
}

struct Problem {
    n_sinks: usize,
    costs: Vec<i32>,
    masses: Vec<u32>,
}

impl Problem {
    fn weights(&self) -> Vec<f64> {
        let total: f64 = self.masses.iter().map(|&m| f64::from(m)).sum();
        self.masses.iter().map(|&m| f64::from(m) / total).collect()
    }

    fn expected(&self) -> f64 {
        let costs: Vec<f64> = self.costs.iter().map(|&c| f64::from(c)).collect();
        let demand = vec![1.0 / self.n_sinks as f64; self.n_sinks];
        let solved = Workspace::default().solve(&costs, &self.weights(), &demand);
        solved.expect("solved")
    }

    fn found(
        &self,
        twin: &libloading::Library,
        capacity: usize,
        lanes: i32,
        is_reversed: bool,
    ) -> f64 {
        let weights = self.weights();
        // SAFETY: the function has this type (twin.cpp), and the slices are as long as it reads.
        unsafe {
            let solve = twin.get::<Solve>(b"twin_solve").expect("exported");
            solve(
                self.costs.as_ptr(),
                self.n_sinks as i32,
                self.masses.len() as i32,
                self.n_sinks as i32,
                self.masses.as_ptr(),
                weights.as_ptr(),
                capacity as i32,
                lanes,
                i32::from(is_reversed),
            )
        }
    }

    /// By how much the distance may be off (docs/gpu.md): counts are exact, other masses are
    /// integers below 2^30 that need not split evenly.
    fn tolerance(&self) -> f64 {
        let total: u64 = self.masses.iter().map(|&m| u64::from(m)).sum();
        let (least, most) = (self.costs.iter().min(), self.costs.iter().max());
        let spread = f64::from(*most.expect("costs")) - f64::from(*least.expect("costs"));
        match total < 1 << 20 {
            true => 0.0,
            false => spread * self.masses.len() as f64 / f64::from(1 << 29),
        }
    }

    /// Whether a distance is right.
    fn is_right(&self, found: f64, expected: f64) -> bool {
        // The library's distance is a sum over its plan, good to 1e-14 of the largest cost.
        let largest = self.costs.iter().max().map_or(0.0, |&cost| f64::from(cost));
        let rounding = 1e-12 * expected.max(1.0) + 1e-14 * largest;
        (found - expected).abs() <= self.tolerance() + rounding
    }

    /// Solves with every group, in both orders, with lists as the kernels have them and with
    /// room for all.
    fn check(&self, twin: &libloading::Library) {
        let n = self.masses.len();
        let expected = self.expected();
        for &lanes in groups(self.n_sinks) {
            for capacity in [0, n] {
                let found = self.found(twin, capacity, lanes, false);
                let name = format!("{n} x {}, {lanes} lanes, lists of {capacity}", self.n_sinks);
                let reversed = self.found(twin, capacity, lanes, true);
                assert_eq!(
                    found.to_bits(),
                    reversed.to_bits(),
                    "order of lanes: {name}"
                );
                if found == -1.0 && capacity == 0 {
                    continue;
                }
                assert!(
                    self.is_right(found, expected),
                    "{name}: {found}, not {expected}"
                );
            }
        }
    }
}

/// A small generator: the same problems everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

fn random_problem(random: &mut Random) -> Problem {
    let n_sinks = 2 + random.below(31) as usize;
    let n = 1 + random.below(150) as usize;
    let kind = random.below(5);
    let cost = |random: &mut Random| match kind {
        // As of unit vectors; few values, so ties; the largest there are; nothing; blocks.
        0 => (1 << 25) + random.below(1 << 24) as i32,
        1 => 1000 * random.below(4) as i32,
        2 => random.below(1 << 27) as i32,
        3 => 5,
        _ => (random.below(3) << 25) as i32 + random.below(100) as i32,
    };
    let costs = (0..n * n_sinks).map(|_| cost(random)).collect();
    let kind = random.below(4);
    let mass = |random: &mut Random| match kind {
        0 => 1,
        1 => 1 + random.below(6) as u32,
        2 => 1 + random.below((1 << 30) / n as u64) as u32,
        _ => 1 + random.below(2) as u32 * (1 << 22),
    };
    let masses = (0..n).map(|_| mass(random)).collect();
    Problem {
        n_sinks,
        costs,
        masses,
    }
}

#[test]
fn every_group_of_lanes_solves_what_the_library_solves() {
    let Some(twin) = twin() else { return };
    let mut random = Random(7);
    for _ in 0..100 {
        random_problem(&mut random).check(twin);
    }
}

#[test]
fn small_and_degenerate_problems_are_solved() {
    let Some(twin) = twin() else { return };
    for n_sinks in [2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 21, 32] {
        for n in [1, 2, n_sinks - 1, n_sinks, n_sinks + 1, 2 * n_sinks] {
            // All alike; sinks apart; sources apart; each at its own sink.
            let cost: [fn(usize, usize, usize) -> i32; 4] = [
                |_, _, _| 0,
                |_, k, _| 1000 * k as i32,
                |i, _, _| 77 * i as i32,
                |i, k, m| i32::from(i % m != k) << 26,
            ];
            for cost in cost {
                let entries = (0..n * n_sinks).map(|e| cost(e / n_sinks, e % n_sinks, n_sinks));
                let problem = Problem {
                    n_sinks,
                    costs: entries.collect(),
                    masses: vec![1; n],
                };
                problem.check(twin);
            }
        }
    }
}

#[test]
fn long_documents_are_solved() {
    let Some(twin) = twin() else { return };
    let mut random = Random(3);
    for n_sinks in [2, 3, 6, 13, 21] {
        let n = 500;
        let problem = Problem {
            n_sinks,
            costs: (0..n * n_sinks)
                .map(|_| (1 << 25) + random.below(1 << 23) as i32)
                .collect(),
            masses: (0..n).map(|_| 1 + random.below(3) as u32).collect(),
        };
        problem.check(twin);
    }
}

#[test]
fn lists_without_room_are_said_and_not_guessed() {
    let Some(twin) = twin() else { return };
    let mut random = Random(11);
    let mut n_without = 0;
    for _ in 0..200 {
        let problem = random_problem(&mut random);
        let expected = problem.expected();
        let lanes = groups(problem.n_sinks)[0];
        let capacity = 1 + random.below(12) as usize;
        let found = problem.found(twin, capacity, lanes, false);
        n_without += i32::from(found == -1.0);
        assert!(found == -1.0 || problem.is_right(found, expected));
    }
    assert!((50..200).contains(&n_without), "{n_without}");
}
