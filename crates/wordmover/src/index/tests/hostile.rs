//! Files that are not what was written.

use super::*;
use crate::Error;
use crate::index::{IndexError, SearchBy};

/// Opens and searches in every way; whatever the files say, this ends with an answer or an
/// error.
fn use_it(path: &Path) -> Result<(), Error> {
    let index = SearchIndex::open(path, None)?;
    for by in [SearchBy::Wmd, SearchBy::Embedding, SearchBy::Hybrid] {
        let _ = index.search("w1 w2 w3 unknown1 w39", 4, by);
    }
    let _ = index.text("7");
    index.verify()
}

#[test]
fn every_flipped_bit_and_every_cut_is_told_and_none_crashes() {
    let place = Place::new();
    let mut index = place.build(&numbered(&texts(9, 1)));
    index.add(&numbered(&texts(4, 5))).unwrap();
    index.remove(&["1", "10"]).unwrap();
    drop(index);
    use_it(&place.path()).unwrap();
    for name in files(&place.path()) {
        let path = place.path().join(&name);
        let whole = std::fs::read(&path).unwrap();
        let step = 1 + whole.len() / 150;
        for at in (0..whole.len()).step_by(step) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            std::fs::write(&path, &bytes).unwrap();
            assert!(use_it(&place.path()).is_err(), "{name}: byte {at}");
        }
        for len in [0, 1, 7, 8, 9, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..len.min(whole.len() - 1)]).unwrap();
            assert!(use_it(&place.path()).is_err(), "{name}: cut to {len}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(use_it(&place.path()).is_err(), "{name} is missing");
        std::fs::write(&path, &whole).unwrap();
    }
    use_it(&place.path()).unwrap();
}

#[test]
fn what_is_not_an_index_or_too_new_is_told() {
    let problem = |path: &Path| match SearchIndex::open(path, None) {
        Err(Error::InvalidIndex { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(problem(folder.path()), IndexError::NotAnIndex);
    let manifest = folder.path().join("index.json");
    for other in [
        "",
        "{}",
        "[1]",
        "{\"checksum\":\"x\",\"index\":{\"format\":\"else\"}}",
    ] {
        std::fs::write(&manifest, other).unwrap();
        assert_eq!(problem(folder.path()), IndexError::NotAnIndex, "{other}");
    }
    let newer =
        "{\"checksum\":\"x\",\"index\":{\"format\":\"wordmover-index\",\"version\":2,\"more\":[]}}";
    std::fs::write(&manifest, newer).unwrap();
    let (found, supported) = (2, 1);
    assert_eq!(
        problem(folder.path()),
        IndexError::NewerVersion { found, supported }
    );
    let missing = folder.path().join("missing");
    assert!(matches!(
        SearchIndex::open(&missing, None),
        Err(Error::Read { .. })
    ));
}

/// A manifest with a sound checksum that names a file elsewhere.
#[test]
fn a_manifest_cannot_lead_out_of_the_folder() {
    use sha2::{Digest, Sha256};

    let place = Place::new();
    place.build(&numbered(&texts(3, 1)));
    let path = place.path().join("index.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let inner = text
        .trim_end()
        .split_once("\"index\":")
        .unwrap()
        .1
        .strip_suffix('}')
        .unwrap();
    for name in ["../secret", "/etc/passwd", "..", "segment\\\\x", ""] {
        let changed = inner.replace("model-000001.wme", name);
        let checksum = crate::content_hash::hex(&Sha256::digest(changed.as_bytes()));
        std::fs::write(
            &path,
            format!("{{\"checksum\":\"{checksum}\",\"index\":{changed}}}\n"),
        )
        .unwrap();
        match SearchIndex::open(&place.path(), None) {
            Err(Error::InvalidIndex {
                problem: IndexError::Damaged { file, .. },
                ..
            }) => {
                assert_eq!(file, "index.json", "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}
