//! Columns of a row group: plain values in pages, uncompressed.

use std::io;

use super::thrift::{self, Struct};

/// A page is ended when it has so many bytes of values.
const PAGE_BYTES: usize = 1 << 20;

/// Longer texts are left out of the statistics, as other writers do.
const MAX_STATISTICS_BYTES: usize = 64;

/// Parquet's numbers for encodings and kinds of pages.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const DATA_PAGE: i32 = 0;

/// A column being filled.
pub struct Column {
    name: String,
    kind: i32,
    /// Values a row, for a column of lists.
    list_size: Option<usize>,
    /// Pages that are ended, headers included.
    pages: Vec<u8>,
    /// Values of the page being filled.
    page: Vec<u8>,
    n_page_rows: usize,
    n_values: usize,
    /// Bytes of values in the row group.
    pub n_value_bytes: usize,
    least_and_most: Option<(Vec<u8>, Vec<u8>)>,
}

/// A column of a row group that was written.
pub struct Chunk {
    name: String,
    kind: i32,
    is_list: bool,
    pub position: u64,
    pub n_bytes: usize,
    n_values: usize,
    least_and_most: Option<(Vec<u8>, Vec<u8>)>,
}

impl Column {
    pub fn new(name: impl Into<String>, kind: i32) -> Column {
        Column {
            name: name.into(),
            kind,
            list_size: None,
            pages: Vec::new(),
            page: Vec::new(),
            n_page_rows: 0,
            n_values: 0,
            n_value_bytes: 0,
            least_and_most: None,
        }
    }

    pub fn list(name: impl Into<String>, kind: i32, size: usize) -> Column {
        Column {
            list_size: Some(size),
            ..Column::new(name, kind)
        }
    }

    pub fn push_number(&mut self, number: i64) -> io::Result<()> {
        let bytes = number.to_le_bytes();
        self.note(&bytes, |least| {
            least
                .first_chunk()
                .is_some_and(|&least| number < i64::from_le_bytes(least))
        });
        self.push(&[&bytes])
    }

    pub fn push_text(&mut self, text: &str) -> io::Result<()> {
        let bytes = text.as_bytes();
        self.note(bytes, |least| bytes < least);
        let n_bytes = u32::try_from(text.len()).map_err(io::Error::other)?;
        self.push(&[&n_bytes.to_le_bytes(), bytes])
    }

    /// Without statistics, which NaN would spoil.
    pub fn push_double(&mut self, double: f64) -> io::Result<()> {
        self.push(&[&double.to_le_bytes()])
    }

    pub fn push_floats(&mut self, floats: &[f32]) -> io::Result<()> {
        let before = self.page.len();
        self.page
            .extend(floats.iter().flat_map(|float| float.to_le_bytes()));
        self.row_pushed(self.page.len() - before)
    }

    fn push(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let before = self.page.len();
        parts
            .iter()
            .for_each(|part| self.page.extend_from_slice(part));
        self.row_pushed(self.page.len() - before)
    }

    fn row_pushed(&mut self, n_bytes: usize) -> io::Result<()> {
        self.n_value_bytes += n_bytes;
        self.n_page_rows += 1;
        self.n_values += self.list_size.unwrap_or(1);
        if self.page.len() >= PAGE_BYTES {
            self.end_page()?;
        }
        Ok(())
    }

    /// Keeps the least and the most value.
    fn note(&mut self, value: &[u8], is_below: impl Fn(&[u8]) -> bool) {
        match &mut self.least_and_most {
            None => self.least_and_most = Some((value.to_vec(), value.to_vec())),
            Some((least, _)) if is_below(least) => *least = value.to_vec(),
            Some((_, most)) if !is_below(most) => *most = value.to_vec(),
            Some(_) => {}
        }
    }

    fn end_page(&mut self) -> io::Result<()> {
        let levels = self.levels();
        let n_bytes = levels.len() + self.page.len();
        let n_bytes = i32::try_from(n_bytes).map_err(io::Error::other)?;
        let n_values = self.n_page_rows * self.list_size.unwrap_or(1);
        thrift::structure(&mut self.pages, |header| {
            header.i32(1, DATA_PAGE);
            header.i32(2, n_bytes);
            header.i32(3, n_bytes);
            header.inner(5, |page| {
                page.i32(1, n_values as i32);
                page.i32(2, PLAIN);
                page.i32(3, RLE);
                page.i32(4, RLE);
            });
        });
        self.pages.extend_from_slice(&levels);
        self.pages.append(&mut self.page);
        self.n_page_rows = 0;
        Ok(())
    }

    /// Of a list: which values begin a row (repetition level 0, the others 1), and that
    /// every value is there (definition level 1). Run lengths, each level behind its size.
    fn levels(&self) -> Vec<u8> {
        let Some(size) = self.list_size else {
            return Vec::new();
        };
        let run = |levels: &mut Vec<u8>, n: usize, level: u8| {
            thrift::varint(levels, (n as u64) << 1);
            levels.push(level);
        };
        let mut row = Vec::new();
        run(&mut row, 1, 0);
        if size > 1 {
            run(&mut row, size - 1, 1);
        }
        let mut definitions = Vec::new();
        run(&mut definitions, self.n_page_rows * size, 1);
        let mut levels = ((row.len() * self.n_page_rows) as u32)
            .to_le_bytes()
            .to_vec();
        levels.extend(row.repeat(self.n_page_rows));
        levels.extend((definitions.len() as u32).to_le_bytes());
        levels.extend(definitions);
        levels
    }

    /// The bytes of all pages, to be written at this position, and what they are.
    pub fn end_chunk(&mut self, position: u64) -> io::Result<(Vec<u8>, Chunk)> {
        if self.n_page_rows > 0 {
            self.end_page()?;
        }
        self.n_value_bytes = 0;
        let bytes = std::mem::take(&mut self.pages);
        let chunk = Chunk {
            name: self.name.clone(),
            kind: self.kind,
            is_list: self.list_size.is_some(),
            position,
            n_bytes: bytes.len(),
            n_values: std::mem::take(&mut self.n_values),
            least_and_most: self.least_and_most.take(),
        };
        Ok((bytes, chunk))
    }
}

impl Chunk {
    /// The metadata of the column.
    pub fn write(&self, chunk: &mut Struct) {
        chunk.i64(2, 0);
        chunk.inner(3, |column| {
            column.i32(1, self.kind);
            column.integers(2, &[PLAIN, RLE]);
            let path = [self.name.as_str(), "list", "element"];
            column.strings(3, if self.is_list { &path } else { &path[..1] });
            // Codec 0: nothing is compressed.
            column.i32(4, 0);
            column.i64(5, self.n_values as i64);
            column.i64(6, self.n_bytes as i64);
            column.i64(7, self.n_bytes as i64);
            column.i64(9, self.position as i64);
            if let Some((least, most)) = &self.least_and_most
                && least.len().max(most.len()) <= MAX_STATISTICS_BYTES
            {
                column.inner(12, |statistics| {
                    statistics.i64(3, 0);
                    statistics.bytes(5, most);
                    statistics.bytes(6, least);
                });
            }
        });
    }
}
