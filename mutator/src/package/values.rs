//! Constants with other values: the specification with another limit, for a study of what hangs on it.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::{Package, SpecificationFile};
use crate::error::MutatorError;
use crate::syntax::parts::{join, range_of};
use crate::syntax::source::{Source, module_path};

/// A constant of the specification, and the value that it is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherValue {
    /// The constant's name, or the end of its path: `LIMIT`, `sender::LIMIT`, `Window::LIMIT`.
    pub name: String,
    /// An expression, as it stands in the source.
    pub value: String,
}

impl Display for OtherValue {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.name, self.value)
    }
}

impl FromStr for OtherValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').ok_or("give NAME=VALUE")?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return Err("give NAME=VALUE".to_owned());
        }
        match syn::parse_str::<syn::Expr>(value) {
            Ok(_) => Ok(Self { name: name.to_owned(), value: value.to_owned() }),
            Err(error) => Err(format!("the value is not an expression: {error}")),
        }
    }
}

impl Package {
    /// Returns the package with other values of constants of its specification files. Only what is built of it has
    /// them: no file changes.
    ///
    /// # Errors
    /// [`MutatorError::UnknownConstant`] or [`MutatorError::AmbiguousConstant`]; if a file cannot be read or parsed.
    /// Whether a value has the constant's type is seen when it is compiled.
    pub fn with_values(mut self, values: &[OtherValue]) -> Result<Self, MutatorError> {
        for OtherValue { name, value } in values {
            let mut found = Vec::new();
            let mut known = Vec::new();
            for file in &self.files {
                let source = self.source(file)?;
                for constant in &source.constants {
                    let is_it = constant.path == *name || constant.path.ends_with(&format!("::{name}"));
                    if is_it {
                        found.push((file.clone(), constant.path.clone(), range_of(&constant.value)));
                    }
                    known.push(constant.path.clone());
                }
            }
            let (file, range) = match &found[..] {
                [] => return Err(MutatorError::UnknownConstant { name: name.clone(), known }),
                [(file, _, range)] => (file, range),
                _ => {
                    let paths = found.into_iter().map(|(_, path, _)| path).collect();
                    return Err(MutatorError::AmbiguousConstant { name: name.clone(), paths });
                }
            };
            let mut text = self.text(file)?;
            text.replace_range(range.clone(), value);
            self.texts.insert(self.label(file), text);
        }
        Ok(self)
    }

    /// Reads a specification file. The functions of another package than the system's own have the crate's name before
    /// their paths.
    pub(crate) fn source(&self, file: &SpecificationFile) -> Result<Source, MutatorError> {
        let member = &self.members[file.member];
        let text = self.text(file)?;
        let module = match &member.short_name {
            Some(_) => join(&member.library()?.name, &module_path(&file.path)),
            None => module_path(&file.path),
        };
        let source = Source::parse_module(&self.label(file), &module, &member.conditions, text)?;
        Ok(source.under(&file.module))
    }

    /// Returns whether constants have other values than in the files.
    pub(crate) fn has_other_values(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Returns the text of a specification file, with other values of constants if there are any.
    pub(crate) fn text(&self, file: &SpecificationFile) -> Result<String, MutatorError> {
        if let Some(text) = self.texts.get(&self.label(file)) {
            return Ok(text.clone());
        }
        let path = self.members[file.member].root().join(&file.path);
        std::fs::read_to_string(&path).map_err(|error| MutatorError::io("read", &path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<(&str, &str), &str>) {
        let found = text.parse::<OtherValue>();
        match (found, expect) {
            (Ok(found), Ok((name, value))) => {
                assert_eq!((found.name.as_str(), found.value.as_str()), (name, value));
                assert_eq!(found.to_string().parse(), Ok(found));
            }
            (Err(found), Err(expect)) => assert!(found.contains(expect), "{found}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn a_value_is_an_expression() {
        check("LIMIT=3", Ok(("LIMIT", "3")));
        check("sender::LIMIT = 2 * OTHER", Ok(("sender::LIMIT", "2 * OTHER")));
        check("LIMIT=Duration::from_millis(3)", Ok(("LIMIT", "Duration::from_millis(3)")));
        check("LIMIT", Err("give NAME=VALUE"));
        check("=3", Err("give NAME=VALUE"));
        check("LIMIT=", Err("not an expression"));
        check("LIMIT=3; const X: u8 = 1", Err("not an expression"));
    }
}
