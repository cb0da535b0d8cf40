//! What an implementation must have: commands, placeholders that are known, the roles of a testbed.

use std::path::Path;

use crate::side::{FURTHER_PORTS, Ready, Side};
use crate::testbed::{Placeholders, Role, Testbed};

use super::template::{self, TemplateError};
use super::{Implementation, ImplementationError};

/// Placeholders of the build command.
const BUILD_PLACEHOLDERS: [&str; 2] = ["here", "build"];

/// Placeholders of every side's command, whatever its role.
const SIDE_PLACEHOLDERS: [&str; 3] = ["here", "build", "work"];

impl Implementation {
    /// Checks that the oracle has the rules that are waived.
    pub(super) fn validate_rules(&self, path: &Path) -> Result<(), ImplementationError> {
        let rules = self.testbed().map(|testbed| testbed.rules()).unwrap_or_default();
        if let Some(rule) = self.waive.keys().find(|rule| !rules.contains(&rule.as_str())) {
            let known = rules.into_iter().map(str::to_owned).collect();
            return Err(ImplementationError::NoRule { path: path.into(), rule: rule.clone(), known });
        }
        Ok(())
    }

    pub(super) fn validate(&self, path: &Path) -> Result<(), ImplementationError> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-~".contains(character);
        if self.name.is_empty() || self.name.starts_with('.') || !self.name.chars().all(is_plain) {
            return Err(ImplementationError::Name { path: path.into(), name: self.name.clone() });
        }
        if let Some(build) = &self.build {
            validate_command(build, &BUILD_PLACEHOLDERS, path, "`build`")?;
        }
        if let Some(folder) = &self.build_in {
            let whole = self.folder.join(folder);
            let reason = match &self.build {
                None => "there is no `build` to run in it".to_owned(),
                Some(_) if !whole.is_dir() => format!("there is no folder {}", whole.display()),
                Some(_) => String::new(),
            };
            if !reason.is_empty() {
                return Err(ImplementationError::BuildFolder { path: path.into(), reason });
            }
        }
        if let Some(mutants) = &self.mutants {
            mutants.validate(&self.folder, path)?;
        }
        self.validate_rules(path)?;
        if let Some(driver) = &self.driver {
            return match self.sides.is_empty() && self.fixture.is_none() {
                true => driver.validate(path),
                false => Err(ImplementationError::DriverAndSides { path: path.into() }),
            };
        }
        let Some(testbed) = self.testbed() else {
            let (path, system) = (path.into(), self.system.clone());
            let needed: Vec<_> = self.testbeds.of(&system).map(roles_of).collect();
            if needed.is_empty() {
                let known = self.testbeds.systems().map(String::from).collect();
                return Err(ImplementationError::NoTestbed { path, system, known });
            }
            let found = self.sides.iter().map(|side| side.name.clone()).collect();
            return Err(ImplementationError::Sides { path, system, found, needed });
        };
        match (&self.fixture, testbed.needs_fixture()) {
            (Some(fixture), true) => fixture.validate(path)?,
            (None, false) => {}
            (found, _) => {
                let (path, system, has_one) = (path.into(), self.system.clone(), found.is_some());
                return Err(ImplementationError::Fixture { path, system, has_one });
            }
        }
        for side in &self.sides {
            let role = testbed.roles().iter().find(|role| role.name == side.name).expect("the sides are the roles");
            side.validate(role, path)?;
        }
        Ok(())
    }
}

/// Returns the names of a testbed's roles.
pub(super) fn roles_of(testbed: &dyn Testbed) -> Vec<String> {
    testbed.roles().iter().map(|role| role.name.to_owned()).collect()
}

impl Side {
    pub(crate) fn validate(&self, role: &Role, path: &Path) -> Result<(), ImplementationError> {
        let known: Vec<&str> =
            SIDE_PLACEHOLDERS.iter().chain(role.placeholders).chain(&FURTHER_PORTS).copied().collect();
        validate_command(&self.command, &known, path, &format!("`command` of {}", self.title()))?;
        for file in &self.files {
            if file.name.is_empty() || file.name.contains('/') {
                let (side, name) = (self.title(), file.name.clone());
                return Err(ImplementationError::FileName { path: path.into(), side, name });
            }
            let field = format!("`file` of {}", self.title());
            validate_texts([&file.name, &file.text], &known, path, &field)?;
        }
        if self.ready == Ready::Port && !role.listens {
            return Err(ImplementationError::NoPort { path: path.into(), side: self.title() });
        }
        Ok(())
    }
}

fn validate_command(
    command: &[String],
    known: &[&'static str],
    path: &Path,
    field: &str,
) -> Result<(), ImplementationError> {
    if command.first().is_none_or(String::is_empty) {
        return Err(ImplementationError::EmptyCommand { path: path.into(), field: field.into() });
    }
    validate_texts(command, known, path, field)
}

/// Returns placeholders as a message names them, those of further ports in few words.
fn shown_placeholders(known: &[&'static str]) -> Vec<String> {
    let is_further = |name: &str| FURTHER_PORTS.contains(&name);
    let mut shown: Vec<String> =
        known.iter().filter(|name| !is_further(name)).map(|name| format!("{{{name}}}")).collect();
    if let (true, [first, .., last]) = (known.iter().any(|name| is_further(name)), FURTHER_PORTS) {
        shown.push(format!("{{{first}}} to {{{last}}}"));
    }
    shown
}

pub(crate) fn validate_texts<'a>(
    texts: impl IntoIterator<Item = &'a String>,
    known: &[&'static str],
    path: &Path,
    field: &str,
) -> Result<(), ImplementationError> {
    let values: Placeholders = known.iter().map(|name| (*name, "".into())).collect();
    for text in texts {
        template::fill(text, &values).map_err(|error| match error {
            TemplateError::LoneBrace => {
                ImplementationError::LoneBrace { path: path.into(), field: field.into(), text: text.clone() }
            }
            TemplateError::Unknown(placeholder) => ImplementationError::UnknownPlaceholder {
                path: path.into(),
                field: field.into(),
                placeholder,
                known: shown_placeholders(known),
            },
        })?;
    }
    Ok(())
}
