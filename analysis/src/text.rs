//! Counts as text.

/// Writes a count with the noun that it counts.
pub fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Writes a count with its digits in groups of three.
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            // A narrow space that does not break the line.
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!((plural(1, "suite"), plural(0, "suite")), ("1 suite".into(), "0 suites".into()));
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(365_000), "365\u{202f}000");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
