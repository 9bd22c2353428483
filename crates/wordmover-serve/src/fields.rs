//! The fields of a JSON body: each is taken by name, and what is left over is refused.

use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult};

/// The fields of a request that were not yet looked at.
pub(crate) struct Fields {
    map: Map<String, Value>,
    /// Names asked for so far, for the message about one that is not known.
    known: Vec<&'static str>,
}

impl Fields {
    pub fn parse(body: &[u8]) -> ApiResult<Self> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let at = error.valid_up_to();
            ApiError::invalid(format!("the body is not UTF-8 from byte {at} on"))
        })?;
        let value = serde_json::from_str(text)
            .map_err(|error| ApiError::invalid(format!("the body is not valid JSON: {error}")))?;
        match value {
            Value::Object(map) => Ok(Fields {
                map,
                known: Vec::new(),
            }),
            _ => Err(ApiError::invalid("the body must be a JSON object")),
        }
    }

    /// A field, if it is there and not null.
    pub fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.map.remove(name).filter(|value| !value.is_null())
    }

    pub fn required(&mut self, name: &'static str) -> ApiResult<Value> {
        self.take(name)
            .ok_or_else(|| ApiError::field(name, format!("`{name}` is missing")))
    }

    /// A text that must be there.
    pub fn text(&mut self, name: &'static str) -> ApiResult<String> {
        match self.required(name)? {
            Value::String(text) => Ok(text),
            other => Err(wrong(name, "a string", &other)),
        }
    }

    pub fn optional_text(&mut self, name: &'static str) -> ApiResult<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", &other)),
        }
    }

    pub fn flag(&mut self, name: &'static str, default: bool) -> ApiResult<bool> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(wrong(name, "true or false", &other)),
        }
    }

    /// A whole number from 1 on.
    pub fn count(&mut self, name: &'static str, most: usize) -> ApiResult<Option<usize>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        match number {
            Some(number) if (1..=most).contains(&number) => Ok(Some(number)),
            _ => Err(wrong(
                name,
                &format!("a whole number between 1 and {most}"),
                &value,
            )),
        }
    }

    /// A number between 0 and 1, 1 excluded.
    pub fn share(&mut self, name: &'static str) -> ApiResult<f64> {
        let Some(value) = self.take(name) else {
            return Ok(0.0);
        };
        match value.as_f64() {
            Some(share) if (0.0..1.0).contains(&share) => Ok(share),
            _ => Err(wrong(
                name,
                "a number of at least 0 and less than 1",
                &value,
            )),
        }
    }

    /// A list of strings, of which there may be none.
    pub fn texts(&mut self, name: &'static str) -> ApiResult<Vec<String>> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(value) => strings(name, value),
        }
    }

    /// Refuses whatever nobody asked for.
    pub fn finish(self) -> ApiResult<()> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(name) => {
                let shown: String = name.chars().take(60).collect();
                let known = self.known.join(", ");
                let message = format!("unknown field `{shown}`; there are {known}");
                Err(ApiError::field(shown, message).code("unknown_parameter"))
            }
        }
    }
}

/// A list of strings; the first element that is something else is named.
pub(crate) fn strings(name: &str, value: Value) -> ApiResult<Vec<String>> {
    let Value::Array(values) = value else {
        return Err(wrong(name, "a list of strings", &value));
    };
    let numbered = values.into_iter().enumerate();
    numbered
        .map(|(index, value)| match value {
            Value::String(text) => Ok(text),
            other => Err(wrong(&format!("{name}[{index}]"), "a string", &other)),
        })
        .collect()
}

pub(crate) fn wrong(name: &str, expected: &str, found: &Value) -> ApiError {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let shown: String = text.chars().take(40).collect();
            format!("the string {shown:?}")
        }
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    ApiError::field(name, format!("`{name}` must be {expected}, not {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(result: ApiResult<()>) -> (String, Option<String>) {
        let error = result.unwrap_err();
        (error.message, error.param)
    }

    #[test]
    fn bodies_that_are_no_objects_are_refused() {
        for (body, due) in [
            (&b"\xff"[..], "the body is not UTF-8 from byte 0 on"),
            (b"[1]", "the body must be a JSON object"),
            (
                b"{\"a\": ",
                "the body is not valid JSON: EOF while parsing a value at line 1 column 6",
            ),
        ] {
            assert_eq!(Fields::parse(body).err().unwrap().message, due);
        }
        let deep = "[".repeat(100_000);
        assert!(Fields::parse(deep.as_bytes()).is_err());
    }

    #[test]
    fn messages_name_the_field_and_what_it_must_be() {
        let fields = |body: &str| Fields::parse(body.as_bytes()).unwrap();
        let (message, param) = said(fields("{\"k\": 0}").count("k", 9).map(|_| ()));
        assert_eq!(message, "`k` must be a whole number between 1 and 9, not 0");
        assert_eq!(param.as_deref(), Some("k"));
        let (message, _) = said(fields("{\"a\": 1}").text("b").map(|_| ()));
        assert_eq!(message, "`b` is missing");
        let (message, param) = said(fields("{\"t\": [\"a\", 3]}").texts("t").map(|_| ()));
        assert_eq!(message, "`t[1]` must be a string, not 3");
        assert_eq!(param.as_deref(), Some("t[1]"));
        let mut left = fields("{\"a\": \"x\", \"<b>\": 1}");
        left.text("a").unwrap();
        let (message, _) = said(left.finish());
        assert_eq!(message, "unknown field `<b>`; there are a");
    }

    #[test]
    fn null_is_a_field_that_is_not_there() {
        let mut fields = Fields::parse(b"{\"a\": null}").unwrap();
        assert_eq!(fields.optional_text("a").unwrap(), None);
        assert!(fields.finish().is_ok());
    }
}
