//! Placeholders in commands: `{name}` stands for a value, `{{` and `}}` for the braces themselves.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::testbed::Placeholders;

/// How braces are written that are none of a placeholder.
const DOUBLED: &str = "write {{ and }} for braces";

/// Why a text cannot be filled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TemplateError {
    /// A brace without its partner.
    LoneBrace,
    /// A name that has no value.
    Unknown(String),
}

/// Returns `text` with every placeholder replaced by its value.
pub(crate) fn fill<Name: Ord + Borrow<str>>(
    text: &str,
    values: &BTreeMap<Name, OsString>,
) -> Result<OsString, TemplateError> {
    let mut filled = OsString::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        filled.push(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after_both) = after.strip_prefix(brace) {
            filled.push(brace);
            rest = after_both;
        } else if brace == "{" {
            let (name, after_name) = after.split_once('}').ok_or(TemplateError::LoneBrace)?;
            filled.push(values.get(name).ok_or_else(|| TemplateError::Unknown(name.into()))?);
            rest = after_name;
        } else {
            return Err(TemplateError::LoneBrace);
        }
    }
    filled.push(rest);
    Ok(filled)
}

/// Returns the command with its placeholders replaced.
///
/// # Panics
/// If `values` lacks a placeholder of the command: validation let only known ones pass.
pub(crate) fn fill_command(command: &[String], values: &Placeholders) -> Vec<OsString> {
    command.iter().map(|text| fill_text(text, values)).collect()
}

/// Returns the command of a driver's plan with its placeholders replaced.
///
/// # Errors
/// Which placeholder or brace is wrong, in words.
pub(crate) fn fill_planned(command: &[String], values: &BTreeMap<String, OsString>) -> Result<Vec<OsString>, String> {
    let filled = |text: &String| {
        fill(text, values).map_err(|error| match error {
            TemplateError::LoneBrace => format!("a brace in {text:?} stands alone; {DOUBLED}"),
            TemplateError::Unknown(placeholder) => {
                let known: Vec<String> = values.keys().map(|name| format!("{{{name}}}")).collect();
                format!("{{{placeholder}}} is not known; known: {}; {DOUBLED}", known.join(", "))
            }
        })
    };
    command.iter().map(filled).collect()
}

/// Returns the text with its placeholders replaced.
///
/// # Panics
/// If `values` lacks a placeholder of the text: validation let only known ones pass.
pub(crate) fn fill_text(text: &str, values: &Placeholders) -> OsString {
    fill(text, values).expect("validation let only known placeholders pass")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, TemplateError>) {
        let values = Placeholders::from([("port", "99".into()), ("braces", "{port}".into())]);
        assert_eq!(fill(text, &values), expect.map(OsString::from), "{text}");
    }

    #[test]
    fn placeholders_are_replaced_once() {
        check("", Ok(""));
        check("plain", Ok("plain"));
        check("{port}", Ok("99"));
        check("a:{port}/{port}.", Ok("a:99/99."));
        check("{braces}", Ok("{port}"));
    }

    #[test]
    fn doubled_braces_stand_for_themselves() {
        check("{{port}}", Ok("{port}"));
        check("{{{port}}}", Ok("{99}"));
        check("é{{", Ok("é{"));
    }

    #[test]
    fn what_is_wrong_in_a_planned_command_comes_with_the_cure() {
        let values = BTreeMap::from([("peers".to_owned(), OsString::new()), ("port".to_owned(), OsString::new())]);
        let error = |text: &str| fill_planned(&[text.to_owned()], &values).expect_err("it is wrong");
        assert_eq!(error("() => {}"), "{} is not known; known: {peers}, {port}; write {{ and }} for braces");
        assert_eq!(error("() => {"), r#"a brace in "() => {" stands alone; write {{ and }} for braces"#);
    }

    #[test]
    fn what_has_no_value_is_an_error() {
        check("{prt}", Err(TemplateError::Unknown("prt".into())));
        check("{}", Err(TemplateError::Unknown(String::new())));
        check("{port", Err(TemplateError::LoneBrace));
        check("port}", Err(TemplateError::LoneBrace));
    }
}
