//! Text from a trace, made fit to be shown.

/// Returns `text` on one line: what cannot be seen stands as its picture, a line end as `↵`.
///
/// XML has no way to write most control characters, so every text that goes into a picture passes through here.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(|letter| if letter == '\n' { '↵' } else { visible(letter) }).collect()
}

/// Returns `text` with its line ends, and with pictures of what else cannot be seen.
pub(crate) fn lines(text: &str) -> String {
    text.chars().map(|letter| if letter == '\n' { letter } else { visible(letter) }).collect()
}

fn visible(letter: char) -> char {
    match letter {
        '\0'..='\x1f' => {
            char::from_u32(0x2400 + u32::from(letter)).expect("the block of control pictures is of characters")
        }
        '\x7f' => '\u{2421}',
        // The C1 controls, what turns the direction of the text around it, and what is no character at all.
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ => letter,
    }
}

/// Returns the first letters of `text` that fit into `width`, with `…` in place of the others.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_has_a_picture() {
        assert_eq!(line("a\nb\0\x7f\u{202e}"), "a↵b␀␡\u{fffd}");
        assert_eq!(lines("a\nb\r"), "a\nb␍");
    }

    #[test]
    fn long_text_is_cut_between_letters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
        assert_eq!(cut("ab", 0), "…");
    }
}
