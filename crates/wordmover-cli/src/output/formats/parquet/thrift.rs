//! Thrift's compact protocol, as far as the metadata of a Parquet file needs it.

/// A structure being written: fields in ascending order, then the end.
pub struct Struct<'a> {
    out: &'a mut Vec<u8>,
    last: u8,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl<'a> Struct<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        Struct { out, last: 0 }
    }

    fn field(&mut self, id: u8, kind: u8) {
        // Ids of Parquet's structures are never more than 15 apart.
        self.out.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    pub fn i32(&mut self, id: u8, value: i32) {
        self.field(id, I32);
        zigzag(self.out, value.into());
    }

    pub fn i64(&mut self, id: u8, value: i64) {
        self.field(id, I64);
        zigzag(self.out, value);
    }

    pub fn bytes(&mut self, id: u8, value: &[u8]) {
        self.field(id, BINARY);
        binary(self.out, value);
    }

    /// A structure that `write` fills.
    pub fn inner(&mut self, id: u8, write: impl FnOnce(&mut Struct)) {
        self.field(id, STRUCT);
        structure(self.out, write);
    }

    pub fn integers(&mut self, id: u8, values: &[i32]) {
        self.list(id, I32, values, |out, &value| zigzag(out, value.into()));
    }

    pub fn strings(&mut self, id: u8, values: &[&str]) {
        self.list(id, BINARY, values, |out, value| {
            binary(out, value.as_bytes())
        });
    }

    /// A list of structures, each filled by `write`.
    pub fn structures<T>(&mut self, id: u8, values: &[T], write: impl Fn(&mut Struct, &T)) {
        self.list(id, STRUCT, values, |out, value| {
            structure(out, |inner| write(inner, value));
        });
    }

    fn list<T>(&mut self, id: u8, kind: u8, values: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
        self.field(id, LIST);
        match values.len() {
            short @ 0..15 => self.out.push((short as u8) << 4 | kind),
            long => {
                self.out.push(0xf0 | kind);
                varint(self.out, long as u64);
            }
        }
        for value in values {
            write(self.out, value);
        }
    }

    fn end(self) {
        self.out.push(0);
    }
}

/// A structure that `write` fills.
pub fn structure(out: &mut Vec<u8>, write: impl FnOnce(&mut Struct)) {
    let mut inner = Struct::new(out);
    write(&mut inner);
    inner.end();
}

fn binary(out: &mut Vec<u8>, value: &[u8]) {
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint(out, (value << 1 ^ value >> 63) as u64);
}

/// Seven bits a byte, the lowest first.
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
