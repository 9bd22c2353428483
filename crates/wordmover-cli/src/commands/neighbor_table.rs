//! Neighbours for people to read: a line each, as wide as the terminal.

use std::borrow::Cow;
use std::io;

use terminal_size::{Width, terminal_size_of};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Texts are never cut shorter than this, however narrow the terminal.
const LEAST_TEXT: usize = 20;

/// A document that was found.
pub struct Row<'t> {
    /// Its distance or score.
    pub value: f64,
    pub id: Cow<'t, str>,
    pub text: Cow<'t, str>,
}

/// How documents that were found are shown.
pub struct NeighborTable {
    /// What the values are; of eight letters at most.
    heading: &'static str,
    /// Columns of the terminal; `None`: no limit.
    width: Option<usize>,
}

impl NeighborTable {
    /// As wide as the terminal; if output goes elsewhere, nothing is cut.
    pub fn for_terminal(heading: &'static str) -> Self {
        let width = terminal_size_of(io::stdout()).map(|(Width(width), _)| width.into());
        NeighborTable { heading, width }
    }

    /// The neighbours of one of several queries, which have numbers from 0.
    pub fn titled(&self, number: usize, query: &str, neighbors: &[Row]) -> String {
        let gap = if number > 0 { "\n" } else { "" };
        let title = format!("query {number}: ");
        let query = self.shortened(query, title.len());
        let lines = match neighbors {
            [] => "nothing found\n".to_owned(),
            _ => self.lines(neighbors),
        };
        let head = title + &query;
        format!("{gap}{}\n{lines}", head.trim_end())
    }

    /// A line for each neighbour, under a heading.
    pub fn lines(&self, neighbors: &[Row]) -> String {
        let ids: Vec<String> = neighbors.iter().map(|row| one_line(&row.id)).collect();
        let longest = ids.iter().map(|id| id.width()).max().unwrap_or(0);
        let id_width = longest.max("document".len());
        let before = "rank  distance    ".len() + id_width;
        let heading = self.heading;
        let mut lines = format!("rank  {heading:>8}  {:id_width$}  text\n", "document");
        for (rank, (neighbor, id)) in neighbors.iter().zip(&ids).enumerate() {
            let padding = " ".repeat(id_width - id.width());
            let text = self.shortened(&neighbor.text, before);
            let (rank, value) = (rank + 1, neighbor.value);
            let line = format!("{rank:4}  {value:8.4}  {id}{padding}  {text}");
            lines += line.trim_end();
            lines.push('\n');
        }
        lines
    }

    /// The text on one line, cut to what the terminal has room for after `before`
    /// columns.
    fn shortened(&self, text: &str, before: usize) -> String {
        let text = one_line(text);
        match self.width {
            Some(width) => cut(&text, width.saturating_sub(before).max(LEAST_TEXT)),
            None => text,
        }
    }
}

/// White space becomes single blanks, and control characters too: a document must not
/// steer the terminal.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// At most `width` columns of the text; what is missing is told by an ellipsis. What a
/// reader takes for one character stays whole or goes.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |character: &&str| {
        used += character.width();
        used < width
    };
    let kept: String = text.graphemes(true).take_while(fits).collect();
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_never_cut_in_two() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("two words", 5), "two…");
        // An accent that is a code point of its own, a family of three, wide letters.
        assert_eq!(cut("cafe\u{301} noir", 5), "cafe\u{301}…");
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        assert_eq!(cut(&format!("a{family}bcd"), 4), format!("a{family}…"));
        assert_eq!(cut(&format!("a{family}bcd"), 3), "a…");
        assert_eq!(cut("日本語の本", 6), "日本…");
        assert_eq!(cut("日本語の本", 1), "…");
    }

    #[test]
    fn a_cut_text_is_never_wider_than_asked() {
        let text =
            "Ein Bär 日本語 cafe\u{301} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} end of it";
        for width in 1..60 {
            assert!(cut(text, width).width() <= width, "{width}");
        }
    }

    #[test]
    fn a_document_is_one_harmless_line() {
        assert_eq!(one_line(" a\tb\r\n\nc\u{1b}[31m "), "a b c [31m");
    }

    #[test]
    fn lines_fit_the_terminal_and_ids_line_up() {
        let row = |id: &'static str, value: f64, text: &'static str| Row {
            value,
            id: Cow::Borrowed(id),
            text: Cow::Borrowed(text),
        };
        let table = NeighborTable {
            heading: "distance",
            width: Some(50),
        };
        let neighbors = [
            row(
                "a-long-key",
                0.5,
                "The president greets the press in Chicago",
            ),
            row("b", 12.25, "A band"),
        ];
        assert_eq!(
            table.titled(1, "q", &neighbors),
            "\nquery 1: q\n\
             rank  distance  document    text\n   \
             1    0.5000  a-long-key  The president greets…\n   \
             2   12.2500  b           A band\n"
        );
    }
}
