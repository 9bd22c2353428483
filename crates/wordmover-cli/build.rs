//! Tells the program which revision it was built from.

use std::path::Path;
use std::process::Command;

fn main() {
    let revision = match revision() {
        Some(revision) => format!(" ({revision})"),
        // A released archive has no history; its version says all.
        None => String::new(),
    };
    println!("cargo::rustc-env=WORDMOVER_REVISION={revision}");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The revision of this repository's checkout, if that is where the sources are.
fn revision() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let top = git(&["rev-parse", "--show-toplevel"])?;
    // Sources that were copied into another repository do not have its revisions.
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // Changes whenever another revision is checked out or committed.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--path-format=absolute", "--git-path", file])?;
        println!("cargo::rerun-if-changed={path}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
