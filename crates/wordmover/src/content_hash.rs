//! Names for results, by a hash of all they depend on.

use std::fmt::Write;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::document::Document;
use crate::space::{Metric, WordSpace};

/// A SHA-256 over parts. The length of each part is hashed too, so that no two lists of
/// parts look the same.
#[derive(Debug, Clone)]
pub struct ContentHash(Sha256);

impl ContentHash {
    /// The kind names the computation and its version: whoever changes what is computed
    /// changes the name.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        ContentHash(Sha256::new()).bytes(kind.as_bytes())
    }

    /// Adds bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds numbers.
    #[must_use]
    pub fn numbers(mut self, numbers: impl ExactSizeIterator<Item = u64>) -> Self {
        self.0.update((numbers.len() as u64).to_le_bytes());
        for number in numbers {
            self.0.update(number.to_le_bytes());
        }
        self
    }

    /// Adds a value as its JSON: the form it has in files, which does not change with the
    /// names in the code.
    ///
    /// # Panics
    ///
    /// If the value has no JSON, as a map whose keys are not text.
    #[must_use]
    pub fn json(self, value: &impl Serialize) -> Self {
        self.bytes(&serde_json::to_vec(value).expect("a value with a JSON form"))
    }

    /// Adds documents and the space of their words: all that distances between them
    /// depend on.
    #[must_use]
    pub fn documents(self, space: &WordSpace, documents: &[Document]) -> Self {
        let center = space.center().unwrap_or(&[]);
        let mut hash = self
            .bytes(space.vectors().checksum().as_bytes())
            .json(&(space.normalization(), space.unknown()))
            .numbers(center.iter().map(|x| x.to_bits()))
            .numbers([documents.len() as u64].into_iter());
        if space.metric() != Metric::default() {
            hash = hash.json(&space.metric());
        }
        if let Some(map) = space.map() {
            hash = hash.numbers(map.iter().map(|x| u64::from(x.to_bits())));
        }
        if let Some(accelerator) = space.accelerator() {
            hash = hash.bytes(accelerator.name().as_bytes());
        }
        for document in documents {
            hash = hash
                .numbers(document.known().iter().map(|&word| u64::from(word)))
                .numbers(document.weights().iter().map(|weight| weight.to_bits()));
            for word in document.unknown() {
                hash = hash.bytes(word.as_bytes());
            }
        }
        hash
    }

    /// The 32 bytes of the hash.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// The hash in hexadecimal.
    #[must_use]
    pub fn hex(self) -> String {
        hex(&self.finish())
    }
}

/// Bytes in hexadecimal, two lower-case digits each.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("a string takes everything");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_only_join_alike_have_other_hashes() {
        let of = |parts: &[&[u8]]| {
            let start = ContentHash::new("test-1");
            parts
                .iter()
                .fold(start, |hash, part| hash.bytes(part))
                .hex()
        };
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"abc"]), of(&[b"abc", b""]));
        assert_eq!(of(&[]).len(), 64);
    }

    #[test]
    fn digits_are_lower_case_and_padded() {
        assert_eq!(hex(&[0, 0x0a, 0xff]), "000aff");
    }
}
