//! A module more in a library's root file.

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::{AttrStyle, Item};

/// Why a library cannot have the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The library is without the standard library.
    NoStd,
    /// It has a module of this name.
    ModuleExists,
    /// It does not parse; the parser's message, with its place.
    Syntax(String),
}

/// Returns a library's text with `pub mod module;` after its last module, or else before its first item.
pub(super) fn with_module(text: &str, module: &str) -> Result<String, Obstacle> {
    let file: syn::File = syn::parse_str(text).map_err(|error| {
        let LineColumn { line, column } = error.span().start();
        Obstacle::Syntax(format!("line {line}, column {}: {error}", column + 1))
    })?;
    if file.attrs.iter().any(|attribute| attribute.path().is_ident("no_std")) {
        return Err(Obstacle::NoStd);
    }
    let modules = file.items.iter().filter_map(|item| match item {
        Item::Mod(item) => Some(item),
        _ => None,
    });
    let mut last = None;
    for item in modules {
        if item.ident == module {
            return Err(Obstacle::ModuleExists);
        }
        if item.content.is_none() {
            last = Some(item.span().byte_range().end);
        }
    }
    let line = format!("pub mod {module};\n");
    if let Some(last) = last {
        let at = text[last..].find('\n').map_or(text.len(), |newline| last + newline + 1);
        let newline = if text[..at].ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{}{newline}{line}{}", &text[..at], &text[at..]));
    }
    let at = end_of_head(text, &file);
    let (head, rest) = text.split_at(at);
    let before = if head.is_empty() || head.ends_with("\n\n") { "" } else { "\n" };
    let rest = rest.trim_start_matches('\n');
    let after = if rest.is_empty() { "" } else { "\n" };
    Ok(format!("{head}{before}{line}{after}{rest}"))
}

/// Returns the end of what is about the file: its documentation and attributes, or comments apart from the first item.
fn end_of_head(text: &str, file: &syn::File) -> usize {
    let is_inner = |attribute: &&syn::Attribute| matches!(attribute.style, AttrStyle::Inner(_));
    if let Some(last) = file.attrs.iter().rfind(is_inner) {
        let end = last.span().byte_range().end;
        return text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    }
    let comments: usize = text
        .split_inclusive('\n')
        .take_while(|line| line.starts_with("//") && !line.starts_with("///"))
        .map(str::len)
        .sum();
    if text[comments..].starts_with('\n') { comments } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, Obstacle>) {
        assert_eq!(with_module(text, "store"), expect.map(str::to_owned));
    }

    #[test]
    fn a_module_goes_after_the_other_modules() {
        check("mod a;\npub mod b; // yes\nuse a::A;\n", Ok("mod a;\npub mod b; // yes\npub mod store;\nuse a::A;\n"));
        check("mod a;", Ok("mod a;\npub mod store;\n"));
    }

    #[test]
    fn without_modules_it_goes_before_everything_but_what_is_about_the_file() {
        check("", Ok("pub mod store;\n"));
        check("pub fn a() {}\n", Ok("pub mod store;\n\npub fn a() {}\n"));
        check(
            "//! A.\n\n#![deny(warnings)]\nfn a() {}\n",
            Ok("//! A.\n\n#![deny(warnings)]\n\npub mod store;\n\nfn a() {}\n"),
        );
        check("//! A.\n\nfn a() {}\n", Ok("//! A.\n\npub mod store;\n\nfn a() {}\n"));
        check("// Licence.\n\nfn a() {}\n", Ok("// Licence.\n\npub mod store;\n\nfn a() {}\n"));
        check("// About a.\nfn a() {}\n", Ok("pub mod store;\n\n// About a.\nfn a() {}\n"));
        check("/// A.\nfn a() {}\nmod tests { }\n", Ok("pub mod store;\n\n/// A.\nfn a() {}\nmod tests { }\n"));
    }

    #[test]
    fn what_is_in_the_way_is_told() {
        check("mod a;\nmod store { }\n", Err(Obstacle::ModuleExists));
        check("#![no_std]\n", Err(Obstacle::NoStd));
        check("fn a() {}\nfn {}", Err(Obstacle::Syntax("line 2, column 4: expected identifier".into())));
    }
}
