//! Bodies of the fuzz targets, one for each parser and solver.
//!
//! A body takes any bytes, panics when a promise is broken, and otherwise says what came
//! of the bytes, as a number: the drivers of stable Rust keep inputs with a new outcome
//! to mutate further, as libFuzzer keeps those that reach new code.

#[allow(
    dead_code,
    unused_imports,
    reason = "the program's own source; part of it is used here"
)]
#[path = "../../crates/wordmover-cli/src/input/mod.rs"]
mod input;
#[allow(
    dead_code,
    unused_imports,
    reason = "the program's own source; part of it is used here"
)]
#[path = "../../crates/wordmover-cli/src/usage.rs"]
mod usage;

mod bytes;
mod outcome;
mod parsers;
pub mod scratch;
pub mod seeds;
mod solvers;

/// Longer inputs are not looked at: everything a parser can get wrong fits in here.
pub const MAX_INPUT: usize = 1 << 16;

/// A target: what it is called, and its body.
pub type Target = (&'static str, fn(&[u8]) -> u64);

pub const TARGETS: [Target; 13] = [
    ("vectors", parsers::vectors),
    ("fasttext", parsers::vectors),
    ("native_vectors", parsers::native_vectors),
    ("model", parsers::model),
    ("classifier", parsers::classifier),
    ("documents", parsers::documents),
    ("pairs", parsers::pairs),
    ("npy", parsers::npy),
    ("frequencies", parsers::frequencies),
    ("tokenizer", parsers::tokenizer),
    ("transport", solvers::transport),
    ("neighbors", solvers::neighbors),
    ("svm", solvers::svm),
];

/// Runs one target, for libFuzzer.
///
/// # Panics
///
/// If a promise is broken, or there is no such target.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(target, _)| *target == name);
    let (_, body) = target.expect("a target of this name");
    if data.len() <= MAX_INPUT {
        body(data);
    }
}
