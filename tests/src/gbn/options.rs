//! The command lines of the two programs: options with values, all but `--fault` required.

use super::behaviour::{Behaviour, Correct};
use super::faults;

/// What a command line says.
#[derive(Debug)]
pub struct Options {
    values: Vec<(String, String)>,
}

/// Why a command line cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// An option that the program does not have, or that has no value.
    Unknown(String),
    /// A required option is not there.
    Missing(&'static str),
    /// A value is not of its option's kind.
    Invalid(&'static str, String),
    /// There is no fault of that name.
    UnknownFault(String),
}

impl std::error::Error for OptionsError {}

impl std::fmt::Display for OptionsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(option) => write!(formatter, "`{option}` is no option of this program, or lacks its value"),
            Self::Missing(option) => write!(formatter, "option `{option}` is missing"),
            Self::Invalid(option, value) => write!(formatter, "`{value}` is no value for option `{option}`"),
            Self::UnknownFault(name) => {
                let names: Vec<&str> = faults::ALL.iter().map(|(name, _)| *name).collect();
                write!(formatter, "there is no fault `{name}`; there are: {}", names.join(", "))
            }
        }
    }
}

impl Options {
    /// Returns the options in `arguments`, of which the program knows those in `known` and `--fault`.
    ///
    /// # Errors
    /// [`OptionsError::Unknown`] for any other option, and for one without a value.
    pub fn parse(mut arguments: impl Iterator<Item = String>, known: &[&str]) -> Result<Self, OptionsError> {
        let mut values = Vec::new();
        while let Some(option) = arguments.next() {
            match arguments.next() {
                Some(value) if option == "--fault" || known.contains(&option.as_str()) => values.push((option, value)),
                _ => return Err(OptionsError::Unknown(option)),
            }
        }
        Ok(Self { values })
    }

    /// Returns the value of a required option.
    ///
    /// # Errors
    /// [`OptionsError`] if it is missing, or not what a `T` is parsed from.
    pub fn get<T: std::str::FromStr>(&self, option: &'static str) -> Result<T, OptionsError> {
        let value = self.find(option).ok_or(OptionsError::Missing(option))?;
        value.parse().map_err(|_| OptionsError::Invalid(option, value.into()))
    }

    /// Returns the behaviour that `--fault` names, or the correct one.
    ///
    /// # Errors
    /// [`OptionsError::UnknownFault`] if there is no such fault.
    pub fn behaviour(&self) -> Result<&'static dyn Behaviour, OptionsError> {
        match self.find("--fault") {
            None => Ok(&Correct),
            Some(name) => faults::find(name).ok_or_else(|| OptionsError::UnknownFault(name.into())),
        }
    }

    fn find(&self, option: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, OptionsError> {
        Options::parse(line.split_ascii_whitespace().map(String::from), &["--port"])
    }

    #[test]
    fn options_have_values() {
        let options = parse("--port 7 --fault ends-unacknowledged").expect("a good line");
        assert_eq!(options.get::<u16>("--port"), Ok(7));
        options.behaviour().expect("a known fault");
    }

    #[test]
    fn a_bad_line_is_explained() {
        assert_eq!(parse("--prt 7").expect_err("unknown"), OptionsError::Unknown("--prt".into()));
        assert_eq!(parse("--port").expect_err("no value"), OptionsError::Unknown("--port".into()));
        let options = parse("--port x --fault y").expect("a good line");
        assert_eq!(options.get::<u16>("--port"), Err(OptionsError::Invalid("--port", "x".into())));
        assert_eq!(options.get::<u16>("--peer"), Err(OptionsError::Missing("--peer")));
        let message = options.behaviour().expect_err("unknown").to_string();
        assert!(message.starts_with("there is no fault `y`; there are: "), "{message}");
    }
}
