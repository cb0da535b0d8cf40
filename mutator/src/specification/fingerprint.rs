//! What an edit has changed: hashes of the source by function, so that what was found out about the others can be kept.
//!
//! A run is fixed by its input and by the code that it executes. So after an edit that changes only the bodies of some
//! functions, a run that entered none of them is the run that it was. For that to hold, everything else goes into one
//! hash, [`Fingerprint::fixed`], and if that differs nothing is kept: all text outside of the bodies of instrumented
//! functions (signatures among it, since a new method can take the place of another where nothing was edited, and
//! the values of constants, which any function may use), other files, local dependencies, the lock file, and the
//! mutator's release.
//!
//! # What counts as outside
//!
//! - Bodies with items in them, which other functions may see: an `impl` in a body counts for the whole crate.
//! - Words of documentation, but for those of functions, which nobody but a macro reads.
//! - Everything, where a `static` or `thread_local!` is: it may keep what a function computed from one run to another.
//!   And where code asks for its own line, which an edit above it changes.
//!
//! What lives in a static of a dependency from elsewhere, and was computed by a specification function that was handed
//! to it, is not seen.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use serde::{Deserialize, Serialize};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, File, ImplItemFn, Item, TraitItemFn};

use crate::syntax::parts::inside;
use crate::syntax::source::Source;
use crate::text::identity::Hash;

/// Raised when equal source is instrumented in another way, so that runs on mutants may differ.
const INSTRUMENTATION: u64 = 3;

/// Hashes of the source of one build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Of all that is not in the body of a function.
    pub fixed: u64,
    /// Of the body of each instrumented function, by its tokens: neither comments nor lines count ([`token_lines`] says
    /// where it is).
    ///
    /// The order is that of [`Sites::functions`](simutant_outcomes::Sites::functions); two builds whose `fixed` is
    /// equal have the same functions.
    pub functions: Vec<u64>,
}

/// Makes a fingerprint, file by file.
#[derive(Debug)]
pub(crate) struct Fingerprints {
    fixed: Hash,
    functions: Vec<Hash>,
    /// Whether any file may keep something, so that none can be split.
    is_whole: bool,
}

impl Fingerprints {
    /// Begins with a hash of what no specification file holds.
    pub(crate) fn new(inputs: u64, sources: &[Source]) -> Self {
        let mut fixed = Hash(inputs);
        fixed.write(env!("CARGO_PKG_VERSION").as_bytes());
        fixed.write(&INSTRUMENTATION.to_le_bytes());
        let is_whole = sources.iter().any(|source| may_remember(&source.file.text));
        Self { fixed, functions: Vec::new(), is_whole }
    }

    /// Adds a specification file whose functions with these indices are instrumented.
    pub(crate) fn add(&mut self, source: &Source, instrumented: &[usize]) {
        let first = self.functions.len();
        let mut bodies = Vec::new();
        for &index in instrumented {
            let function = &source.functions[index];
            self.functions.push(Hash::default());
            if !has_items(&function.body) {
                bodies.push(inside(&function.body));
            } else {
                bodies.push(0..0);
            }
        }
        self.fixed.write(source.file.path.as_bytes());
        self.fixed.write(&[0]);
        let tokens = match TokenStream::from_str(&source.file.text) {
            Ok(tokens) if !self.is_whole => tokens,
            // Lines and all: it may ask for them.
            _ => return self.fixed.write(source.file.text.as_bytes()),
        };
        let documentation = documentation(&source.file.text);
        let (fixed, functions) = (&mut self.fixed, &mut self.functions[first..]);
        Walk { bodies: &bodies, documentation: &documentation, fixed, functions, next: 0 }.stream(tokens);
    }

    pub(crate) fn finish(self) -> Fingerprint {
        Fingerprint { fixed: self.fixed.0, functions: self.functions.into_iter().map(|hash| hash.0).collect() }
    }
}

/// Returns the line of each token of `code`, counted from 0: two functions with equal hashes have as many of them, and
/// each is the same.
///
/// Code that has no tokens has no lines.
pub fn token_lines(code: &str) -> Vec<usize> {
    fn add(tokens: TokenStream, lines: &mut Vec<usize>) {
        let line = |span: proc_macro2::Span| span.start().line.saturating_sub(1);
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    lines.push(line(group.span_open()));
                    add(group.stream(), lines);
                    lines.push(line(group.span_close()));
                }
                token => lines.push(line(token.span())),
            }
        }
    }
    let mut lines = Vec::new();
    add(TokenStream::from_str(code).unwrap_or_default(), &mut lines);
    lines
}

/// Returns whether code keeps something from one run to the next, or depends on its own place. Text that has no tokens
/// does.
pub(crate) fn may_remember(text: &str) -> bool {
    TokenStream::from_str(text).map_or(true, has_memory)
}

struct Walk<'a> {
    /// What is between the braces of functions that are hashed by themselves.
    bodies: &'a [Range<usize>],
    /// What counts for nothing.
    documentation: &'a [Range<usize>],
    fixed: &'a mut Hash,
    functions: &'a mut [Hash],
    /// The first body that has not ended.
    next: usize,
}

impl Walk<'_> {
    fn stream(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.token(group.span_open(), open, false);
                    self.stream(group.stream());
                    self.token(group.span_close(), close, false);
                }
                TokenTree::Punct(punct) => {
                    let mut buffer = [0; 4];
                    let text = punct.as_char().encode_utf8(&mut buffer);
                    self.token(punct.span(), text, punct.spacing() == Spacing::Joint);
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) => self.token(token.span(), &token.to_string(), false),
            }
        }
    }

    fn token(&mut self, span: proc_macro2::Span, text: &str, is_joint: bool) {
        let at = span.byte_range().start;
        // All tokens of a documentation comment have its place.
        if self.documentation.iter().any(|range| range.contains(&at)) {
            return;
        }
        while self.bodies.get(self.next).is_some_and(|body| body.end <= at) {
            self.next += 1;
        }
        let hash = match self.bodies.get(self.next) {
            Some(body) if body.contains(&at) => &mut self.functions[self.next],
            _ => &mut *self.fixed,
        };
        hash.write(text.as_bytes());
        // No token ends with either.
        hash.write(&[u8::from(is_joint)]);
    }
}

/// Returns where the documentation comments of functions are, and those of the file.
fn documentation(text: &str) -> Vec<Range<usize>> {
    struct Finder(Vec<Range<usize>>);
    impl Finder {
        fn add(&mut self, attributes: &[Attribute]) {
            let comments = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
            self.0.extend(comments.map(|attribute| attribute.span().byte_range()));
        }
    }
    impl<'ast> Visit<'ast> for Finder {
        fn visit_item(&mut self, item: &'ast Item) {
            match item {
                Item::Fn(function) if are_known(&function.attrs) => self.add(&function.attrs),
                Item::Impl(block) if are_known(&block.attrs) => visit::visit_item_impl(self, block),
                Item::Trait(block) if are_known(&block.attrs) => visit::visit_item_trait(self, block),
                Item::Mod(module) if are_known(&module.attrs) => visit::visit_item_mod(self, module),
                _ => {}
            }
        }

        fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
            if are_known(&function.attrs) {
                self.add(&function.attrs);
            }
        }

        fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
            if are_known(&function.attrs) {
                self.add(&function.attrs);
            }
        }
    }
    let Ok(file) = syn::parse_str::<File>(text) else { return Vec::new() };
    let mut finder = Finder(Vec::new());
    if are_known(&file.attrs) {
        finder.add(&file.attrs);
    }
    finder.visit_file(&file);
    finder.0
}

/// Returns whether attributes are the compiler's own, and no macros that could read what they stand before.
fn are_known(attributes: &[Attribute]) -> bool {
    const KNOWN: [&str; 9] = ["allow", "cfg", "cold", "deny", "deprecated", "doc", "expect", "inline", "must_use"];
    attributes.iter().all(|attribute| KNOWN.iter().any(|name| attribute.path().is_ident(name)))
}

/// Returns whether something stands in a body that can be seen from outside of it.
fn has_items(body: &Block) -> bool {
    struct Finder(bool);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_item(&mut self, item: &'ast Item) {
            self.0 |= !matches!(item, Item::Use(_) | Item::Const(_));
            visit::visit_item(self, item);
        }

        fn visit_macro(&mut self, call: &'ast syn::Macro) {
            self.0 |= has_word(call.tokens.clone(), &["impl", "macro_rules"]);
        }
    }
    let mut finder = Finder(false);
    finder.visit_block(body);
    finder.0
}

fn has_memory(tokens: TokenStream) -> bool {
    has_word(tokens, &["static", "line", "column", "Location"])
}

/// Returns whether one of `words` is used; those that name a macro, a function or a variable as well count where they
/// call a macro.
fn has_word(tokens: TokenStream, words: &[&str]) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    let mut is_lifetime = false;
    while let Some(token) = tokens.next() {
        let found = match &token {
            TokenTree::Group(group) => has_word(group.stream(), words),
            TokenTree::Ident(word) => {
                let word = word.to_string();
                let is_call = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!');
                !is_lifetime
                    && words.contains(&word.as_str())
                    && (is_call || !matches!(word.as_str(), "line" | "column"))
            }
            _ => false,
        };
        if found {
            return true;
        }
        is_lifetime = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(text: &str) -> Fingerprint {
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let mut fingerprints = Fingerprints::new(7, std::slice::from_ref(&source));
        fingerprints.add(&source, &(0..source.functions.len()).collect::<Vec<_>>());
        fingerprints.finish()
    }

    const SAMPLE: &str = "use b::C;\nfn f(a: u32) -> u32 {\n    a + 1\n}\nimpl C {\n    fn g(&self) { h() }\n}\n";

    /// `None` where something outside of functions has changed, else the functions that have.
    fn changed(text: &str, part: &str, by: &str) -> Option<Vec<usize>> {
        assert!(text.contains(part), "{part}");
        let (old, new) = (fingerprint(text), fingerprint(&text.replacen(part, by, 1)));
        let differs = |index: &usize| old.functions[*index] != new.functions[*index];
        (old.fixed == new.fixed).then(|| (0..old.functions.len()).filter(differs).collect())
    }

    #[test]
    fn a_body_is_hashed_by_itself() {
        assert_eq!(changed(SAMPLE, "a + 1", "a + 2"), Some(vec![0]));
        assert_eq!(changed(SAMPLE, "h()", "a::h()"), Some(vec![1]));
        assert_eq!(changed(SAMPLE, "a + 1", "a +1 /* more */"), Some(vec![]));
        assert_eq!(changed(SAMPLE, "impl", "// A comment.\n\nimpl"), Some(vec![]));
    }

    #[test]
    fn code_that_moves_within_its_function_is_the_same_on_other_lines() {
        let moved = "    // One more.\n    a\n        + 1";
        assert_eq!(changed(SAMPLE, "    a + 1", moved), Some(vec![]));
        let function = |text: &str| {
            text[text.find("fn f").expect("it is there")..text.find("impl").expect("it follows")].to_owned()
        };
        assert_eq!(token_lines(&function(SAMPLE)), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2]);
        let moved = token_lines(&function(&SAMPLE.replace("    a + 1", moved)));
        assert_eq!(moved, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 3, 4]);
        assert!(token_lines("fn f( {").is_empty());
    }

    #[test]
    fn what_is_outside_of_bodies_is_one() {
        for (part, by) in
            [("b::C", "b::D"), ("a: u32", "b: u32"), ("use", "#[inline] fn i() {}\nuse"), ("-> u32", "-> u64")]
        {
            assert_eq!(changed(SAMPLE, part, by), None, "{by}");
        }
    }

    #[test]
    fn words_about_functions_are_nothing() {
        let sample = "//! All.\n\n/// One.\nfn f() { 1 }\nimpl A {\n    /// Two.\n    #[inline]\n    /// More.\n    fn g() {}\n}\n";
        for (part, by) in [
            ("All.", "Much."),
            ("/// One.", "/// One, and\n/// a half."),
            ("    /// Two.\n", ""),
            ("/// More.", "/** Less. */"),
            ("/// More.", "#[doc = \"More.\"]"),
        ] {
            assert_eq!(changed(sample, part, by), Some(vec![]), "{by}");
        }
        assert_eq!(changed(sample, "inline", "cold"), None);
        for sample in
            ["/// One.\n#[other]\nfn f() {}", "#[other]\nimpl A {\n/// One.\nfn f() {}\n}", "/// One.\nstruct A;"]
        {
            assert_eq!(changed(sample, "One", "Two"), None, "a macro may read it: {sample}");
        }
    }

    #[test]
    fn bodies_that_others_can_see_into_are_outside() {
        assert_eq!(changed("fn f() { struct A; impl B for A {} 1; }", "1", "2"), None);
        assert_eq!(changed("fn f() { make!(impl B for A {}); 1; }", "1", "2"), None);
        assert_eq!(changed("fn f() { const A: u8 = 1; use B; }", "1", "2"), Some(vec![0]));
    }

    #[test]
    fn the_value_of_a_constant_is_outside_and_its_use_is_not() {
        let sample = "const A: u8 = 1; impl B { const C: u8 = 2; } fn f() { g(A) } fn h() { 3 }";
        assert_eq!(changed(sample, "1", "4"), None);
        assert_eq!(changed(sample, "2", "4"), None);
        assert_eq!(changed(sample, "3", "A"), Some(vec![1]));
        assert_eq!(changed(sample, "g(A)", "g(5)"), Some(vec![0]));
    }

    #[test]
    fn a_file_with_memory_is_outside() {
        for memory in ["static A: u8 = 0;", "thread_local! { static A: u8 = 0; }", "fn g() -> u32 { line!() }"] {
            let text = format!("{memory} fn f() {{ 1 }}");
            assert!(may_remember(&text));
            assert_eq!(changed(&text, "1", "2"), None, "{memory}");
        }
        assert!(!may_remember("fn f(line: &'static str) { line.len(); }"));
    }

    #[test]
    fn equal_letters_in_other_tokens_differ() {
        assert_eq!(changed("fn f() { a & &b }", "& &", "&&"), Some(vec![0]));
        assert_eq!(changed("fn f() { return b }", "return b", "returnb"), Some(vec![0]));
    }
}
