//! Numbers as the tables and the report write them.

use crate::score::percent;
use crate::statistics::Summary;

/// What stands where a value is not defined.
pub(crate) const NONE: &str = "—";

/// Writes a p-value as the thesis does.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

/// Writes an optional value, or [`NONE`].
pub(crate) fn or_none<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.into(), write)
}

/// Writes mean and standard deviation of shares.
pub(crate) fn share_summary(summary: &Summary) -> String {
    match summary.sd {
        Some(sd) => format!("{} ± {:.1}", percent(summary.mean), 100.0 * sd),
        None => percent(summary.mean),
    }
}

/// Writes a difference of shares in percentage points, with its sign.
pub(crate) fn points(difference: f64) -> String {
    let text = format!("{:+.1}", 100.0 * difference);
    if text == "-0.0" { "+0.0".into() } else { text.replace('-', "−") }
}

/// Writes a count with its digits in groups of three.
pub(crate) fn count(count: u64) -> String {
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
    fn p_values_are_written_as_in_the_thesis() {
        assert_eq!(p_value(0.0), "< 0.001");
        assert_eq!(p_value(0.004), "0.004");
        assert_eq!(p_value(0.9996), "1.000");
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(points(0.0123), "+1.2");
        assert_eq!(points(-0.25), "−25.0");
        assert_eq!(points(-0.0001), "+0.0");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(365_000), "365\u{202f}000");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
