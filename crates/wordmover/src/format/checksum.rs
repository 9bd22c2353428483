//! A checksum over the whole model file, so that no flipped bit changes a result.
//!
//! It is the SHA-256 of the file with the checksum itself written as 64 zeros.

use sha2::{Digest, Sha256};

use super::ModelError;
use crate::container;
use crate::content_hash::hex;

/// The metadata key it is kept under.
pub(super) const KEY: &str = "checksum";

/// What stands for it while the file is hashed.
pub(super) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Replaces the blank of a file that is otherwise complete.
pub(super) fn fill_in(file: &mut [u8]) {
    let checksum = hex(&Sha256::digest(&*file));
    if let Some(place) = position(file, BLANK) {
        file[place..place + BLANK.len()].copy_from_slice(checksum.as_bytes());
    }
}

/// Compares a file with its checksum.
pub(super) fn verify(file: &[u8], checksum: &str) -> Result<(), ModelError> {
    let damaged = || ModelError::Damaged;
    let place = match checksum.len() == BLANK.len() {
        true => position(file, checksum).ok_or_else(damaged)?,
        false => return Err(damaged()),
    };
    let mut sha = Sha256::new();
    sha.update(&file[..place]);
    sha.update(BLANK);
    sha.update(&file[place + BLANK.len()..]);
    match hex(&sha.finalize()) == checksum {
        true => Ok(()),
        false => Err(damaged()),
    }
}

/// Where the metadata entry holds its value. The header is JSON without blanks, in which no
/// string can hold the quotes that this entry is made of.
fn position(file: &[u8], value: &str) -> Option<usize> {
    let entry = format!("\"{KEY}\":\"{value}\"");
    let header = &file[..container::header_len(file)
        .ok()?
        .saturating_add(8)
        .min(file.len())];
    let mut parts = header.windows(entry.len());
    let start = parts.position(|part| part == entry.as_bytes())?;
    Some(start + entry.len() - 1 - value.len())
}
