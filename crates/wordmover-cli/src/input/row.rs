//! One row of a table, reused from row to row.

/// The fields of a row, end to end in one string so that reading allocates nothing per field.
#[derive(Default)]
pub struct Row {
    text: String,
    ends: Vec<usize>,
    /// The line the row starts on.
    pub line: u64,
    /// Whether the row is nothing but an empty line.
    pub is_blank: bool,
}

impl Row {
    /// Empties the row for one that starts on this line.
    pub fn start(&mut self, line: u64, is_blank: bool) {
        self.text.clear();
        self.ends.clear();
        self.line = line;
        self.is_blank = is_blank;
    }

    /// Adds to the field that is being read.
    pub fn push(&mut self, part: &str) {
        self.text.push_str(part);
    }

    /// Ends the field that is being read; the next part starts another.
    pub fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }

    pub fn n_fields(&self) -> usize {
        self.ends.len()
    }

    /// The bytes in all fields so far, the one being read included.
    pub fn n_bytes(&self) -> usize {
        self.text.len()
    }

    /// The field with this index.
    ///
    /// # Panics
    /// When the row has no such field.
    pub fn field(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    pub fn fields(&self) -> impl Iterator<Item = &str> {
        (0..self.n_fields()).map(|index| self.field(index))
    }
}
