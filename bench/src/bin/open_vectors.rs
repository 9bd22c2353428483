//! Opens the built-in vectors so many times and prints the milliseconds of each.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::time::Instant;

fn main() {
    let times = std::env::args().nth(1).and_then(|n| n.parse().ok());
    for _ in 0..times.unwrap_or(10) {
        let start = Instant::now();
        let vectors = wordmover::WordVectors::builtin();
        let milliseconds = 1e3 * start.elapsed().as_secs_f64();
        assert!(!vectors.is_empty());
        println!("{milliseconds:.3}");
    }
}
