//! Text inside HTML and SVG.

/// A text that cannot be taken for markup, in an element or in a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Not allowed in XML, and nothing to see.
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A text in at most `n_lines` lines of at most `width` characters, broken between words
/// where it can be. What does not fit is cut off, with an ellipsis.
pub fn wrap(text: &str, width: usize, n_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let length = |line: &str| line.chars().count();
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("one line at least");
        if !last.is_empty() && length(last) + 1 + length(word) <= width {
            last.push(' ');
            last.push_str(word);
            continue;
        }
        // On a line of its own, in pieces if need be.
        let characters: Vec<char> = word.chars().collect();
        for piece in characters.chunks(width) {
            let piece: String = piece.iter().collect();
            match lines.last_mut() {
                Some(last) if last.is_empty() => *last = piece,
                _ => lines.push(piece),
            }
        }
    }
    if lines.len() > n_lines {
        lines.truncate(n_lines);
        let last = lines.last_mut().expect("one line at least");
        while length(last) >= width {
            last.pop();
        }
        last.push('…');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_harmless() {
        assert_eq!(
            escape("<b a=\"1\" c='2'>&\u{1}</b>"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp; &lt;/b&gt;"
        );
    }

    #[test]
    fn long_texts_are_wrapped_between_words_and_cut_off_at_last() {
        for (text, lines) in [
            ("", &[""][..]),
            ("résumé", &["résumé"]),
            ("one two three", &["one two", "three"]),
            ("unbreakable", &["unbreaka", "ble"]),
            ("one two three four five", &["one two", "three…"]),
            ("one unbreakable word", &["one", "unbreak…"]),
        ] {
            assert_eq!(wrap(text, 8, 2), lines, "{text}");
        }
    }
}
