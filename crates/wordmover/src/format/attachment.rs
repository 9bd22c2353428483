//! What others keep in a model file beside the model.

use std::collections::HashMap;

use safetensors::Dtype;
use safetensors::tensor::Metadata as TensorsHeader;

/// Before every name, so that none is one of the model's own.
const PREFIX: &str = "attached.";

/// Something that belongs to a model and travels in its file: a classifier on its
/// features, say. The model is read without it.
///
/// In the file it is a metadata entry `attached.<name>` and tensors
/// `attached.<name>.<tensor>` of f64. What they mean is for whoever attached them to
/// check.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    /// What it is called; without full stops.
    pub name: String,
    /// A text, usually JSON.
    pub metadata: String,
    /// Names, shapes and values of tensors.
    pub tensors: Vec<(String, Vec<usize>, Vec<f64>)>,
}

impl Attachment {
    pub(super) fn metadata_key(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    pub(super) fn tensor_name(&self, tensor: &str) -> String {
        format!("{PREFIX}{}.{tensor}", self.name)
    }

    /// All that a file holds, by name. Tensors of other types are passed over.
    pub(super) fn read_all(header: &TensorsHeader, data: &[u8]) -> Vec<Self> {
        let Some(metadata) = header.metadata() else {
            return Vec::new();
        };
        let tensors = header.tensors();
        let named = metadata
            .iter()
            .filter_map(|(key, text)| Some((key.strip_prefix(PREFIX)?, text)));
        let mut attachments: Vec<Self> = named
            .map(|(name, text)| Attachment {
                name: name.to_owned(),
                metadata: text.clone(),
                tensors: tensors_of(&format!("{PREFIX}{name}."), &tensors, data),
            })
            .collect();
        attachments.sort_by(|a, b| a.name.cmp(&b.name));
        attachments
    }
}

fn tensors_of(
    prefix: &str,
    tensors: &HashMap<String, &safetensors::tensor::TensorInfo>,
    data: &[u8],
) -> Vec<(String, Vec<usize>, Vec<f64>)> {
    let mut found = Vec::new();
    for (name, info) in tensors {
        let Some(name) = name.strip_prefix(prefix) else {
            continue;
        };
        if info.dtype == Dtype::F64 {
            let (start, end) = info.data_offsets;
            let values = super::tensors::numbers(&data[start..end], f64::from_le_bytes);
            found.push((name.to_owned(), info.shape.clone(), values));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
