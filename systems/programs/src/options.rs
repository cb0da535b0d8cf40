//! The command lines of the programs: options with values. `--fault` may be missing, and so may what a program says.

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
    /// There is no fault of that name; those that there are.
    UnknownFault(String, Vec<&'static str>),
}

impl std::error::Error for OptionsError {}

impl std::fmt::Display for OptionsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(option) => write!(formatter, "`{option}` is no option of this program, or lacks its value"),
            Self::Missing(option) => write!(formatter, "option `{option}` is missing"),
            Self::Invalid(option, value) => write!(formatter, "`{value}` is no value for option `{option}`"),
            Self::UnknownFault(name, known) => {
                write!(formatter, "there is no fault `{name}`; there are: {}", known.join(", "))
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
        self.get_optional(option)?.ok_or(OptionsError::Missing(option))
    }

    /// Returns the value of an option, if it is there.
    ///
    /// # Errors
    /// [`OptionsError::Invalid`] if it is not what a `T` is parsed from.
    pub fn get_optional<T: std::str::FromStr>(&self, option: &'static str) -> Result<Option<T>, OptionsError> {
        let parse = |value: &str| value.parse().map_err(|_| OptionsError::Invalid(option, value.into()));
        self.find(option).map(parse).transpose()
    }

    /// Returns what `--fault` names of `faults`, or `correct` if it is not there.
    ///
    /// # Errors
    /// [`OptionsError::UnknownFault`] if there is no such fault.
    pub fn behaviour<B: ?Sized>(
        &self,
        faults: &[(&'static str, &'static B)],
        correct: &'static B,
    ) -> Result<&'static B, OptionsError> {
        let Some(name) = self.find("--fault") else { return Ok(correct) };
        let known = || faults.iter().map(|(known, _)| *known).collect();
        let found = faults.iter().find(|(known, _)| *known == name).map(|(_, fault)| *fault);
        found.ok_or_else(|| OptionsError::UnknownFault(name.into(), known()))
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
        let options = parse("--port 7 --fault slow").expect("a good line");
        assert_eq!(options.get::<u16>("--port"), Ok(7));
        assert_eq!(options.get_optional::<u16>("--port"), Ok(Some(7)));
        assert_eq!(options.get_optional::<u16>("--peer"), Ok(None));
        assert_eq!(options.behaviour(&[("slow", "is slow"), ("fast", "is fast")], "correct"), Ok("is slow"));
        let options = parse("--port 7").expect("a good line");
        assert_eq!(options.behaviour(&[("slow", "is slow")], "correct"), Ok("correct"));
    }

    #[test]
    fn a_bad_line_is_explained() {
        assert_eq!(parse("--prt 7").expect_err("unknown"), OptionsError::Unknown("--prt".into()));
        assert_eq!(parse("--port").expect_err("no value"), OptionsError::Unknown("--port".into()));
        let options = parse("--port x --fault y").expect("a good line");
        assert_eq!(options.get::<u16>("--port"), Err(OptionsError::Invalid("--port", "x".into())));
        assert_eq!(options.get_optional::<u16>("--port"), Err(OptionsError::Invalid("--port", "x".into())));
        assert_eq!(options.get::<u16>("--peer"), Err(OptionsError::Missing("--peer")));
        let message = options.behaviour(&[("slow", ""), ("fast", "")], "").expect_err("unknown").to_string();
        assert_eq!(message, "there is no fault `y`; there are: slow, fast");
    }
}
