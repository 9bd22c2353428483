//! Errors in how the program was called.
//!
//! The program ends with code 2 when its arguments make no sense and with code 1
//! for everything else. Some of the former are found only after a file was opened
//! (which column holds the text?), far from the argument parser, so they travel as
//! ordinary errors and are told apart by this type.

use std::fmt;

use clap::error::ErrorKind;

/// The arguments, not the data or the machine, are at fault.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// A usage error with this message.
pub fn usage_error(message: impl Into<String>) -> anyhow::Error {
    UsageError(message.into()).into()
}

/// Whether the error, or anything that caused it, is a usage error.
pub fn is_usage_error(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<UsageError>())
}

/// Whether the user asked for help, or gave no command at all.
pub fn is_request_for_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// What the argument parser reports, in one sentence: its own report takes a
/// paragraph for the mistake, one for each tip, and one for the usage.
pub fn from_parser(error: &clap::Error) -> anyhow::Error {
    let report = error.render().to_string();
    let report = report.strip_prefix("error: ").unwrap_or(&report);
    let mut sentence = String::new();
    let paragraphs = report
        .split("\n\n")
        .take_while(|paragraph| !paragraph.starts_with("Usage:"))
        .filter(|paragraph| !paragraph.starts_with("For more information"));
    for paragraph in paragraphs {
        for line in paragraph.lines().map(str::trim) {
            let (separator, line) = match line.strip_prefix("tip: ") {
                Some(tip) => ("; ", tip),
                None if sentence.is_empty() => ("", line),
                None if sentence.ends_with(':') || line.starts_with('[') => (" ", line),
                None => (", ", line),
            };
            sentence.push_str(separator);
            sentence.push_str(line);
        }
    }
    usage_error(sentence)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use clap::Parser;

    use crate::args::Arguments;

    use super::*;

    #[test]
    fn a_usage_error_is_recognised_under_added_context() {
        let plain = usage_error("--field is required");
        assert!(is_usage_error(&plain));
        assert_eq!(plain.to_string(), "--field is required");

        let wrapped: anyhow::Result<()> = Err(usage_error("no")).context("reading docs.jsonl");
        assert!(is_usage_error(&wrapped.unwrap_err()));
    }

    #[test]
    fn the_parser_s_reports_become_one_sentence() {
        for (arguments, sentence) in [
            (
                "embed",
                "the following required arguments were not provided: <INPUT>",
            ),
            (
                "embed a.txt -o b.npy --feature 2",
                "unexpected argument '--feature' found; a similar argument exists: '--features'",
            ),
            (
                "embed a.txt -o b.npy --weights x",
                "invalid value 'x' for '--weights <SCHEME>' [possible values: nbow, tfidf, sif]",
            ),
            (
                "distance a b --json --explain",
                "the argument '--json' cannot be used with '--explain'",
            ),
            ("sing", "unrecognized subcommand 'sing'"),
        ] {
            let words = std::iter::once("wordmover").chain(arguments.split(' '));
            let error = from_parser(&Arguments::try_parse_from(words).unwrap_err());
            assert!(is_usage_error(&error));
            assert_eq!(error.to_string(), sentence);
        }
    }

    #[test]
    fn any_other_error_is_not_a_usage_error() {
        assert!(!is_usage_error(&anyhow::anyhow!("disk full")));
    }
}
