//! Documents from JSON lines: one object a line, the text in one of its fields.

use anyhow::{Error, Result};
use serde_json::{Map, Value};

use super::documents::DocumentText;
use super::lines::Lines;
use super::options::InputOptions;

/// Reads the chosen fields of JSON objects.
pub struct JsonLines {
    lines: Lines,
    text_field: String,
    id_field: Option<String>,
    label_field: Option<String>,
    split_field: Option<String>,
}

impl JsonLines {
    pub fn new(lines: Lines, options: &InputOptions) -> JsonLines {
        JsonLines {
            lines,
            text_field: options.column.clone().unwrap_or_default(),
            id_field: options.id_column.clone(),
            label_field: options.label_column.clone(),
            split_field: options.split_column.clone(),
        }
    }

    pub fn name(&self) -> &str {
        self.lines.name()
    }

    /// The next document, or nothing at the end of the input.
    pub fn next_document(&mut self) -> Result<Option<DocumentText>> {
        let mut blank_line = None;
        let (number, parsed) = loop {
            let Some(line) = self.lines.next_line()? else {
                return Ok(None);
            };
            if !line.text.trim().is_empty() {
                break (line.number, parse_object(line.text));
            }
            // Wrong unless nothing but blank lines follows.
            blank_line.get_or_insert(line.number);
        };
        if let Some(line) = blank_line {
            return Err(self
                .lines
                .error_at(line, "expected a JSON object, found a blank line"));
        }
        let error = |problem: String| -> Error { self.lines.error_at(number, problem) };
        let mut object = parsed.map_err(error)?;
        let short_text = |what: &str, field: &Option<String>| {
            let field = field.as_deref();
            let text = field.map(|field| short_text_from(&object, what, field));
            text.transpose().map_err(error)
        };
        let id = short_text("id", &self.id_field)?;
        let label = short_text("label", &self.label_field)?;
        let split = short_text("split", &self.split_field)?;
        if label.as_ref().is_some_and(|label| label.trim().is_empty()) {
            return Err(error("the label is empty".to_string()));
        }
        // Removed and not copied: the text is most of the line.
        let text = match object.remove(&self.text_field) {
            Some(Value::String(text)) => text,
            Some(other) => {
                return Err(error(format!(
                    "the field `{}` is {}, not a string",
                    self.text_field,
                    kind(&other)
                )));
            }
            None => return Err(error(format!("there is no field `{}`", self.text_field))),
        };
        Ok(Some(DocumentText {
            id,
            label,
            split,
            text,
        }))
    }
}

fn parse_object(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(format!("expected a JSON object, found {}", kind(&other))),
        Err(error) => {
            // The parser saw one line only, so its line number would mislead.
            let message = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = message.strip_suffix(&place).unwrap_or(&message);
            Err(format!(
                "broken JSON at column {}: {reason}",
                error.column()
            ))
        }
    }
}

/// An id, label or split as text. Fractional numbers are refused: they have no one way to
/// be written.
fn short_text_from(object: &Map<String, Value>, what: &str, field: &str) -> Result<String, String> {
    match object.get(field) {
        Some(Value::String(id)) => Ok(id.clone()),
        Some(Value::Number(id)) if !id.is_f64() => Ok(id.to_string()),
        Some(Value::Number(id)) => Err(format!(
            "the {what} in the field `{field}` is {id}, not a string or an integer"
        )),
        Some(other) => Err(format!(
            "the {what} in the field `{field}` is {}, not a string or an integer",
            kind(other)
        )),
        None => Err(format!("there is no field `{field}` for the {what}")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, id_field: Option<&str>) -> Result<Vec<(Option<String>, String)>> {
        let lines = Lines::of("docs.jsonl", text.as_bytes());
        let options = InputOptions {
            column: Some("body".to_string()),
            id_column: id_field.map(String::from),
            ..InputOptions::default()
        };
        let mut reader = JsonLines::new(lines, &options);
        let mut documents = Vec::new();
        while let Some(document) = reader.next_document()? {
            documents.push((document.id, document.text));
        }
        Ok(documents)
    }

    fn error(text: &str) -> String {
        read(text, None).unwrap_err().to_string()
    }

    #[test]
    fn the_field_is_read_whatever_else_the_object_holds() {
        let text =
            "{\"body\": \"caf\\u00e9\\n\", \"stars\": 4.5}\r\n {\"x\": [{}], \"body\": \"\"} ";
        assert_eq!(
            read(text, None).unwrap(),
            [(None, "café\n".to_string()), (None, String::new())]
        );
        assert_eq!(read("", None).unwrap(), []);
    }

    #[test]
    fn ids_are_strings_or_integers() {
        let text = "{\"body\": \"a\", \"id\": \"x-1\"}\n{\"body\": \"b\", \"id\": -7}\n\
                    {\"body\": \"c\", \"id\": 18446744073709551615}\n";
        let ids: Vec<Option<String>> = read(text, Some("id"))
            .unwrap()
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        assert_eq!(
            ids,
            [
                Some("x-1".into()),
                Some("-7".into()),
                Some("18446744073709551615".into())
            ]
        );
    }

    #[test]
    fn the_text_may_be_its_own_id() {
        assert_eq!(
            read("{\"body\": \"a\"}", Some("body")).unwrap(),
            [(Some("a".to_string()), "a".to_string())]
        );
    }

    #[test]
    fn any_other_id_is_refused() {
        for (line, problem) in [
            ("{\"body\": \"a\"}", "there is no field `id` for the id"),
            (
                "{\"body\": \"a\", \"id\": 1.5}",
                "the id in the field `id` is 1.5, not a string or an integer",
            ),
            (
                "{\"body\": \"a\", \"id\": null}",
                "the id in the field `id` is null, not a string or an integer",
            ),
            (
                "{\"body\": \"a\", \"id\": [1]}",
                "the id in the field `id` is an array, not a string or an integer",
            ),
        ] {
            assert_eq!(
                read(line, Some("id")).unwrap_err().to_string(),
                format!("docs.jsonl: line 1: {problem}")
            );
        }
    }

    #[test]
    fn every_way_a_line_can_be_wrong_is_named() {
        for (line, problem) in [
            ("{\"title\": \"a\"}", "there is no field `body`"),
            (
                "{\"body\": 3}",
                "the field `body` is a number, not a string",
            ),
            ("{\"body\": null}", "the field `body` is null, not a string"),
            (
                "{\"body\": true}",
                "the field `body` is a boolean, not a string",
            ),
            (
                "{\"body\": {}}",
                "the field `body` is an object, not a string",
            ),
            ("[1, 2]", "expected a JSON object, found an array"),
            ("\"text\"", "expected a JSON object, found a string"),
            (
                "{\"body\": \"a\"",
                "broken JSON at column 12: EOF while parsing an object",
            ),
            (
                "{\"body\": \"a\"} x",
                "broken JSON at column 15: trailing characters",
            ),
            ("text", "broken JSON at column 2: expected ident"),
        ] {
            let text = format!("{{\"body\": \"fine\"}}\n{line}\n");
            assert_eq!(error(&text), format!("docs.jsonl: line 2: {problem}"));
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_an_overflow() {
        let deep = format!("{{\"x\": {}", "[".repeat(1 << 20));
        assert_eq!(
            error(&deep),
            "docs.jsonl: line 1: broken JSON at column 133: recursion limit exceeded"
        );
    }

    #[test]
    fn blank_lines_are_ignored_only_at_the_end() {
        assert_eq!(read("{\"body\": \"a\"}\n\n \r\n", None).unwrap().len(), 1);
        assert_eq!(
            error("{\"body\": \"a\"}\n\n\n{\"body\": \"b\"}\n"),
            "docs.jsonl: line 2: expected a JSON object, found a blank line"
        );
    }
}
