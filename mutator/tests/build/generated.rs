//! Structured programs made by chance, for the data flow analysis.
//!
//! Each condition looks at a bit of its own, so that running a program on all values of `bits` executes every path that
//! its graph has.

use std::fmt::Write;

/// How many conditions a program has at most.
pub(crate) const BITS: u32 = 5;

/// The part of the file that all programs share.
const SHARED: &str = "fn goes(bits: u32, bit: u32, _seen: u32) -> bool { bits >> bit & 1 == 1 }\n";

/// Whether programs have loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loops {
    None,
    Some,
}

/// Makes programs.
struct Generator {
    state: u64,
    loops: Loops,
    text: String,
    /// The variables that are in scope; a name that occurs twice is shadowed.
    names: Vec<String>,
    bits: u32,
}

/// Returns a file with `count` programs and a function `run` that runs them all on all values of the bits.
pub(crate) fn programs(count: u64, loops: Loops) -> String {
    let mut file = SHARED.to_owned();
    let mut calls = String::new();
    for number in 0..count {
        let state = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut generator = Generator { state, loops, text: String::new(), names: vec!["a".into()], bits: 0 };
        generator.block(3);
        let result = generator.name();
        writeln!(file, "fn p{number}(bits: u32, mut a: u32) -> u32 {{\n{}    {result}\n}}", generator.text)
            .expect("writing to a string");
        writeln!(calls, "        sum = sum.wrapping_add(p{number}(bits, input));").expect("writing to a string");
    }
    write!(
        file,
        "pub fn run(input: u32) -> String {{\n    let mut sum = 0u32;\n    for bits in 0..{} {{\n{calls}    }}\n    sum.to_string()\n}}\n",
        1 << BITS
    )
    .expect("writing to a string");
    file
}

impl Generator {
    fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % end
    }

    fn name(&mut self) -> String {
        let index = self.below(self.names.len() as u64) as usize;
        self.names[index].clone()
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "    {line}").expect("writing to a string");
    }

    /// A condition that uses a variable, and goes both ways.
    fn condition(&mut self) -> String {
        let bit = self.bits;
        self.bits += 1;
        format!("goes(bits, {bit}, {})", self.name())
    }

    fn body(&mut self, depth: u32) {
        let known = self.names.len();
        self.block(depth - 1);
        self.names.truncate(known);
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..2 + self.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let may_branch = depth > 0 && self.bits + 2 <= BITS;
        let kinds = if !may_branch {
            4
        } else if self.loops == Loops::Some {
            9
        } else {
            7
        };
        match self.below(kinds) {
            0 => {
                let (to, from) = (self.name(), self.name());
                self.line(&format!("{to} = {from}.wrapping_add(1);"));
            }
            1 => {
                let (to, from) = (self.name(), self.name());
                self.line(&format!("{to} ^= {from};"));
            }
            2 => {
                // A new name, or one that shadows another.
                let name = ["a", "b", "c"][self.below(3) as usize];
                let from = self.name();
                self.line(&format!("let mut {name} = {from} & 7;"));
                self.names.push(name.into());
            }
            3 => {
                let (to, from) = (self.name(), self.name());
                self.line(&format!("std::mem::swap(&mut ({from} | 1), &mut {to});"));
            }
            4 => {
                let condition = self.condition();
                self.line(&format!("if {condition} {{"));
                self.body(depth);
                self.line("} else {");
                self.body(depth);
                self.line("}");
            }
            5 => {
                let (left, right) = (self.condition(), self.condition());
                let operator = ["&&", "||"][self.below(2) as usize];
                self.line(&format!("if {left} {operator} {right} {{"));
                self.body(depth);
                self.line("}");
            }
            6 => {
                let (name, condition) = (self.name(), self.condition());
                self.line(&format!("match Some({name}).filter(|_| {condition}) {{ Some(mut d) => {{"));
                self.names.push("d".into());
                self.body(depth);
                self.names.pop();
                self.line("} None => {");
                self.body(depth);
                self.line("} }");
            }
            7 => {
                let (count, condition) = (self.name(), self.condition());
                self.line(&format!("for mut e in 0..{count} & 3 {{"));
                self.names.push("e".into());
                self.line(&format!("if {condition} {{ break; }}"));
                self.body(depth);
                self.names.pop();
                self.line("}");
            }
            _ => {
                let (count, condition) = (self.name(), self.condition());
                self.line("let mut turns = 0u32;");
                self.line(&format!("while turns < 3 && {condition} {{ turns += 1;"));
                self.line(&format!("if {count} & turns == 1 {{ continue; }}"));
                self.body(depth);
                self.line("}");
            }
        }
    }
}
