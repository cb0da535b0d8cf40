//! Numbers as tables and pages write them.

use simutant_analysis::{Interval, PairTest, SameSize, Summary, count, percent};

/// What stands where a value is not defined.
pub(crate) const NONE: &str = "—";

/// Writes a p-value as the thesis does.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

/// Writes a p-value in a sentence, with its name and sign: `Holm p < 0.001`, `p 0.040`.
pub(crate) fn named_p(name: &str, p: f64) -> String {
    format!("{name} {}", p_value(p))
}

/// Writes a large count with the noun that it counts: `2 500 test cases`, `1 test case`.
pub(crate) fn many(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Writes the ends of an interval with two decimals.
pub(crate) fn interval(interval: Interval) -> String {
    format!("{:.2} to {:.2}", interval.lower, interval.upper)
}

/// Writes `1 - alpha` as a percentage, without needless digits.
pub(crate) fn level(alpha: f64) -> String {
    // Rounded first: 1 - 0.05 is not 0.95.
    format!("{} %", (100_000.0 * (1.0 - alpha)).round() / 1000.0)
}

/// Writes names as a list in a sentence; those that are too many are counted.
pub(crate) fn list(names: &[&str]) -> String {
    const NAMES_MAX: usize = 6;
    match names {
        [] => "none".into(),
        [one] => (*one).into(),
        [rest @ .., last] if names.len() <= NAMES_MAX => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", names[..NAMES_MAX - 1].join(", "), names.len() - NAMES_MAX + 1),
    }
}

/// Says whether the claim of a pair holds.
pub(crate) fn verdict(pair: &PairTest) -> &'static str {
    match (pair.significant, pair.same) {
        (true, _) => "yes",
        (_, true) => "same",
        _ => "no",
    }
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

/// Writes a correlation.
pub(crate) fn correlation(tau: f64) -> String {
    let text = format!("{tau:.2}");
    if text == "-0.00" { "0.00".into() } else { text.replace('-', "−") }
}

/// Writes a difference of shares in percentage points, with its sign.
pub(crate) fn points(difference: f64) -> String {
    let text = format!("{:+.1}", 100.0 * difference);
    if text == "-0.0" { "+0.0".into() } else { text.replace('-', "−") }
}

/// Writes an interval of correlations.
pub(crate) fn correlations(interval: Interval) -> String {
    format!("{} to {}", correlation(interval.lower), correlation(interval.upper))
}

/// Writes an interval of differences of shares, as [`points`].
pub(crate) fn points_interval(interval: Interval) -> String {
    format!("{} to {}", points(interval.lower), points(interval.upper))
}

/// Writes an interval of shares.
pub(crate) fn percents(interval: Interval) -> String {
    format!("{} to {}", percent(interval.lower), percent(interval.upper))
}

/// Writes the first letter as a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writes how a criterion's suites stand beside random ones of their size: the score of these, the gain, its interval,
/// and its p-value.
pub(crate) fn same_size_cells(same_size: Option<&SameSize>) -> [String; 4] {
    [
        or_none(same_size, |same_size| percent(same_size.random_mean)),
        or_none(same_size, |same_size| points(same_size.gain.mean)),
        or_none(same_size, |same_size| points_interval(same_size.gain_interval)),
        or_none(same_size.and_then(|same_size| same_size.gain_p), p_value),
    ]
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
    fn parts_of_sentences() {
        assert_eq!(named_p("Holm p", 0.00001), "Holm p < 0.001");
        assert_eq!(interval(Interval { lower: 0.5, upper: 0.614 }), "0.50 to 0.61");
        assert_eq!((level(0.05), level(0.001)), ("95 %".into(), "99.9 %".into()));
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!((list(&[]), list(&names[..1]), list(&names[..3])), ("none".into(), "a".into(), "a, b and c".into()));
        assert_eq!(
            (list(&names[..6]), list(&names)),
            ("a, b, c, d, e and f".into(), "a, b, c, d, e and 2 more".into())
        );
    }

    #[test]
    fn intervals_have_the_form_of_their_ends() {
        let ends = |lower, upper| Interval { lower, upper };
        assert_eq!(percents(ends(0.5, 0.614)), "50.0 % to 61.4 %");
        assert_eq!(points_interval(ends(-0.01, 0.02)), "−1.0 to +2.0");
        assert_eq!(correlations(ends(-0.25, 1.0)), "−0.25 to 1.00");
        assert_eq!((capitalised("thesis"), capitalised("")), ("Thesis".to_owned(), String::new()));
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(points(0.0123), "+1.2");
        assert_eq!(points(-0.25), "−25.0");
        assert_eq!(points(-0.0001), "+0.0");
        assert_eq!((correlation(-0.001), correlation(-0.5)), ("0.00".into(), "−0.50".into()));
    }
}
