//! The API key: where it comes from and how it is compared.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::Error;

/// Shorter keys are refused: they can be guessed.
const SHORTEST: usize = 16;

/// A key, kept as its hash. Comparing two hashes takes the same time whatever they hold, and
/// whatever the length of the keys.
#[derive(Clone)]
pub(crate) struct ApiKey([u8; 32]);

impl ApiKey {
    /// The key in a file: its only line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::ReadKey {
            path: path.to_owned(),
            source,
        })?;
        let key = bytes.trim_ascii();
        if key.len() < SHORTEST || !key.iter().all(u8::is_ascii_graphic) {
            return Err(Error::NoKey {
                path: path.to_owned(),
                least: SHORTEST,
            });
        }
        Ok(ApiKey(Sha256::digest(key).into()))
    }

    pub fn is(&self, given: &[u8]) -> bool {
        let given: [u8; 32] = Sha256::digest(given).into();
        let pairs = self.0.iter().zip(&given);
        // Every byte is looked at: no early end to be measured.
        let different = pairs.fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
        different == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_one_line_and_compared_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        let key = ApiKey::read(&path).unwrap();
        assert!(key.is(b"0123456789abcdef"));
        for other in [
            &b""[..],
            b"0123456789abcde",
            b"0123456789abcdefg",
            b"0123456789abcdeF",
        ] {
            assert!(!key.is(other));
        }
        for bad in ["", "short", "0123456789abcdef 1", "0123456789abcdef\nother"] {
            std::fs::write(&path, bad).unwrap();
            assert!(
                matches!(ApiKey::read(&path), Err(Error::NoKey { .. })),
                "{bad}"
            );
        }
        let missing = ApiKey::read(&folder.path().join("none"));
        assert!(matches!(missing, Err(Error::ReadKey { .. })));
    }
}
