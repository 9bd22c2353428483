//! What this program is called, to the last detail that can change its results.

use wordmover::WordVectors;

/// Name, version and, when it was built from a checkout, the revision.
pub const PROGRAM: &str = concat!(
    "wordmover ",
    env!("CARGO_PKG_VERSION"),
    env!("WORDMOVER_REVISION")
);

/// What `--version` prints.
pub fn in_full() -> String {
    let vectors = WordVectors::builtin();
    format!(
        "{PROGRAM}\nbuilt-in vectors: {}, {} words of {} dimensions\n",
        vectors.name(),
        vectors.len(),
        vectors.dim()
    )
}
