//! An error as one plain sentence.

use std::error::Error;
use std::io;

/// What went wrong and, after each colon, why. The system's reasons are said in one way
/// wherever they come from, without its numbers.
pub fn of(error: &anyhow::Error) -> String {
    let causes: Vec<String> = error.chain().map(reason).collect();
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
    use anyhow::Context;

    use super::*;

    fn sentence(error: io::Error) -> String {
        of(&Err::<(), _>(error).context("cannot read x").unwrap_err())
    }

    #[test]
    fn the_system_s_reasons_are_said_in_one_way() {
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
            assert_eq!(sentence(error), format!("cannot read x: {reason}"));
        }
        let nested = anyhow::anyhow!("the disk")
            .context("second")
            .context("first");
        assert_eq!(of(&nested), "first: second: the disk");
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
        ] {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(sentence(error), format!("cannot read x: {reason}"));
        }
    }
}
