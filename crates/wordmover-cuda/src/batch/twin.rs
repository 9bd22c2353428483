//! The kernels' solver, compiled for the host (`kernels/twin_batch.cpp`), against the library's
//! and POT's: the way of a batch without a GPU.
//!
//! The same source as on the GPU: threads of a block are fibers that take turns. Needs a C++
//! compiler on Linux; says so where there is none.

#![expect(clippy::print_stderr, reason = "skipped tests say so")]

#[path = "../../../wordmover/tests/pot/generator.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod generator;

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use wordmover::transport::{self, Certificate, Solution, Workspace};

use super::problem::{Fitted, Range, TransportProblem};
use super::proof::{Found, proven};

type Solve = unsafe extern "C" fn(
    costs: *const f64,
    n: i32,
    m: i32,
    least: f64,
    scale: f64,
    masses: *const i64,
    arc_masses: *mut i64,
    arcs: *mut u32,
    duals: *mut i64,
    n_lanes: i32,
    is_reversed: i32,
) -> i32;

/// The twin's library, compiled once; none without a compiler.
fn twin() -> Option<&'static libloading::Library> {
    static TWIN: OnceLock<Option<libloading::Library>> = OnceLock::new();
    let library = TWIN.get_or_init(|| {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/twin_batch.cpp");
        let name = format!("libtwin_batch-{}.so", std::process::id());
        let target = std::env::temp_dir().join(name);
        // Fibers jump from stack to stack, which hardened libraries take for an attack.
        let options = [
            "-O2",
            "-std=c++17",
            "-ffp-contract=off",
            "-U_FORTIFY_SOURCE",
            "-shared",
            "-fPIC",
            "-o",
        ];
        let mut command = Command::new(&compiler);
        let status = command.args(options).arg(&target).arg(&source).status();
        let Ok(status) = status else {
            eprintln!("skipped: no C++ compiler `{compiler}`");
            return None;
        };
        assert!(status.success(), "kernels/twin_batch.cpp does not compile");
        // SAFETY: compiled from our source just now; loading runs nothing.
        let library = unsafe { libloading::Library::new(&target) }.expect("just compiled");
        std::fs::remove_file(&target).expect("just written");
        Some(library)
    });
    library.as_ref()
}

/// What a batch on the device would give, and the bits of it that threads could change.
fn solved(
    twin: &libloading::Library,
    problem: &TransportProblem,
    n_lanes: i32,
    is_reversed: bool,
) -> (Option<Solution>, Vec<i64>) {
    let Some(fitted) = Fitted::new(problem, usize::MAX) else {
        return (None, Vec::new());
    };
    let (n, m) = (fitted.n_rows, fitted.n_columns);
    let mut costs = vec![0.0; n * m];
    // In two pieces, as costs are copied.
    let (first, second) = costs.split_at_mut(n / 2 * m);
    let mut range = Range::default();
    range.join(fitted.copy_rows(problem, 0, first));
    range.join(fitted.copy_rows(problem, n / 2, second));
    let Some(scale) = range.scale() else {
        return (None, Vec::new());
    };
    let (mut masses, mut arcs, mut duals) = (vec![0; n + m], vec![0; n + m], vec![0; m]);
    // SAFETY: the function has this type (twin_batch.cpp), and the slices are as long as it
    // reads and writes.
    let n_arcs = unsafe {
        let solve = twin.get::<Solve>(b"twin_batch_solve").expect("exported");
        solve(
            costs.as_ptr(),
            n as i32,
            m as i32,
            range.least,
            scale,
            fitted.masses.as_ptr(),
            masses.as_mut_ptr(),
            arcs.as_mut_ptr(),
            duals.as_mut_ptr(),
            n_lanes,
            i32::from(is_reversed),
        )
    };
    assert!((1..(n + m) as i32).contains(&n_arcs), "{n_arcs} arcs");
    let found = Found {
        arcs: &arcs[..n_arcs as usize],
        masses: &masses[..n_arcs as usize],
        duals: &duals,
        scale,
        largest: range.largest(),
    };
    let solution = proven(problem, &fitted, found);
    assert!(
        solution.is_some(),
        "{n} x {m} by {n_lanes} threads: not proven"
    );
    masses.extend(arcs.iter().map(|&arc| i64::from(arc)));
    masses.extend(duals);
    (solution, masses)
}

/// Solves by a warp and by a block of three, in both orders of threads, and compares.
fn check(twin: &libloading::Library, problem: &TransportProblem, expected: f64, tolerance: f64) {
    for n_lanes in [32, 96] {
        let (solution, bits) = solved(twin, problem, n_lanes, false);
        let solution = solution.expect("one for the device");
        assert_eq!(
            solved(twin, problem, n_lanes, true).1,
            bits,
            "order of threads"
        );
        assert!(
            (solution.cost - expected).abs() <= tolerance,
            "{} x {} by {n_lanes} threads: {}, not {expected}",
            problem.supply.len(),
            problem.demand.len(),
            solution.cost
        );
        let TransportProblem {
            costs,
            supply,
            demand,
        } = *problem;
        let certificate = Certificate::check(costs, supply, demand, &solution);
        assert!(certificate.holds(1e-12), "{certificate:?}");
    }
}

/// Against the library, whose solution is good to 1e-12 of the largest cost.
fn check_with_library(twin: &libloading::Library, problem: &TransportProblem) {
    let TransportProblem {
        costs,
        supply,
        demand,
    } = *problem;
    let expected = transport::cost(costs, supply, demand, &mut Workspace::default());
    let expected = expected.expect("solved");
    let largest = costs.iter().fold(0.0f64, |most, c| most.max(c.abs()));
    let total: f64 = supply.iter().sum();
    check(twin, problem, expected, 1e-12 * largest * total);
}

/// A small generator: the same problems everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn uniform(&mut self) -> f64 {
        self.below(1 << 31) as f64 / (1u64 << 31) as f64
    }

    fn weights(&mut self, n: usize, kind: u64) -> Vec<f64> {
        let raw: Vec<f64> = (0..n)
            .map(|i| match kind {
                0 => 1.0,
                1 => 1.0 + self.below(5) as f64,
                2 => 0.001 + self.uniform(),
                // Some without any; one at least with some.
                3 if i > 0 => self.below(3) as f64,
                _ => 10f64.powf(-8.0 * self.uniform()),
            })
            .collect();
        let total: f64 = raw.iter().sum();
        raw.iter().map(|w| w / total).collect()
    }

    fn costs(&mut self, n: usize, kind: u64) -> Vec<f64> {
        let mut cost = |e: usize| match kind {
            0 => self.uniform(),
            // Ties.
            1 => self.below(4) as f64,
            // All alike.
            2 => -7.5,
            3 => self.uniform() * 2e9 - 1e9,
            4 => self.below(3) as f64 * 1e6 + self.below(3) as f64,
            5 => 1e-200 * self.uniform(),
            _ => (e * e % 97) as f64,
        };
        (0..n).map(&mut cost).collect()
    }
}

#[test]
fn memory_is_as_large_as_the_kernels_take_it_to_be() {
    let Some(twin) = twin() else { return };
    for (n, m) in [(1, 1), (3, 8), (120, 121), (2000, 2000), (5, 60000)] {
        let fitted = Fitted {
            n_rows: n,
            n_columns: m,
            rows: Vec::new(),
            columns: Vec::new(),
            masses: Vec::new(),
            unit: 1.0,
        };
        // SAFETY: the function has this type (twin_batch.cpp).
        let bytes = unsafe {
            let bytes =
                twin.get::<unsafe extern "C" fn(u64, u64) -> u64>(b"twin_batch_memory_bytes");
            bytes.expect("exported")(n as u64, m as u64)
        };
        assert_eq!(fitted.memory_bytes() as u64, bytes);
    }
}

#[test]
fn random_problems_have_the_costs_of_the_library() {
    let Some(twin) = twin() else { return };
    let mut random = Random(5);
    for trial in 0..60 {
        let (n, m) = (1 + random.below(40) as usize, 1 + random.below(40) as usize);
        let kind = random.below(7);
        let costs = random.costs(n * m, kind);
        let kind = random.below(5);
        let (supply, demand) = (random.weights(n, kind), random.weights(m, trial % 5));
        let problem = TransportProblem {
            costs: &costs,
            supply: &supply,
            demand: &demand,
        };
        check_with_library(twin, &problem);
    }
}

#[test]
fn degenerate_shapes_are_solved() {
    let Some(twin) = twin() else { return };
    let mut random = Random(6);
    for (n, m) in [
        (1, 1),
        (1, 2),
        (2, 1),
        (1, 150),
        (150, 1),
        (2, 97),
        (97, 2),
        (33, 65),
    ] {
        for kind in 0..7 {
            let costs = random.costs(n * m, kind);
            let (supply, demand) = (random.weights(n, kind % 5), random.weights(m, kind % 4));
            let problem = TransportProblem {
                costs: &costs,
                supply: &supply,
                demand: &demand,
            };
            check_with_library(twin, &problem);
        }
    }
}

#[test]
fn documents_of_hundreds_of_words_are_solved() {
    let Some(twin) = twin() else { return };
    let mut random = Random(7);
    for (n, m, kind) in [(120, 120, 2), (72, 140, 1), (130, 70, 4)] {
        let costs = random.costs(n * m, 0);
        let (supply, demand) = (random.weights(n, kind), random.weights(m, kind));
        let problem = TransportProblem {
            costs: &costs,
            supply: &supply,
            demand: &demand,
        };
        check_with_library(twin, &problem);
    }
}

#[test]
fn committed_problems_have_the_costs_of_pot() {
    let Some(twin) = twin() else { return };
    let path = "../wordmover/testdata/pot/problems.csv";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let text = text.expect("committed");
    let mut n_solved = 0;
    for line in text.lines().skip(1).step_by(37) {
        let fields: Vec<&str> = line.split(',').collect();
        let [_, kind, seed, n, m, dim, expected, _] = fields[..] else {
            panic!("eight fields expected: {line}");
        };
        let size = |field: &str| field.parse::<usize>().expect("a size");
        let (n, m) = (size(n), size(m));
        if n * m > 1200 {
            continue;
        }
        let seed = seed.parse().expect("a seed");
        let (costs, supply, demand) = generator::build(kind, seed, n, m, size(dim));
        let problem = TransportProblem {
            costs: &costs,
            supply: &supply,
            demand: &demand,
        };
        let expected: f64 = expected.parse().expect("a cost");
        let largest = costs.iter().copied().fold(0.0, f64::max);
        let tolerance = match expected == 0.0 {
            true => 1e-12 * largest,
            false => 1e-9 * expected,
        };
        check(twin, &problem, expected, tolerance);
        n_solved += 1;
    }
    assert!(n_solved > 40, "{n_solved}");
}

#[test]
fn what_is_not_optimal_is_not_proven() {
    let costs = [0.0, 1.0, 1.0, 0.0];
    let weights = [0.5, 0.5];
    let problem = TransportProblem {
        costs: &costs,
        supply: &weights,
        demand: &weights,
    };
    let fitted = Fitted::new(&problem, 4).expect("fits");
    let scale = 2f64.powi(52);
    let prove = |arcs: [u32; 2], masses: [i64; 2], duals: [i64; 2]| {
        let found = Found {
            arcs: &arcs,
            masses: &masses,
            duals: &duals,
            scale,
            largest: 1.0,
        };
        proven(&problem, &fitted, found)
    };
    let (straight, crossed) = ([0, 1 << 16 | 1], [1 << 16, 1]);
    assert_eq!(prove(straight, [1, 1], [0, 0]).map(|s| s.cost), Some(0.0));
    // Another plan, other dual values, masses that do not add up, arcs that are none.
    assert_eq!(prove(crossed, [1, 1], [0, 0]), None);
    assert_eq!(prove(straight, [1, 1], [1 << 53, 0]), None);
    assert_eq!(prove(straight, [1, 0], [0, 0]), None);
    assert_eq!(prove(straight, [2, -1], [0, 0]), None);
    assert_eq!(prove([7, 1 << 16 | 1], [1, 1], [0, 0]), None);
}
