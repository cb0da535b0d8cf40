//! Comments, which the parser leaves out, and the code that they stand above.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FieldValue, File, ImplItem, Item, Stmt, TraitItem};

use crate::syntax::parts::range_of;
use crate::text::identity::add_tokens;

/// The marks that comments begin with, and what they end with.
const MARKS: [(&str, &str); 2] = [("//", "\n"), ("/*", "*/")];

/// A comment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Comment<'a> {
    /// Where it begins.
    pub(crate) start: usize,
    /// What it says, without its marks.
    pub(crate) text: &'a str,
    /// Whether it is documentation, which is a part of what it is about.
    pub(crate) is_documentation: bool,
    /// Whether code stands before it on its line.
    pub(crate) is_behind_code: bool,
    /// The token that follows it.
    pub(crate) next_token: Option<usize>,
}

/// The comments of a file, and what stands below them.
#[derive(Debug)]
pub(crate) struct Comments<'a> {
    text: &'a str,
    /// Where the tokens begin and end, in order.
    tokens: Vec<Range<usize>>,
}

impl<'a> Comments<'a> {
    /// Reads a file that parses.
    pub(crate) fn new(text: &'a str) -> Self {
        let mut tokens: Vec<Range<usize>> = Vec::new();
        // A documentation comment is several tokens at one place.
        add_tokens(TokenStream::from_str(text).unwrap_or_default(), &mut |range| {
            if tokens.last().is_none_or(|last| last.end <= range.start) {
                tokens.push(range);
            }
        });
        Self { text, tokens }
    }

    /// Returns all comments, in order.
    pub(crate) fn all(&self) -> Vec<Comment<'a>> {
        let mut comments = Vec::new();
        let mut end = 0;
        for (number, token) in self.tokens.iter().enumerate() {
            self.between(end..token.start, Some(token.start), &mut comments);
            if self.text[token.clone()].starts_with("//") || self.text[token.clone()].starts_with("/*") {
                let next = self.tokens.get(number + 1).map(|next| next.start);
                let text = self.text[token.clone()].trim_start_matches(['/', '*', '!']).trim_end_matches(['/', '*']);
                comments.push(self.comment(token.start, text, true, next));
            }
            end = token.end;
        }
        self.between(end..self.text.len(), None, &mut comments);
        comments
    }

    /// Adds the comments where there are no tokens.
    fn between(&self, range: Range<usize>, next_token: Option<usize>, comments: &mut Vec<Comment<'a>>) {
        let mut rest = range;
        while let Some((at, mark, end)) = self.first_mark(rest.clone()) {
            let inside = at + mark.len()..rest.end;
            let length = length_to(&self.text[inside.clone()], mark, end);
            let text = &self.text[inside.start..inside.start + length];
            comments.push(self.comment(at, text, false, next_token));
            rest.start = (inside.start + length + end.len()).min(rest.end);
        }
    }

    /// Returns the first comment's place and its marks.
    fn first_mark(&self, range: Range<usize>) -> Option<(usize, &'static str, &'static str)> {
        let found = MARKS
            .into_iter()
            .filter_map(|(mark, end)| Some((range.start + self.text[range.clone()].find(mark)?, mark, end)));
        found.min_by_key(|(at, ..)| *at)
    }

    fn comment(&self, start: usize, text: &'a str, is_documentation: bool, next_token: Option<usize>) -> Comment<'a> {
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let is_behind_code = self.tokens.iter().any(|token| token.start < start && token.end > line);
        Comment { start, text: text.trim(), is_documentation, is_behind_code, next_token }
    }

    /// Returns the largest piece of code that begins with a token, be it an item, a statement, an arm of a `match`, a
    /// field or an expression; the token may stand between the attributes of an item and the rest of it.
    pub(crate) fn beginning_with(&self, token: usize, file: &File) -> Option<Range<usize>> {
        let mut finder = Finder { comments: self, token, found: None };
        finder.visit_file(file);
        finder.found
    }
}

/// Returns how long a comment is that begins before `text`: those in the style of C can hold others.
fn length_to(text: &str, mark: &str, end: &str) -> usize {
    if mark == "//" {
        return text.find(end).unwrap_or(text.len());
    }
    let (mut depth, mut at) = (1, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(end) {
            depth -= 1;
            if depth == 0 {
                return at;
            }
            at += end.len();
        } else if rest.starts_with(mark) {
            depth += 1;
            at += mark.len();
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

struct Finder<'a> {
    comments: &'a Comments<'a>,
    token: usize,
    found: Option<Range<usize>>,
}

impl Finder<'_> {
    /// Looks at a piece of code; returns whether what is in it may be asked for.
    fn look(&mut self, range: Range<usize>, attributes: &[Attribute]) -> bool {
        let head = attributes.iter().filter(|attribute| matches!(attribute.style, syn::AttrStyle::Outer)).map(range_of);
        // The first token behind the attributes.
        let behind = head.map(|attribute| attribute.end).max().and_then(|end| {
            let tokens = &self.comments.tokens;
            tokens.get(tokens.partition_point(|token| token.start < end)).map(|token| token.start)
        });
        let begins_there = (range.start..=behind.unwrap_or(range.start)).contains(&self.token);
        if begins_there && self.found.is_none() {
            self.found = Some(range.clone());
        }
        !begins_there && range.contains(&self.token)
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if self.look(range_of(item), attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs[..],
            ImplItem::Fn(item) => &item.attrs,
            _ => &[],
        };
        if self.look(range_of(item), attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(item) => &item.attrs[..],
            TraitItem::Fn(item) => &item.attrs,
            _ => &[],
        };
        if self.look(range_of(item), attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes = match statement {
            Stmt::Local(local) => &local.attrs[..],
            Stmt::Item(item) => attributes_of(item),
            _ => &[],
        };
        if self.look(range_of(statement), attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if self.look(range_of(arm), &arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_field_value(&mut self, field: &'ast FieldValue) {
        if self.look(range_of(field), &field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        if self.look(range_of(expression), &[]) {
            visit::visit_expr(self, expression);
        }
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_what_is_no_code() {
        let text = "// One.\nfn f() { g(\"// no\"); /* Two /* and */ a half. */ h(); // Three.\n}\n/// Four.\nfn i() {}\n//Five.";
        let comments = Comments::new(text).all();
        let found: Vec<(&str, bool, bool)> =
            comments.iter().map(|comment| (comment.text, comment.is_documentation, comment.is_behind_code)).collect();
        let expect = [
            ("One.", false, false),
            ("Two /* and */ a half.", false, true),
            ("Three.", false, true),
            ("Four.", true, false),
            ("Five.", false, false),
        ];
        assert_eq!(found, expect);
        let next: Vec<&str> =
            comments.iter().filter_map(|comment| text.get(comment.next_token?..)).map(first).collect();
        assert_eq!(next, ["fn", "h();", "}", "fn"]);
    }

    fn first(text: &str) -> &str {
        text.split_whitespace().next().unwrap_or_default()
    }

    /// Returns the code below the one comment of `text`.
    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let comments = Comments::new(text);
        let all = comments.all();
        let next = all.iter().find(|comment| !comment.is_documentation).expect("a comment").next_token;
        let file = syn::parse_str(text).expect("the test's own source");
        let range = next.and_then(|next| comments.beginning_with(next, &file));
        assert_eq!(range.map(|range| &text[range]), expect);
    }

    #[test]
    fn a_comment_is_about_the_largest_piece_of_code_that_begins_below_it() {
        check("// here\nmod a { fn f() {} } fn g() {}", Some("mod a { fn f() {} }"));
        check("fn g() {} // here\n#[inline] fn f() {}", Some("#[inline] fn f() {}"));
        check("/// F.\n// here\n#[inline] fn f() {}", Some("/// F.\n// here\n#[inline] fn f() {}"));
        check("#[inline]\n// here\npub fn f() {}", Some("#[inline]\n// here\npub fn f() {}"));
        check("impl A {\n// here\nfn f() {} fn g() {} }", Some("fn f() {}"));
        check("trait A {\n// here\nfn f() {} }", Some("fn f() {}"));
        check("fn f() {\n// here\na + b; c }", Some("a + b;"));
        check("fn f() {\n// here\nlet a = b; c }", Some("let a = b;"));
        check("fn f() {\n// here\nif a { b } else { c } d }", Some("if a { b } else { c }"));
        check("fn f() { match a {\n// here\nA => b, _ => c } }", Some("A => b,"));
        check("fn f() { A {\n// here\na: b + 1, c } }", Some("a: b + 1"));
        check("fn f() { g(a,\n// here\nb + c) }", Some("b + c"));
        check("// here\nconst A: u8 = 1; const B: u8 = 2;", Some("const A: u8 = 1;"));
    }

    #[test]
    fn where_no_code_begins_there_is_none() {
        check("fn f() { a\n// here\n}", None);
        check("fn f() { a\n// here\n.g() }", None);
        check("fn f() {} // here", None);
    }
}
