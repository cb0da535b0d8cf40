//! What the mutator finds in the source: files, functions, blocks, branches and mutants, each with its place.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::BitSet;

/// A mutant's number: its index in [`Sites::mutants`].
pub type MutantNumber = u32;

/// Everything that the mutator found in the specification files of one system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sites {
    /// The package that the files belong to.
    pub package: String,
    /// The system's name, as the package's manifest has it.
    pub system: String,
    /// The specification files, in the order of the manifest.
    pub files: Vec<SourceFile>,
    /// Every instrumented function, in source order.
    pub functions: Vec<Function>,
    /// The requirements of all-blocks: basic blocks of the control-flow graphs.
    pub blocks: Vec<Block>,
    /// The requirements of all-branches: edges that leave a block with more than one successor.
    pub branches: Vec<Branch>,
    /// The definitions of variables that some use can see: the requirements of all-defs.
    #[serde(default)]
    pub definitions: Vec<Definition>,
    /// The requirements of all-uses: definitions with the uses that can see them.
    #[serde(default)]
    pub pairs: Vec<Pair>,
    /// The requirements of MC/DC: the values of conditions that decide.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// The mutants that compile; a mutant's number is its index.
    pub mutants: Vec<Mutant>,
    /// The mutants that the compiler rejected, each with the compiler's reason.
    pub rejected: Vec<RejectedMutant>,
    /// Functions of the specification files that run as they are written, each with the reason.
    pub uninstrumented: Vec<UninstrumentedFunction>,
    /// Functions of the specification files that are not compiled, since a `#[cfg(…)]` leaves them out, each with that;
    /// those of tests are not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<UninstrumentedFunction>,
    /// Functions that do not compile with the probes of data flow, with the compiler's reason: they have no
    /// definition-use pairs and no requirements of MC/DC.
    #[serde(default)]
    pub without_flow: Vec<UninstrumentedFunction>,
    /// Constants of the specification files that have no mutants, with the reason, if mutants of constants were asked
    /// for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmutated: Vec<UnmutatedConstant>,
    /// The `macro_rules!` of the specification files, none of which has mutants or requirements: what a body becomes is
    /// known to the compiler alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub macros: Vec<MacroDefinition>,
    /// Names that stand for several declarations: operators that go by what is declared do not know which, and make no
    /// mutants of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ambiguous: Vec<AmbiguousName>,
    /// Code that is left out of mutation, since a comment or the manifest says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedCode>,
}

impl Sites {
    /// Returns the changes that a mutant is made of: two mutants if it is of higher order, otherwise itself.
    pub fn changes<'a>(&'a self, mutant: &'a Mutant) -> Vec<&'a Mutant> {
        match mutant.parts {
            Some(parts) => parts.iter().map(|&part| &self.mutants[part as usize]).collect(),
            None => vec![mutant],
        }
    }

    /// Returns the changes of a mutant as unified diffs with `context` lines before and after each.
    pub fn diff(&self, mutant: &Mutant, context: usize) -> String {
        self.changes(mutant).into_iter().map(|change| change.diff(&self.files[change.span.file], context)).collect()
    }

    /// Returns the reasons for which functions have no mutants, each with the number of these: those that run as they are
    /// written, and those that are not compiled. The most frequent reason comes first.
    pub fn left_alone(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for function in self.uninstrumented.iter().chain(&self.left_out) {
            *counts.entry(&function.reason).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Returns how many mutants are left out by comments and by the manifest. The compiler has not seen them: it might
    /// have rejected some.
    pub fn mutants_skipped(&self) -> usize {
        self.skipped.iter().map(|skipped| skipped.mutants).sum()
    }

    /// Adds to a set of mutants those of higher order of which a part is in it.
    ///
    /// For what a run of the original says about mutants, that is exact: as long as neither part is reached or infects,
    /// the run of the pair is that of the original.
    pub fn add_pairs(&self, mutants: &mut BitSet) {
        for (number, mutant) in self.mutants.iter().enumerate() {
            if mutant.parts.is_some_and(|parts| parts.iter().any(|&part| mutants.contains(part as usize))) {
                mutants.insert(number);
            }
        }
    }
}

/// One specification file, as it was when it was instrumented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The path relative to the package's folder, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// A place in a specification file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// Index into [`Sites::files`].
    pub file: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in characters, from 1.
    pub column: usize,
    /// Line of the last byte, from 1.
    pub line_end: usize,
}

/// An instrumented function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Module path and name, for example `gbn::sender::Window::grow`.
    pub path: String,
    /// From the signature to the closing brace.
    pub span: Span,
}

/// A basic block: a requirement of all-blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Index into [`Sites::functions`].
    pub function: usize,
    /// The code of the block, as far as it is in one piece: what a report highlights when the block is not covered.
    pub span: Span,
}

/// An edge of the control-flow graph that leaves a decision: a requirement of all-branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Index into [`Sites::functions`].
    pub function: usize,
    /// The condition, pattern or operator that decides.
    pub span: Span,
    /// Which way out of the decision this edge is.
    pub outcome: BranchOutcome,
}

/// Which way out of a decision a branch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BranchOutcome {
    /// A condition that holds, or a pattern that matches.
    True,
    /// A condition that does not hold, or a pattern that does not match.
    False,
    /// The arm of a `match` with this index, from 0.
    Arm(usize),
    /// `?` on a success.
    Continue,
    /// `?` on a failure: the function returns.
    Return,
    /// A `for` loop that goes round once more.
    Iterate,
    /// A `for` loop whose iterator is used up.
    Exhausted,
}

impl std::fmt::Display for BranchOutcome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::True => formatter.write_str("true"),
            Self::False => formatter.write_str("false"),
            Self::Arm(index) => write!(formatter, "arm {}", index + 1),
            Self::Continue => formatter.write_str("continues"),
            Self::Return => formatter.write_str("returns"),
            Self::Iterate => formatter.write_str("iterates"),
            Self::Exhausted => formatter.write_str("exhausted"),
        }
    }
}

/// A place where a variable gets a value, or may get one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Index into [`Sites::functions`].
    pub function: usize,
    /// The variable: a name, or `self.name` for a field of the type that the function belongs to.
    pub variable: String,
    /// The pattern, the assigned place, the call or the field of a literal that defines it.
    pub span: Span,
}

/// A definition and a use that can see it: a requirement of all-uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Index into [`Sites::definitions`].
    pub definition: usize,
    /// The function of the use: an index into [`Sites::functions`].
    pub function: usize,
    /// The use.
    pub span: Span,
    /// If the use is in what a decision depends on, which way the decision goes then: an index into
    /// [`Sites::branches`].
    pub branch: Option<usize>,
}

/// A condition that decides by a value: a requirement of MC/DC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Index into [`Sites::functions`].
    pub function: usize,
    /// The condition.
    pub span: Span,
    /// Its value.
    pub value: bool,
    /// Whether the same condition stands in its decision once more, so that neither can change alone.
    pub is_coupled: bool,
    /// If the condition is the whole decision, the branch that it takes with this value: an index into
    /// [`Sites::branches`].
    pub branch: Option<usize>,
}

/// One small change to the specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// A name that survives edits elsewhere in the file: a hash of the function's path, the normalised source of the
    /// place, the operator, the replacement, and an ordinal among equals. 16 hexadecimal digits.
    pub identity: String,
    /// The mutation operator's short name, for example `ROR`.
    pub operator: String,
    /// How the operator is chosen.
    pub tier: Tier,
    /// What the change is about.
    pub class: Class,
    /// A fault that the change amounts to here, if that has a name: `TMR-S` for a check against stale timers that is
    /// gone, `RST` for a reset that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Index into [`Sites::functions`]; of a constant's mutant, the first function that uses the constant.
    pub function: usize,
    /// The code that is replaced.
    pub span: Span,
    /// The code that is replaced, as text.
    pub original: String,
    /// What stands there in the mutant.
    pub replacement: String,
    /// The two mutants that this one is at once, if it is of higher order; the fields above are about the first of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<[MutantNumber; 2]>,
}

/// How a mutation operator is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// Always: the operators of the literature on adequacy.
    A,
    /// Always, but it changes only what has the names of messages, timers, states and the like.
    B,
    /// When it is asked for.
    C,
}

/// What a mutant is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Any code: operators, literals, statements.
    General,
    /// Virtual time: delays, timeouts, timers, retries.
    Time,
    /// What is sent, to whom and how often.
    Message,
    /// The state that a component is in.
    State,
    /// What is awaited, raced and spawned.
    Async,
    /// Draws from random numbers.
    Random,
}

impl std::fmt::Display for Tier {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
        })
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::General => "general",
            Self::Time => "time",
            Self::Message => "message",
            Self::State => "state",
            Self::Async => "async",
            Self::Random => "random",
        })
    }
}

/// A mutant that does not compile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedMutant {
    /// The mutant.
    pub mutant: Mutant,
    /// The compiler's message.
    pub reason: String,
}

/// A function of a specification file that runs without probes, or without some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UninstrumentedFunction {
    /// Module path and name.
    pub path: String,
    /// Its place.
    pub span: Span,
    /// Why it has no probes.
    pub reason: String,
}

/// A constant of a specification file that has no mutants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmutatedConstant {
    /// Module path, type and name.
    pub path: String,
    /// Its place.
    pub span: Span,
    /// Why it has none.
    pub reason: String,
}

/// A macro that is defined by `macro_rules!`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MacroDefinition {
    /// Module path and name, with an exclamation mark.
    pub path: String,
    /// The whole definition.
    pub span: Span,
}

/// A name that stands for several declarations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmbiguousName {
    /// The name of the type, the function or the constant; of a method, with its type if that is known.
    pub name: String,
    /// Module path and name of the function that has the name.
    pub path: String,
    /// The function's place.
    pub span: Span,
}

/// Code that is left out of mutation: it has its requirements, and no mutants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedCode {
    /// Module path and name of the function; of code outside of functions, the path of the file.
    pub path: String,
    /// The code.
    pub span: Span,
    /// The operators whose mutants are left out, as the comment or the manifest lists them; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operators: Option<String>,
    /// How many mutants are left out; one that several comments or patterns leave out counts with the first.
    pub mutants: usize,
    /// Why.
    pub reason: String,
}

impl Mutant {
    /// Returns the change as a unified diff with `context` lines before and after it.
    ///
    /// # Panics
    /// If `file` is not the file that the mutant's span points into.
    pub fn diff(&self, file: &SourceFile, context: usize) -> String {
        let text = file.text.as_str();
        assert_eq!(&text[self.span.start..self.span.end], self.original, "{}: not this mutant's file", file.path);
        let line_start = text[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[self.span.end..].find('\n').map_or(text.len(), |at| self.span.end + at);
        let before: Vec<&str> = text[..line_start].lines().rev().take(context).collect();
        let after: Vec<&str> = text[line_end..].lines().skip(1).take(context).collect();
        let old = &text[line_start..line_end];
        let new =
            format!("{}{}{}", &text[line_start..self.span.start], self.replacement, &text[self.span.end..line_end]);
        let new_lines: Vec<&str> = if new.trim().is_empty() { Vec::new() } else { new.lines().collect() };
        let first = self.span.line - before.len();
        let shared = before.len() + after.len();
        let mut diff = format!(
            "--- a/{path}\n+++ b/{path}\n@@ -{first},{} +{first},{} @@\n",
            shared + old.lines().count(),
            shared + new_lines.len(),
            path = file.path,
        );
        let mut push = |sign: char, line: &str| {
            diff.push(sign);
            diff.push_str(line);
            diff.push('\n');
        };
        before.iter().rev().for_each(|line| push(' ', line));
        old.lines().for_each(|line| push('-', line));
        new_lines.iter().for_each(|line| push('+', line));
        after.iter().for_each(|line| push(' ', line));
        diff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, original: &str, replacement: &str, context: usize, expect: &str) {
        let start = text.find(original).expect("the original is in the text");
        let line = text[..start].matches('\n').count() + 1;
        let span = Span {
            file: 0,
            start,
            end: start + original.len(),
            line,
            column: 1,
            line_end: line + original.matches('\n').count(),
        };
        let mutant = Mutant {
            identity: String::new(),
            operator: "AOR".into(),
            tier: Tier::A,
            class: Class::General,
            tag: None,
            function: 0,
            span,
            original: original.into(),
            replacement: replacement.into(),
            parts: None,
        };
        let file = SourceFile { path: "src/a.rs".into(), text: text.into() };
        assert_eq!(mutant.diff(&file, context), expect);
    }

    #[test]
    fn functions_that_are_left_alone_are_counted_by_reason() {
        let function = |reason: &str| {
            let span = Span { file: 0, start: 0, end: 0, line: 1, column: 1, line_end: 1 };
            UninstrumentedFunction { path: "f".into(), span, reason: reason.into() }
        };
        let sites = Sites {
            uninstrumented: vec![function("a"), function("b")],
            left_out: vec![function("c"), function("b")],
            ..Sites::default()
        };
        assert_eq!(sites.left_alone(), [("b", 2), ("a", 1), ("c", 1)]);
    }

    #[test]
    fn a_diff_shows_the_line_and_its_neighbours() {
        check(
            "one\ntwo\n  a + b;\nfour\nfive\n",
            "a + b",
            "a - b",
            1,
            "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -2,3 +2,3 @@\n two\n-  a + b;\n+  a - b;\n four\n",
        );
    }

    #[test]
    fn a_deleted_statement_leaves_no_line() {
        check("f {\n  a;\n}\n", "a;", "", 1, "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,2 @@\n f {\n-  a;\n }\n");
    }

    #[test]
    fn several_lines_are_replaced_as_one_hunk() {
        check("x\ny\nz\n", "x\ny", "w", 0, "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,1 @@\n-x\n-y\n+w\n");
    }
}
