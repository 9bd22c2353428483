//! Makes the built-in vectors: `make_builtin_vectors SOURCE N_WORDS DESTINATION`
//! writes the first words of any word-vector file in int8.
//!
//! Run it with `--no-default-features`, since by default the library contains
//! the file that this program makes.

use std::path::Path;
use std::process::ExitCode;

use wordmover::WordVectors;
use wordmover::vectors::Precision;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match make(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(error.as_ref());
            ExitCode::FAILURE
        }
    }
}

fn make(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [source, n_words, destination] = arguments else {
        return Err("expected SOURCE N_WORDS DESTINATION".into());
    };
    let vectors = WordVectors::open(Path::new(source), Some(n_words.parse()?))?;
    vectors.save(Path::new(destination), Precision::Int8)?;
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program may speak")]
fn print_error(error: &dyn std::error::Error) {
    match error.source() {
        Some(source) => eprintln!("error: {error}: {source}"),
        None => eprintln!("error: {error}"),
    }
}
