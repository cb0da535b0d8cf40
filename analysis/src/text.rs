//! Counts and times as text.

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

/// Writes a time in seconds as people say it, with two or three digits: `0.31 s`, `9.3 s`, `52 s`, `4.5 min`, `1.2 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        below if below < 0.995 => format!("{below:.2} s"),
        below if below < 9.95 => format!("{below:.1} s"),
        below if below < 99.5 => format!("{below:.0} s"),
        below if below < 5970.0 => format!("{:.1} min", below / 60.0),
        hours => format!("{:.1} h", hours / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!((plural(1, "suite"), plural(0, "suite")), ("1 suite".into(), "0 suites".into()));
    }

    #[test]
    fn times_have_two_or_three_digits() {
        let told = [0.312, 0.999, 9.31, 9.99, 99.4, 99.6, 5969.0, 5971.0, 100_000.0].map(duration);
        let expect = ["0.31 s", "1.0 s", "9.3 s", "10 s", "99 s", "1.7 min", "99.5 min", "1.7 h", "27.8 h"];
        assert_eq!(told, expect);
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(365_000), "365\u{202f}000");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
