//! The order in which people list names: `class 2` before `class 10`.

use std::cmp::Ordering;

/// Compares runs of digits by their value and everything else by its characters.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let (run_a, run_b) = (first_run(&mut rest_a), first_run(&mut rest_b));
        let order = match (run_a, run_b) {
            // Of numbers, only leading zeros can differ: the names themselves decide.
            ("", "") => return a.cmp(b),
            (x, y) if starts_with_digit(x) && starts_with_digit(y) => {
                let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
                x.len().cmp(&y.len()).then_with(|| x.cmp(y))
            }
            (x, y) => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the digits, or what is no digit, from the start of a text.
fn first_run<'t>(text: &mut &'t str) -> &'t str {
    let is_number = starts_with_digit(text);
    let end = text
        .find(|character: char| character.is_ascii_digit() != is_number)
        .unwrap_or(text.len());
    let (run, rest) = text.split_at(end);
    *text = rest;
    run
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|character: char| character.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_by_value() {
        let mut names = [
            "class 10",
            "b",
            "class 2",
            "class 02",
            "10",
            "9",
            "class",
            "a10b2",
            "a10b10",
            "",
            "99999999999999999999999",
            "100000000000000000000000",
        ];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(
            names,
            [
                "",
                "9",
                "10",
                "99999999999999999999999",
                "100000000000000000000000",
                "a10b2",
                "a10b10",
                "b",
                "class",
                "class 02",
                "class 2",
                "class 10",
            ]
        );
    }
}
