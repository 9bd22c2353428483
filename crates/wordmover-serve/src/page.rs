//! The page: plain files in the binary, nothing from a network.

use std::fmt::Write;
use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::alignment::Alignment;
use crate::base64;

/// The description of the service.
pub(crate) const OPENAPI: &str = include_str!("../openapi.json");

const HTML: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/page.css");
const SCRIPT: &str = include_str!("../page/page.js");
const ALIGNMENT_SCRIPT: &str = include_str!("../page/alignment.js");
const ICON: &str = include_str!("../page/icon.svg");
const EXPLAIN: &str = include_str!("../page/explain.html");
const EXPLAIN_SCRIPT: &str = include_str!("../page/explain.js");

/// Nothing but our own files, nothing inline, no frames, no forms.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// A file of the page.
pub(crate) struct File {
    pub content: Bytes,
    pub content_type: &'static str,
}

pub(crate) fn is_page(path: &str) -> bool {
    matches!(
        path,
        "/" | "/page.css" | "/page.js" | "/alignment.js" | "/icon.svg"
    )
}

pub(crate) fn file(path: &str) -> Option<File> {
    let (content, content_type) = match path {
        "/" => (HTML, "text/html; charset=utf-8"),
        "/page.css" => (STYLE, "text/css; charset=utf-8"),
        "/page.js" => (SCRIPT, "text/javascript; charset=utf-8"),
        "/alignment.js" => (ALIGNMENT_SCRIPT, "text/javascript; charset=utf-8"),
        "/icon.svg" => (ICON, "image/svg+xml"),
        "/docs" => (DOCS.as_str(), "text/html; charset=utf-8"),
        _ => return None,
    };
    Some(File {
        content: Bytes::from_static(content.as_bytes()),
        content_type,
    })
}

/// One file with everything in it: alignments drawn as the page does, without a service.
/// The first is the whole, the others leave more and more unmatched.
#[must_use]
pub fn stand_alone(alignments: &[Alignment]) -> String {
    let data = serde_json::to_string(alignments).unwrap_or_default();
    // Inside a script element, only `<` could end it.
    let data = data.replace('<', "\\u003c");
    let script = format!("{ALIGNMENT_SCRIPT}\n{EXPLAIN_SCRIPT}");
    let policy = format!(
        "default-src 'none'; img-src data: blob:; base-uri 'none'; form-action 'none'; \
         style-src 'sha256-{}'; script-src 'sha256-{}'",
        sha256(STYLE),
        sha256(&script)
    );
    EXPLAIN
        .replace("{{policy}}", &policy)
        .replace("{{style}}", STYLE)
        .replace("{{script}}", &script)
        .replace("{{data}}", &data)
}

fn sha256(text: &str) -> String {
    let mut out = Vec::new();
    base64::encode(&Sha256::digest(text.as_bytes()), &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The documentation, made of the description: they cannot disagree.
static DOCS: LazyLock<String> = LazyLock::new(|| {
    let description: Value = serde_json::from_str(OPENAPI).unwrap_or_default();
    let text = |value: &Value| escape(value.as_str().unwrap_or_default());
    let mut out = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>wordmover: the service</title>\
         <link rel=\"stylesheet\" href=\"/page.css\"><link rel=\"icon\" href=\"/icon.svg\"></head>\
         <body><header class=\"top\"><h1>wordmover</h1><nav aria-label=\"Pages\"><a href=\"/\">The page</a>\
         <a href=\"/openapi.json\">openapi.json</a></nav></header><main class=\"docs\">",
    );
    let _ = write!(out, "<p>{}</p>", text(&description["info"]["description"]));
    let empty = serde_json::Map::new();
    let paths = description["paths"].as_object().unwrap_or(&empty);
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap_or(&empty) {
            let _ = write!(
                out,
                "<section><h2><code>{} {}</code></h2><p>{}</p>",
                method.to_uppercase(),
                escape(path),
                text(&operation["description"])
            );
            let content = &operation["requestBody"]["content"]["application/json"];
            let schema = resolve(&description, &content["schema"]);
            let required = schema["required"].as_array();
            let is_required =
                |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
            if let Some(fields) = schema["properties"].as_object() {
                out += "<table><thead><tr><th>field</th><th>meaning</th></tr></thead><tbody>";
                for (name, field) in fields {
                    let _ = write!(
                        out,
                        "<tr><td><code>{}</code>{}</td><td>{}</td></tr>",
                        escape(name),
                        if is_required(name) { " (required)" } else { "" },
                        text(&field["description"])
                    );
                }
                out += "</tbody></table>";
            }
            if let Some(example) = content.get("example") {
                let body = escape(&example.to_string());
                let _ = write!(
                    out,
                    "<pre><code>curl http://127.0.0.1:8080{path} -H 'Content-Type: application/json' -d '{body}'</code></pre>"
                );
            }
            out += "</section>";
        }
    }
    out += "</main></body></html>";
    out
});

/// A schema, or the one it refers to.
fn resolve<'v>(description: &'v Value, schema: &'v Value) -> &'v Value {
    match schema["$ref"].as_str() {
        Some(name) => description
            .pointer(name.trim_start_matches('#'))
            .unwrap_or(schema),
        None => schema,
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
