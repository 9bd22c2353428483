//! The message of an error, for programs: one plain sentence.

use std::error::Error;
use std::io;

/// What went wrong and, after each colon, why. The system's reasons are worded in one way
/// wherever they come from, without its numbers.
///
/// ```
/// let missing = std::path::Path::new("no such model.wme");
/// let error = wordmover::ModelFile::open(missing).unwrap_err();
/// let message = wordmover::error_message::of(&error);
/// assert_eq!(message, "cannot read no such model.wme: no such file");
/// ```
#[must_use]
pub fn of(error: &(dyn Error + 'static)) -> String {
    let mut causes = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        causes.push(reason(cause));
        next = cause.source();
    }
    causes.join(": ")
}

fn reason(cause: &(dyn Error + 'static)) -> String {
    let Some(error) = cause.downcast_ref::<io::Error>() else {
        return cause.to_string();
    };
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "it is not a directory".to_owned(),
        // Named here because what makes temporary files adds their names.
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "no space left on device".to_owned(),
        _ => match error.raw_os_error() {
            Some(number) => {
                let text = error.to_string();
                let text = text.strip_suffix(&format!(" (os error {number})"));
                without_capital(text.unwrap_or(&error.to_string()))
            }
            None => error.to_string(),
        },
    }
}

fn without_capital(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn message(source: io::Error) -> String {
        of(&Error::Read {
            path: "x".into(),
            source,
        })
    }

    #[test]
    fn the_system_s_reasons_are_worded_in_one_way() {
        for (error, reason) in [
            (std::fs::read("no such file").unwrap_err(), "no such file"),
            (io::ErrorKind::NotFound.into(), "no such file"),
            (io::ErrorKind::IsADirectory.into(), "it is a directory"),
            (
                io::Error::new(io::ErrorKind::PermissionDenied, "no, at path /x/.y.part"),
                "permission denied",
            ),
            (
                io::Error::other("Oh dear (os error 7)"),
                "Oh dear (os error 7)",
            ),
        ] {
            assert_eq!(message(error), format!("cannot read x: {reason}"));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn numbers_and_capitals_of_the_system_are_left_out() {
        for (number, reason) in [
            (2, "no such file"),
            (13, "permission denied"),
            (20, "it is not a directory"),
            (21, "it is a directory"),
            (28, "no space left on device"),
            (5, "input/output error"),
        ] {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(message(error), format!("cannot read x: {reason}"));
        }
    }
}
