//! Embeds the texts of a file, a line each, one call each, and prints the microseconds of each:
//! MODEL TEXTS. What Python's `transform([text])` costs beyond this is Python's.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::path::Path;
use std::time::Instant;

use wordmover::ModelFile;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, texts] = &arguments[..] else {
        return Err("usage: time_single_texts MODEL TEXTS".into());
    };
    let model = ModelFile::open(Path::new(model))?.with_vectors(None)?;
    for text in std::fs::read_to_string(texts)?.lines() {
        let start = Instant::now();
        let row = model.transform(&[text])?;
        let microseconds = 1e6 * start.elapsed().as_secs_f64();
        assert_eq!(row.len(), model.n_features());
        println!("{microseconds:.2}");
    }
    Ok(())
}
