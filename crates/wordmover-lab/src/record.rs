//! What a run was done with, kept beside what came out.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Program, machine and day of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Environment {
    /// Year, month and day, UTC.
    pub date: String,
    /// Git revision; ends in `+` if the tree had changes that were not committed.
    pub revision: String,
    /// SHA-256 of the definition.
    pub definition: String,
    pub machine: String,
    pub threads: usize,
    /// The GPU that computed distances, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl Environment {
    /// That of this run. The revision is the repository's unless it is given.
    pub fn here(definition: &str, revision: Option<String>) -> Result<Self> {
        let revision = match revision {
            Some(revision) => revision,
            None => {
                // Records of earlier runs change nothing.
                let of_code = ["status", "--porcelain", "--", ".", ":!experiments/records"];
                let changed = !output("git", &of_code)?.is_empty();
                let mark = if changed { "+" } else { "" };
                output("git", &["rev-parse", "HEAD"])? + mark
            }
        };
        Ok(Environment {
            date: output("date", &["--utc", "+%Y-%m-%d"])?,
            revision,
            definition: checksum(definition.as_bytes()),
            machine: machine(),
            threads: rayon::current_num_threads(),
            device: None,
        })
    }
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let done = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// The processor, where the system tells.
fn machine() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name);
    format!("{model}, {}", std::env::consts::OS)
}

/// SHA-256 in hexadecimal digits.
pub fn checksum(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads files and remembers their checksums by name.
#[derive(Debug, Default)]
pub struct Files {
    pub checksums: BTreeMap<String, String>,
}

impl Files {
    /// The bytes of a file of a folder.
    pub fn read(&mut self, folder: &Path, name: &str) -> Result<Vec<u8>> {
        let path = folder.join(name);
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        self.checksums.insert(name.to_owned(), checksum(&bytes));
        Ok(bytes)
    }
}
