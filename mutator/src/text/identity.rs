//! Names for mutants that survive edits elsewhere in the file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Makes identities, and tells equal ones apart by their order.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    seen: BTreeMap<u64, u32>,
}

impl Identities {
    /// Returns the identity of the next mutant: 16 hexadecimal digits.
    pub(crate) fn next(&mut self, function: &str, original: &str, operator: &str, replacement: &str) -> String {
        let mut hash = Hash::default();
        for part in [function, &normalised(original), operator, &normalised(replacement)] {
            hash.write(part.as_bytes());
            hash.write(&[0]);
        }
        let ordinal = self.seen.entry(hash.0).or_default();
        hash.write(&ordinal.to_le_bytes());
        *ordinal += 1;
        format!("{:016x}", hash.0)
    }
}

/// Returns code without comments and without what formatting changes.
fn normalised(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    let mut end = 0;
    let mut add = |range: Range<usize>| {
        if range.start > end {
            text.push(' ');
        }
        end = range.end;
        text.push_str(&code[range]);
    };
    // Without a mark of comments, or where a part of code is no code by itself, nothing can be left out.
    match ["//", "/*"].iter().any(|mark| code.contains(mark)).then(|| TokenStream::from_str(code)) {
        Some(Ok(tokens)) => add_tokens(tokens, &mut add),
        _ => add(0..code.len()),
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Calls `add` with the place of each token.
pub(crate) fn add_tokens(tokens: TokenStream, add: &mut impl FnMut(Range<usize>)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => {
                add(group.span_open().byte_range());
                add_tokens(group.stream(), add);
                add(group.span_close().byte_range());
            }
            token => add(token.span().byte_range()),
        }
    }
}

/// FNV-1a with 64 bits: portable, and long enough for the mutants of one package.
#[derive(Debug)]
pub(crate) struct Hash(pub(crate) u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Returns the hash with every bit depending on every byte, so that its order is that of chance (the finalizer of
    /// SplitMix; Steele, Lea and Flood, OOPSLA 2014).
    pub(crate) fn mixed(&self) -> u64 {
        let first = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        second ^ (second >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_does_not_change_an_identity_and_order_tells_equals_apart() {
        let mut identities = Identities::default();
        let first = identities.next("a::f", "x + 1", "AOR", "x - 1");
        let second = identities.next("a::f", "x  +\n1", "AOR", "x - 1");
        assert_ne!(first, second);
        assert_eq!(Identities::default().next("a::f", "x  +\n1", "AOR", "x - 1"), first);
        assert_ne!(identities.next("a::g", "x + 1", "AOR", "x - 1"), first);
    }

    #[test]
    fn comments_are_no_code() {
        #[track_caller]
        fn check(code: &str, expect: &str) {
            assert_eq!(normalised(code), expect);
        }
        check("{\n    // One.\n    f(a,  b);/* Two. */\n}", "{ f(a, b); }");
        check("{\n    f(a,  b);\n}", "{ f(a, b); }");
        check("g(\"// three\") // Four.", "g(\"// three\")");
        check("} // No code.", "} // No code.");
    }
}
