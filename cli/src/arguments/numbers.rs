//! Numbers on the command line.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Reads a count of things of which there must be one: a number whose type has no zero.
pub(super) fn count<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    match text.parse::<u64>() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Err(_) => Err("it must be a whole number, at least 1".to_owned()),
        Ok(_) => text.parse().map_err(|error: T::Err| error.to_string()),
    }
}

/// Reads a duration with its unit: milliseconds, seconds, minutes or hours.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let milliseconds = with_unit(text, &[("ms", 1), ("s", 1000), ("m", 60_000), ("min", 60_000), ("h", 3_600_000)]);
    milliseconds
        .map(Duration::from_millis)
        .ok_or_else(|| "give a whole number with a unit, for example 30s or 500ms".to_owned())
}

/// Reads a whole number with one of some units.
pub(super) fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let &(_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU32, NonZeroUsize};

    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2 min"), duration("2m"));
        assert_eq!(duration("2m"), Ok(Duration::from_mins(2)));
        for text in ["", "5", "s", "-5s", "5 weeks", "1.5s", "99999999999999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_count_is_one_at_least() {
        assert_eq!(count::<NonZeroUsize>("1"), Ok(NonZeroUsize::MIN));
        assert_eq!(count::<NonZeroUsize>("0"), Err("it must be at least 1".to_owned()));
        for text in ["", "-1", "ten", "1.5"] {
            assert_eq!(count::<NonZeroUsize>(text), Err("it must be a whole number, at least 1".to_owned()), "{text}");
        }
        assert!(count::<NonZeroU32>("4294967296").is_err());
    }
}
