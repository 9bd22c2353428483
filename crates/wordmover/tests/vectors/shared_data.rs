//! The large published tables, where they are at hand: set `WORDMOVER_SHARED`
//! to the folder that has `vectors/`, or put it beside the repository as `shared`.

use std::path::PathBuf;
use std::time::Instant;

use tempfile::tempdir;
use wordmover::WordVectors;
use wordmover::vectors::Precision;

fn shared(file: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let folder = std::env::var_os("WORDMOVER_SHARED").unwrap_or_else(|| beside.into());
    let path = PathBuf::from(folder).join("vectors").join(file);
    if !path.exists() {
        eprintln!("SKIPPED: {file} is not here; set WORDMOVER_SHARED to check it");
        return None;
    }
    Some(path)
}

#[test]
fn published_tables_are_read_whole() {
    for (file, n_words, dim, first) in [
        ("glove.6B.100d.250k.bin.gz", 250_000, 100, "the"),
        ("glove.840B.300d.34k.txt.gz", 33_849, 300, "the"),
        ("googlenews.300d.55k.bin.gz", 54_731, 300, "in"),
    ] {
        let Some(path) = shared(file) else { continue };
        let start = Instant::now();
        let vectors = WordVectors::open(&path, None).unwrap();
        eprintln!("{file}: read in {:.2?}", start.elapsed());
        assert_eq!(
            (vectors.len(), vectors.dim(), vectors.word(0)),
            (n_words, dim, first)
        );

        let folder = tempdir().unwrap();
        let native = folder.path().join("native");
        vectors.save(&native, Precision::F32).unwrap();
        let start = Instant::now();
        let opened = WordVectors::open(&native, None).unwrap();
        eprintln!(
            "{file}: opened in the native form in {:.2?}",
            start.elapsed()
        );
        assert_eq!(opened.checksum(), vectors.checksum());
        let start = Instant::now();
        opened.verify_checksum().unwrap();
        eprintln!("{file}: verified in {:.2?}", start.elapsed());
    }
}

#[cfg(feature = "builtin-vectors")]
#[test]
fn the_built_in_table_comes_from_its_source() {
    let Some(path) = shared("glove.6B.100d.250k.bin.gz") else {
        return;
    };
    let source = WordVectors::open(&path, Some(80_000)).unwrap();
    let made = source.to_native_bytes(Precision::Int8).unwrap();
    let shipped = include_bytes!("../../data/glove-6b-100d-80k.int8.safetensors");
    assert!(made == shipped, "the source now gives another table");
}
