//! Word counts on their way from the fitting pass to the embedding pass.
//!
//! An embedding fitted on its own input sees every document twice, but standard
//! input can be read only once and tokenising is not free. So the counts of the
//! first pass wait in a temporary file (in memory while they are few).

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use anyhow::{Context, Result};
use tempfile::SpooledTempFile;
use wordmover::document::WordCounts;

/// Bytes kept in memory before a file is made.
const IN_MEMORY: usize = 32 << 20;

/// Being filled.
pub struct SpoolWriter {
    file: BufWriter<SpooledTempFile>,
}

impl SpoolWriter {
    pub fn new() -> Self {
        SpoolWriter {
            file: BufWriter::new(SpooledTempFile::new(IN_MEMORY)),
        }
    }

    /// Adds a document.
    pub fn push(&mut self, id: Option<&str>, counts: &WordCounts) -> Result<()> {
        self.write(id, counts)
            .context("cannot write a temporary file")
    }

    fn write(&mut self, id: Option<&str>, counts: &WordCounts) -> io::Result<()> {
        let id = id.unwrap_or_default();
        self.file.write_all(&(id.len() as u64).to_le_bytes())?;
        self.file.write_all(id.as_bytes())?;
        self.file
            .write_all(&(counts.words.len() as u64).to_le_bytes())?;
        for (word, count) in &counts.words {
            self.file.write_all(&word.to_le_bytes())?;
            self.file.write_all(&count.to_le_bytes())?;
        }
        self.file
            .write_all(&(counts.unknown.len() as u64).to_le_bytes())?;
        for (word, count) in &counts.unknown {
            self.file.write_all(&(word.len() as u64).to_le_bytes())?;
            self.file.write_all(word.as_bytes())?;
            self.file.write_all(&count.to_le_bytes())?;
        }
        Ok(())
    }

    /// Ready to be read from the beginning.
    pub fn finish(self) -> Result<SpoolReader> {
        let rewound = || -> io::Result<SpooledTempFile> {
            let mut file = self.file.into_inner().map_err(|error| error.into_error())?;
            file.seek(SeekFrom::Start(0))?;
            Ok(file)
        };
        let file = rewound().context("cannot write a temporary file")?;
        Ok(SpoolReader {
            file: BufReader::new(file),
        })
    }
}

/// Being emptied, in order.
pub struct SpoolReader {
    file: BufReader<SpooledTempFile>,
}

impl SpoolReader {
    /// The next document's id (empty if it had none) and counts.
    pub fn next(&mut self) -> Result<(String, WordCounts)> {
        self.read().context("cannot read a temporary file")
    }

    fn read(&mut self) -> io::Result<(String, WordCounts)> {
        let id = self.text()?;
        let n_words = self.number()?;
        let mut counts = WordCounts::default();
        let mut pair = [0; 8];
        for _ in 0..n_words {
            self.file.read_exact(&mut pair)?;
            let (word, count) = pair.split_at(4);
            let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            counts.words.push((number(word), number(count)));
        }
        for _ in 0..self.number()? {
            let word = self.text()?;
            let mut count = [0; 4];
            self.file.read_exact(&mut count)?;
            let count = u32::from_le_bytes(count);
            counts.unknown.push((word.into_boxed_str(), count));
        }
        Ok((id, counts))
    }

    fn text(&mut self) -> io::Result<String> {
        let mut text = vec![0; self.number()? as usize];
        self.file.read_exact(&mut text)?;
        String::from_utf8(text).map_err(io::Error::other)
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_back_in_order_from_memory_and_from_a_file() {
        for n in [0u32, 3, 500_000] {
            let counts = |i| WordCounts {
                words: (0..i % 23).map(|k| (i ^ k, k + 1)).collect(),
                unknown: (0..i % 3).map(|k| (format!("wört{k}").into(), i)).collect(),
                ..WordCounts::default()
            };
            let mut writer = SpoolWriter::new();
            for i in 0..n {
                writer
                    .push((i % 2 == 0).then_some("id ü"), &counts(i))
                    .unwrap();
            }
            let mut reader = writer.finish().unwrap();
            for i in 0..n {
                let id = if i % 2 == 0 { "id ü" } else { "" };
                assert_eq!(reader.next().unwrap(), (id.to_owned(), counts(i)));
            }
            assert!(reader.next().is_err());
        }
    }
}
