//! Every parser: whatever the bytes, an answer that keeps its promises or one error.

use std::sync::{Arc, LazyLock};

use sha2::{Digest, Sha256};
use wordmover::text::{Case, StopWords, Tokenizer};
use wordmover::vectors::Precision;
use wordmover::{ModelFile, WordMoversEmbedding, WordVectors, document::WordProbabilities};
use wordmover_classify::{ClassifierInfo, TextClassifier};

use crate::input::{self, Format, InputOptions};
use crate::outcome;
use crate::scratch::with_file;
use crate::seeds;

/// Models that claim more features than this are opened, but not used.
const MAX_FEATURES: usize = 2048;

static TABLE: LazyLock<Arc<WordVectors>> = LazyLock::new(|| Arc::new(seeds::table()));

/// Word vectors of every format, as a stream, whole and limited.
pub fn vectors(data: &[u8]) -> u64 {
    let limited = WordVectors::read(data, "file", Some(2));
    if let Ok(vectors) = &limited {
        assert!(vectors.len() <= 2);
        exercise(vectors);
    }
    let whole = WordVectors::read(data, "file", None);
    assert!(
        whole.is_err() || limited.is_ok(),
        "whole, but not its first words"
    );
    table_or_error(whole)
}

/// The native form, in memory as when it is mapped.
pub fn native_vectors(data: &[u8]) -> u64 {
    table_or_error(WordVectors::from_bytes(data.to_vec(), "file"))
}

fn table_or_error(table: wordmover::Result<WordVectors>) -> u64 {
    match table {
        Ok(vectors) => {
            exercise(&vectors);
            let size = outcome::size(vectors.len());
            outcome::of((
                vectors.precision().as_str(),
                size,
                outcome::size(vectors.dim()),
            ))
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("file: "), "{message}");
            outcome::of_error(&error)
        }
    }
}

fn exercise(vectors: &WordVectors) {
    assert!(!vectors.is_empty());
    let mut row = vec![0.0; vectors.dim()];
    for (id, word) in vectors.words().enumerate() {
        let id = id as u32;
        assert!(!word.is_empty());
        assert_eq!(vectors.id(word), Some(id));
        if vectors.copy_finite_vector(id, &mut row).is_ok() {
            assert!(row.iter().all(|value| value.is_finite()));
        }
    }
    vectors.nearest(&row, 1, &[]);
    let _ = vectors.verify_checksum();
    for precision in [Precision::F32, Precision::F16, Precision::Int8] {
        if let Ok(bytes) = vectors.to_native_bytes(precision) {
            let again = WordVectors::from_bytes(bytes, "file").expect("what was written is read");
            assert_eq!(again.len(), vectors.len());
        }
    }
}

/// The file with its checksum made right, so that damage behind it is looked at, too.
fn resealed(data: &[u8]) -> Vec<u8> {
    const KEY: &[u8] = b"\"checksum\":\"";
    const N_DIGITS: usize = 64;
    let mut file = data.to_vec();
    let place = data.windows(KEY.len()).position(|window| window == KEY);
    let digits = place.map(|at| at + KEY.len()..at + KEY.len() + N_DIGITS);
    if let Some(digits) = digits.filter(|digits| digits.end <= file.len()) {
        file[digits.clone()].fill(b'0');
        let hash = Sha256::digest(&file);
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        file[digits].copy_from_slice(hex.as_bytes());
    }
    file
}

const TEXTS: [&str; 3] = ["the naïve 日本 the", "", "unknown words only"];

/// A model file, with its own vectors or those of the seeds.
pub fn model(data: &[u8]) -> u64 {
    let _ = ModelFile::from_bytes(data, "m.wme");
    let data = &resealed(data)[..];
    let file = match ModelFile::from_bytes(data, "m.wme") {
        Ok(file) => file,
        Err(error) => return outcome::of_error(&error),
    };
    let _ = (
        file.vectors(),
        file.gamma(),
        file.n_documents(),
        file.written_by(),
    );
    if let Err(error) = ClassifierInfo::of(&file, "m.wme") {
        outcome::of_error(&error);
    }
    let is_bundled = file.has_bundled_vectors();
    let given = (!is_bundled).then(|| TABLE.clone());
    match file.with_vectors(given) {
        Ok(model) => use_model(&model),
        Err(error) => outcome::of_error(&error),
    }
}

fn use_model(model: &WordMoversEmbedding) -> u64 {
    if model.n_features() > MAX_FEATURES {
        return outcome::of("large");
    }
    match model.transform(&TEXTS) {
        Ok(rows) => {
            assert!(
                rows.iter().all(|value| value.is_finite()),
                "a feature is not finite"
            );
            outcome::of((outcome::size(model.n_features()), rows[0] == 0.0))
        }
        Err(error) => outcome::of_error(&error),
    }
}

/// A classifier file.
pub fn classifier(data: &[u8]) -> u64 {
    let data = &resealed(data)[..];
    let mut loaded = TextClassifier::from_bytes(data, "t.wmc", None);
    if loaded.is_err() {
        loaded = TextClassifier::from_bytes(data, "t.wmc", Some(TABLE.clone()));
    }
    let classifier = match loaded {
        Ok(classifier) => classifier,
        Err(error) => return outcome::of_error(&error),
    };
    if classifier.embedding().n_features() > MAX_FEATURES {
        return outcome::of("large");
    }
    match classifier.predict(&TEXTS) {
        Ok(predictions) => {
            assert_eq!(predictions.len(), TEXTS.len());
            for prediction in &predictions {
                let values = &prediction.decision_values;
                assert!(
                    values.iter().flatten().all(|value| value.is_finite()),
                    "a value is not finite"
                );
            }
            outcome::of(outcome::size(classifier.classes().len()))
        }
        Err(error) => outcome::of_error(&error),
    }
}

/// Documents: the first byte chooses the format and the options.
pub fn documents(data: &[u8]) -> u64 {
    let Some((&choice, data)) = data.split_first() else {
        return 0;
    };
    let (format, suffix) = [
        (Format::Text, ".txt"),
        (Format::Tsv, ".tsv"),
        (Format::Csv, ".csv"),
        (Format::JsonLines, ".jsonl"),
    ][usize::from(choice & 3)];
    let some = |bit: u8, name: &str| (choice & bit != 0).then(|| name.to_owned());
    let header = choice & 4 == 0;
    let is_table = matches!(format, Format::Tsv | Format::Csv);
    let options = InputOptions {
        column: match format {
            Format::JsonLines => Some("text".to_owned()),
            _ if is_table => some(8, if header { "text" } else { "2" }),
            _ => None,
        },
        id_column: some(16, if header { "id" } else { "1" }),
        label_column: some(32, if header { "id" } else { "1" }),
        split_column: some(64, if header { "text" } else { "2" }),
        header: header || !is_table,
        ..InputOptions::default()
    };
    with_file(data, suffix, |path| {
        let read = input::open(path, &options);
        let read = read.and_then(|documents| documents.collect::<anyhow::Result<Vec<_>>>());
        match read {
            Ok(documents) => {
                for document in &documents {
                    assert_eq!(document.id.is_some(), options.id_column.is_some());
                }
                outcome::of((choice & 3, outcome::size(documents.len())))
            }
            Err(error) => outcome::of_error(&format!("{error:#}")),
        }
    })
}

/// Pairs of texts: the first byte chooses between TSV and CSV, and the header.
pub fn pairs(data: &[u8]) -> u64 {
    let Some((&choice, data)) = data.split_first() else {
        return 0;
    };
    let suffix = if choice & 1 == 0 { ".tsv" } else { ".csv" };
    with_file(data, suffix, |path| {
        match input::read_pairs(path, choice & 2 != 0) {
            Ok(pairs) => {
                assert!(!pairs.is_empty());
                let gold = pairs.iter().filter_map(|pair| pair.gold);
                assert!(
                    gold.into_iter().all(f64::is_finite),
                    "a score is not finite"
                );
                outcome::of((pairs[0].gold.is_some(), outcome::size(pairs.len())))
            }
            Err(error) => outcome::of_error(&format!("{error:#}")),
        }
    })
}

/// A NumPy array of embeddings.
pub fn npy(data: &[u8]) -> u64 {
    with_file(data, ".npy", |path| match input::npy::read(path) {
        Ok(rows) => {
            assert!(rows.width == 0 || rows.values.len().is_multiple_of(rows.width));
            outcome::of((outcome::size(rows.width), outcome::size(rows.values.len())))
        }
        Err(error) => outcome::of_error(&format!("{error:#}")),
    })
}

/// Word frequencies of a file, and a list of stop words.
pub fn frequencies(data: &[u8]) -> u64 {
    if let Ok(text) = std::str::from_utf8(data) {
        let stop_words = StopWords::from_lines(text);
        let _ = (stop_words.len(), stop_words.contains("the"));
    }
    with_file(data, ".txt", |path| {
        match WordProbabilities::open(path, &TABLE) {
            Ok(probabilities) => {
                let values = probabilities.values();
                assert_eq!(values.len(), TABLE.len());
                assert!(values.iter().all(|p| (0.0..=1.0).contains(p)), "{values:?}");
                let n_known = values.iter().filter(|&&p| p > 0.0).count();
                outcome::of(outcome::size(n_known))
            }
            Err(error) => outcome::of_error(&error),
        }
    })
}

/// Words of a text; the first byte chooses the rules.
pub fn tokenizer(data: &[u8]) -> u64 {
    let Some((&choice, data)) = data.split_first() else {
        return 0;
    };
    let text = String::from_utf8_lossy(data);
    let tokenizer = Tokenizer {
        case: if choice & 1 == 0 {
            Case::Lower
        } else {
            Case::Keep
        },
        stop_words: if choice & 2 == 0 {
            StopWords::None
        } else {
            StopWords::Smart
        },
        ..Tokenizer::default()
    };
    let mut n_words = 0;
    tokenizer.for_each(
        &text,
        |word| word.len() % 3 == 0,
        |word| {
            n_words += 1;
            assert!(
                !word.is_empty() && !word.contains(char::is_whitespace),
                "{word:?}"
            );
            assert!(
                !tokenizer.stop_words.contains(word),
                "{word:?} is a stop word"
            );
        },
    );
    outcome::of(outcome::size(n_words))
}
