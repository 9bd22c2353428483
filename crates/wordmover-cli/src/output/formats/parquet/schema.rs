//! What the columns are, for readers of Parquet and for readers of Arrow.

use std::io;

use super::super::ids::Ids;
use super::thrift::Struct;

/// Parquet's numbers for types, repetitions, conversions and encodings.
pub const INT64: i32 = 2;
pub const FLOAT: i32 = 4;
pub const DOUBLE: i32 = 5;
pub const BYTE_ARRAY: i32 = 6;
const REQUIRED: i32 = 0;
const REPEATED: i32 = 2;
const UTF8: i32 = 0;
const LIST: i32 = 3;

/// Arrow's schema as an IPC message, with a list size of 0: what pyarrow 26.0.1 makes of
/// `pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("embedding",
/// pa.list_(pa.field("element", pa.float32(), nullable=False), n), nullable=False)])
/// .serialize()`, or with `pa.string()`.
const ARROW: [&[u8]; 2] = [
    include_bytes!("int64-ids.ipc"),
    include_bytes!("string-ids.ipc"),
];

/// Where the list size is in both messages.
const LIST_SIZE_AT: usize = 116;

/// One node of the tree of columns.
struct Node<'n> {
    name: &'n str,
    /// Parquet's type, or the number of children.
    kind: Result<i32, i32>,
    repetition: Option<i32>,
    converted: Option<i32>,
    /// Which variant of `LogicalType` it is.
    logical: Option<u8>,
}

/// Field 2 of the file's metadata: a column `id` and a column `embedding`, a list.
pub fn write(file: &mut Struct, ids: Ids) {
    let node = |name, kind, repetition| Node {
        name,
        kind,
        repetition,
        converted: None,
        logical: None,
    };
    let id = match ids {
        Ids::RowNumbers => node("id", Ok(INT64), Some(REQUIRED)),
        Ids::Given => Node {
            converted: Some(UTF8),
            logical: Some(1),
            ..node("id", Ok(BYTE_ARRAY), Some(REQUIRED))
        },
    };
    let nodes = [
        node("arrow_schema", Err(2), None),
        id,
        Node {
            converted: Some(LIST),
            logical: Some(3),
            ..node("embedding", Err(1), Some(REQUIRED))
        },
        node("list", Err(1), Some(REPEATED)),
        // The name that the Parquet specification gives to what is in a list.
        node("element", Ok(FLOAT), Some(REQUIRED)),
    ];
    write_nodes(file, &nodes);
}

/// The same for a table of plain columns: names, and Parquet's types. Byte arrays are text.
pub fn write_table(file: &mut Struct, columns: &[(&str, i32)]) {
    let root = Node {
        name: "schema",
        kind: Err(columns.len() as i32),
        repetition: None,
        converted: None,
        logical: None,
    };
    let nodes = columns.iter().map(|&(name, kind)| Node {
        name,
        kind: Ok(kind),
        repetition: Some(REQUIRED),
        converted: (kind == BYTE_ARRAY).then_some(UTF8),
        logical: (kind == BYTE_ARRAY).then_some(1),
    });
    write_nodes(
        file,
        &std::iter::once(root).chain(nodes).collect::<Vec<_>>(),
    );
}

fn write_nodes(file: &mut Struct, nodes: &[Node]) {
    file.structures(2, nodes, |element, node| {
        if let Ok(kind) = node.kind {
            element.i32(1, kind);
        }
        if let Some(repetition) = node.repetition {
            element.i32(3, repetition);
        }
        element.bytes(4, node.name.as_bytes());
        if let Err(n_children) = node.kind {
            element.i32(5, n_children);
        }
        if let Some(converted) = node.converted {
            element.i32(6, converted);
        }
        if let Some(variant) = node.logical {
            element.inner(10, |logical| logical.inner(variant, |_| {}));
        }
    });
}

/// Arrow's schema as Arrow's readers look for it in the metadata: in base 64.
pub fn arrow(ids: Ids, n_features: usize) -> io::Result<String> {
    let size = i32::try_from(n_features).map_err(|_| {
        io::Error::other(format!("a Parquet list cannot hold {n_features} numbers"))
    })?;
    let mut message = ARROW[usize::from(matches!(ids, Ids::Given))].to_vec();
    message[LIST_SIZE_AT..LIST_SIZE_AT + 4].copy_from_slice(&size.to_le_bytes());
    Ok(base64(&message))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let part = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = part(0) << 16 | part(1) << 8 | part(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { digit.into() } else { '=' });
        }
    }
    text
}
