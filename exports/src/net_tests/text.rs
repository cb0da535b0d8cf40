//! Templates, and names that languages take.

use std::collections::BTreeSet;

use super::events::{Shape, Table, Type};
use crate::test_code::unique;

/// Fills a template: `@name@` is what the name stands for.
pub(super) fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut filled = String::new();
    for (number, part) in template.split('@').enumerate() {
        if number % 2 == 0 {
            filled.push_str(part);
        } else {
            let value = values.iter().find(|(name, _)| *name == part);
            filled.push_str(&value.unwrap_or_else(|| panic!("nothing stands for {part}")).1);
        }
    }
    filled
}

/// How a language writes names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Returns a name in the language's way.
    pub(super) write: fn(&str) -> String,
    /// What comes before a name that cannot be had.
    pub(super) prefix: &'static str,
    /// Names that cannot be had, with spaces between.
    pub(super) reserved: &'static [&'static str],
}

impl Style {
    /// Returns a name of the language for each name, no two of them the same.
    fn names<'a>(self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut taken = BTreeSet::new();
        let is_free = |name: &str| {
            let mut reserved = self.reserved.iter().flat_map(|names| names.split(' '));
            is_identifier(name) && reserved.all(|reserved| reserved != name)
        };
        let name = |name| {
            let plain = (self.write)(name);
            let plain = if is_free(&plain) { plain } else { (self.write)(&format!("{}_{name}", self.prefix)) };
            unique(plain, &mut taken)
        };
        names.map(name).collect()
    }
}

/// The events of a name, as a language has them.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) name: String,
    pub(super) fields: Vec<String>,
    pub(super) shape: &'a Shape,
}

impl<'a> Item<'a> {
    /// Returns the items for a table's shapes, in their order.
    pub(super) fn all(table: &'a Table, names: Style, fields: Style) -> Vec<Self> {
        let all = names.names(table.shapes.iter().map(|shape| shape.name.as_str()));
        let item = |(name, shape): (String, &'a Shape)| {
            let fields = fields.names(shape.fields.iter().map(|(field, _)| field.as_str()));
            Self { name, fields, shape }
        };
        all.into_iter().zip(&table.shapes).map(item).collect()
    }

    /// Returns the fields, each with its type.
    pub(super) fn types(&self) -> impl Iterator<Item = (&str, &'a Type)> {
        self.fields.iter().map(String::as_str).zip(self.shape.fields.iter().map(|(_, it)| it))
    }
}

/// Joins texts as a list.
pub(super) fn joined(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// Says whether it is an identifier in all languages.
pub(super) fn is_identifier(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_word) && name.starts_with(|c: char| !c.is_ascii_digit()) && name.contains(|c| c != '_')
}

fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last = ' ';
    for c in name.chars() {
        let is_word = c.is_ascii_alphanumeric();
        if !is_word || c.is_ascii_uppercase() && !last.is_ascii_uppercase() {
            words.push(String::new());
        }
        words.last_mut().expect("there is one").extend(is_word.then_some(c));
        last = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `a_name`
pub(super) fn snake(name: &str) -> String {
    words(name).join("_").to_ascii_lowercase()
}

/// `AName`
pub(super) fn camel(name: &str) -> String {
    words(name).iter().map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

/// `aName`
pub(super) fn lower_camel(name: &str) -> String {
    let name = camel(name);
    let first = name.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(name.len()).min(1);
    name[..first].to_ascii_lowercase() + &name[first..]
}

/// The name as it is, if it is an identifier.
pub(super) fn unchanged(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { snake(name) }
}

/// Returns text as a literal that Go and Python read.
pub(super) fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            ' '..='~' => literal.push(c),
            '\0'..='\u{ffff}' => literal.push_str(&format!("\\u{:04x}", c as u32)),
            _ => literal.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    literal + "\""
}

/// Returns text for a comment on one line.
pub(super) fn comment(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') { c } else { '?' }).collect()
}
