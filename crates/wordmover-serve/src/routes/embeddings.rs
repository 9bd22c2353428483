//! `POST /v1/embeddings`, as OpenAI has it.

use serde_json::Value;

use super::{Usage, Warning};
use crate::base64;
use crate::error::{ApiError, ApiResult};
use crate::fields::{Fields, strings, wrong};
use crate::limits::Limits;
use crate::served::Served;
use crate::work::{Embedded, EmbeddingRequest};

/// How the numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Float,
    Base64,
}

pub(crate) fn read(body: &[u8], served: &Served, limits: &Limits) -> ApiResult<EmbeddingRequest> {
    let mut fields = Fields::parse(body)?;
    let input = fields.required("input")?;
    let model = fields.optional_text("model")?;
    let encoding = match fields.optional_text("encoding_format")?.as_deref() {
        None | Some("float") => Encoding::Float,
        Some("base64") => Encoding::Base64,
        Some(other) => {
            let other = Value::String(other.to_owned());
            return Err(wrong("encoding_format", "`float` or `base64`", &other));
        }
    };
    let n_features = served.embedding.n_features();
    let dimensions = fields
        .count("dimensions", n_features)?
        .unwrap_or(n_features);
    // For OpenAI's own statistics; there are none here.
    fields.optional_text("user")?;
    fields.finish()?;
    served.check_name(model.as_deref())?;
    let name = match &input {
        Value::Array(_) => |index| format!("input[{index}]"),
        _ => |_| "input".to_owned(),
    };
    Ok(EmbeddingRequest {
        texts: texts("input", input, name, limits)?,
        name,
        finish: Box::new(move |embedded| write(embedded, encoding, dimensions)),
    })
}

/// The texts of a field that holds one or several.
pub(crate) fn texts(
    field: &'static str,
    value: Value,
    name: fn(usize) -> String,
    limits: &Limits,
) -> ApiResult<Vec<String>> {
    let texts = match value {
        Value::String(text) => vec![text],
        Value::Array(values) if values.first().is_some_and(is_tokens) => {
            let message = format!(
                "`{field}` holds token ids, but this model reads text; with LangChain, pass \
                 check_embedding_ctx_length=False to OpenAIEmbeddings"
            );
            return Err(ApiError::field(field, message));
        }
        Value::Array(values) => strings(field, Value::Array(values))?,
        other => return Err(wrong(field, "a string or a list of strings", &other)),
    };
    check_texts(field, &texts, name, limits)?;
    Ok(texts)
}

fn is_tokens(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(values) => values.first().is_none_or(Value::is_number),
        _ => false,
    }
}

/// Refuses too many texts, none, and empty ones.
pub(crate) fn check_texts(
    field: &'static str,
    texts: &[String],
    name: fn(usize) -> String,
    limits: &Limits,
) -> ApiResult<()> {
    let (n_texts, most) = (texts.len(), limits.texts);
    if texts.is_empty() {
        return Err(ApiError::field(field, format!("`{field}` holds no text")));
    }
    if n_texts > most {
        let message = format!("`{field}` holds {n_texts} texts; a request may have {most}");
        return Err(ApiError::field(field, message));
    }
    match texts.iter().position(String::is_empty) {
        Some(index) => {
            let name = name(index);
            let message = format!("`{name}` is an empty string");
            Err(ApiError::field(name, message))
        }
        None => Ok(()),
    }
}

/// Written by hand: the numbers are nearly all of it.
fn write(embedded: &Embedded, encoding: Encoding, dimensions: usize) -> Vec<u8> {
    let width = embedded.served.embedding.n_features();
    let n_texts = embedded.texts.len();
    let bytes_each = match encoding {
        Encoding::Float => 13 * dimensions,
        Encoding::Base64 => 6 * dimensions,
    };
    let mut out = Vec::with_capacity(n_texts * (bytes_each + 64) + 256);
    out.extend_from_slice(b"{\"object\":\"list\",\"data\":[");
    for (index, row) in embedded.rows.chunks_exact(width).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let head = format!("{{\"object\":\"embedding\",\"index\":{index},\"embedding\":");
        out.extend_from_slice(head.as_bytes());
        match encoding {
            Encoding::Float => {
                // The shortest decimals that are read back as the same number.
                let written = serde_json::to_writer(&mut out, &row[..dimensions]);
                debug_assert!(written.is_ok(), "finite numbers into memory");
            }
            Encoding::Base64 => {
                out.push(b'"');
                base64::encode_floats(&row[..dimensions], &mut out);
                out.push(b'"');
            }
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"model\":");
    let usage = Usage::of(embedded.n_words());
    let tail = || -> serde_json::Result<()> {
        serde_json::to_writer(&mut out, &embedded.served.name)?;
        out.extend_from_slice(b",\"usage\":");
        serde_json::to_writer(&mut out, &usage)?;
        let warnings = warnings(embedded);
        if !warnings.is_empty() {
            out.extend_from_slice(b",\"warnings\":");
            serde_json::to_writer(&mut out, &warnings)?;
        }
        Ok(())
    };
    let written = { tail }();
    debug_assert!(written.is_ok(), "plain values into memory");
    out.push(b'}');
    out
}

/// What is to know of texts that are not embedded as they stand.
pub(crate) fn warnings(embedded: &Embedded) -> Vec<Warning> {
    let numbered = embedded.texts.iter().enumerate();
    let message = |(index, text): (usize, &crate::work::EmbeddedText)| {
        let message = if text.is_empty {
            "no word of this text has a vector: its embedding is all zeros".to_owned()
        } else if text.n_cut > 0 {
            let kept = embedded.served.embedding.documents().rules().max_words;
            let n_cut = text.n_cut;
            format!("of this text's distinct words the {kept} most frequent count; {n_cut} do not")
        } else {
            return None;
        };
        Some(Warning { index, message })
    };
    numbered.filter_map(message).collect()
}
