//! Which columns of a table hold the text, the id, the label and the split.

use anyhow::{Result, bail};

use super::options::InputOptions;
use super::row::Row;
use crate::usage::usage_error;

/// No more names than this are listed in a message, and no more characters of each:
/// a table without a header has its first document where the names are looked for.
const MAX_LISTED_NAMES: usize = 20;
const MAX_LISTED_CHARACTERS: usize = 40;

/// The columns asked for, as indices from 0, all below `n_columns`.
#[derive(Debug, PartialEq, Eq)]
pub struct Columns {
    pub n_columns: usize,
    pub text: usize,
    pub id: Option<usize>,
    pub label: Option<usize>,
    pub split: Option<usize>,
}

impl Columns {
    /// Finds the columns in the table's first row: the header, or without one the first document.
    pub fn choose(file: &str, first_row: &Row, options: &InputOptions) -> Result<Columns> {
        let n_columns = first_row.n_fields();
        let find = |option: &str, column: &str| {
            if options.header {
                find_by_name(file, first_row, column)
            } else {
                find_by_number(file, n_columns, option, column)
            }
        };
        let text = match &options.column {
            Some(column) => find("--column", column)?,
            None if n_columns == 1 => 0,
            None if options.header => {
                return Err(usage_error(format!(
                    "{file} has {n_columns} columns; choose the text with --column: {}",
                    list_names(first_row)
                )));
            }
            None => {
                return Err(usage_error(format!(
                    "{file} has {n_columns} columns; choose the text with --column, a number from 1 to {n_columns}"
                )));
            }
        };
        let find_if = |option: &str, column: &Option<String>| {
            let column = column.as_deref();
            column.map(|column| find(option, column)).transpose()
        };
        Ok(Columns {
            n_columns,
            text,
            id: find_if("--id-column", &options.id_column)?,
            label: find_if("--label-column", &options.label_column)?,
            split: find_if("--split-column", &options.split_column)?,
        })
    }
}

fn find_by_name(file: &str, header: &Row, name: &str) -> Result<usize> {
    let mut found = header
        .fields()
        .enumerate()
        .filter(|(_, field)| *field == name)
        .map(|(index, _)| index);
    match (found.next(), found.count()) {
        (Some(index), 0) => Ok(index),
        (Some(_), n_more) => bail!(
            "{file} has {} columns named `{name}`; rename all but one",
            n_more + 1
        ),
        (None, _) => Err(usage_error(format!(
            "{file} has no column `{name}`; its columns are {}",
            list_names(header)
        ))),
    }
}

fn find_by_number(file: &str, n_columns: usize, option: &str, number: &str) -> Result<usize> {
    match number.parse::<usize>() {
        Ok(number) if (1..=n_columns).contains(&number) => Ok(number - 1),
        Ok(number) if number > n_columns => {
            let columns = if n_columns == 1 { "column" } else { "columns" };
            Err(usage_error(format!(
                "{file} has no column {number}; its first row has {n_columns} {columns}"
            )))
        }
        _ => Err(usage_error(format!(
            "with --no-header, {option} takes the column's number, counted from 1, not `{number}`"
        ))),
    }
}

fn list_names(header: &Row) -> String {
    let mut names: Vec<String> = header
        .fields()
        .take(MAX_LISTED_NAMES)
        .map(quote_name)
        .collect();
    if header.n_fields() > MAX_LISTED_NAMES {
        names.push(format!("and {} more", header.n_fields() - MAX_LISTED_NAMES));
    }
    names.join(", ")
}

/// The name in backquotes, shortened, and on one line whatever it holds.
fn quote_name(name: &str) -> String {
    let mut shown: String = name
        .chars()
        .take(MAX_LISTED_CHARACTERS)
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    if name.chars().nth(MAX_LISTED_CHARACTERS).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::is_usage_error;

    fn row(fields: &[&str]) -> Row {
        let mut row = Row::default();
        for field in fields {
            row.push(field);
            row.end_field();
        }
        row
    }

    fn options(column: Option<&str>, id_column: Option<&str>, header: bool) -> InputOptions {
        InputOptions {
            column: column.map(String::from),
            id_column: id_column.map(String::from),
            header,
            ..Default::default()
        }
    }

    fn choose(fields: &[&str], options: InputOptions) -> Result<Columns> {
        Columns::choose("docs.tsv", &row(fields), &options)
    }

    /// The message and whether it is a usage error.
    fn problem(fields: &[&str], options: InputOptions) -> (String, bool) {
        let error = choose(fields, options).unwrap_err();
        (error.to_string(), is_usage_error(&error))
    }

    #[test]
    fn columns_are_found_by_name_or_by_number() {
        let by_name = choose(
            &["id", "label", "text"],
            options(Some("text"), Some("id"), true),
        )
        .unwrap();
        assert_eq!(
            by_name,
            Columns {
                n_columns: 3,
                text: 2,
                id: Some(0),
                label: None,
                split: None,
            }
        );
        let by_number = choose(&["train", "1", "words"], options(Some("3"), None, false)).unwrap();
        assert_eq!(
            by_number,
            Columns {
                n_columns: 3,
                text: 2,
                id: None,
                label: None,
                split: None,
            }
        );
    }

    #[test]
    fn the_only_column_needs_no_choosing() {
        for header in [true, false] {
            assert_eq!(choose(&["x"], options(None, None, header)).unwrap().text, 0);
        }
    }

    #[test]
    fn several_columns_need_choosing() {
        assert_eq!(
            problem(&["label", "text"], options(None, None, true)),
            (
                "docs.tsv has 2 columns; choose the text with --column: `label`, `text`"
                    .to_string(),
                true
            )
        );
        assert_eq!(
            problem(&["1", "words"], options(None, None, false)),
            (
                "docs.tsv has 2 columns; choose the text with --column, a number from 1 to 2"
                    .to_string(),
                true
            )
        );
    }

    #[test]
    fn a_missing_column_lists_those_there_are() {
        assert_eq!(
            problem(&["label", "text"], options(Some("body"), None, true)),
            (
                "docs.tsv has no column `body`; its columns are `label`, `text`".to_string(),
                true
            )
        );
        assert_eq!(
            problem(&["label", "text"], options(Some("text"), Some("key"), true)),
            (
                "docs.tsv has no column `key`; its columns are `label`, `text`".to_string(),
                true
            )
        );
        assert_eq!(
            problem(&["1", "words"], options(Some("3"), None, false)),
            (
                "docs.tsv has no column 3; its first row has 2 columns".to_string(),
                true
            )
        );
    }

    #[test]
    fn only_the_column_asked_for_must_be_unique() {
        let header = ["a", "text", "a", "a"];
        assert_eq!(
            choose(&header, options(Some("text"), None, true))
                .unwrap()
                .text,
            1
        );
        assert_eq!(
            problem(&header, options(Some("a"), None, true)),
            (
                "docs.tsv has 3 columns named `a`; rename all but one".to_string(),
                false
            )
        );
    }

    #[test]
    fn without_a_header_only_numbers_from_1_choose() {
        for number in ["text", "0", "-1", "1.5", ""] {
            assert_eq!(
                problem(&["a", "b"], options(Some(number), None, false)),
                (
                    format!(
                        "with --no-header, --column takes the column's number, counted from 1, not `{number}`"
                    ),
                    true
                )
            );
        }
        assert_eq!(
            problem(&["a", "b"], options(Some("1"), Some("b"), false)).0,
            "with --no-header, --id-column takes the column's number, counted from 1, not `b`"
        );
    }

    #[test]
    fn a_document_in_place_of_a_header_is_listed_in_short() {
        let long = format!("line\none {}", "é".repeat(100));
        let fields: Vec<&str> = std::iter::repeat_n(long.as_str(), 22).collect();
        let (message, _) = problem(&fields, options(Some("text"), None, true));
        let listed = format!("`line one {}...`, ", "é".repeat(31));
        assert_eq!(
            message,
            format!(
                "docs.tsv has no column `text`; its columns are {}and 2 more",
                listed.repeat(20)
            )
        );
    }
}
