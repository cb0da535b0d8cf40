//! Numbers on the command line.

use std::fmt::Display;
use std::str::FromStr;

/// Reads a count of things of which there must be one: a number whose type has no zero.
pub(super) fn count<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    match text.parse::<u64>() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Err(_) => Err("it must be a whole number, at least 1".to_owned()),
        Ok(_) => text.parse().map_err(|error: T::Err| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU32, NonZeroUsize};

    use super::*;

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
