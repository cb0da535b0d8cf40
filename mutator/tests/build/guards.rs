//! Every position of an expression with every kind of temporary that can be in it, and guards that log their drops.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use simutant_outcomes::Sites;

/// What all functions share. The log has the guards' drops, and marks of what was evaluated between them.
const SHARED: &str = r#"
use std::cell::RefCell;
use std::future::Future;
use std::task::{Context, Poll, Waker};

pub struct Log(RefCell<String>);
impl Log {
    fn note(&self, letter: char) -> u32 { self.0.borrow_mut().push(letter); 1 }
    fn guard(&self, value: u32) -> Guard<'_> { Guard { log: self, value, values: [value, 2] } }
}
pub struct Guard<'a> { log: &'a Log, value: u32, values: [u32; 2] }
impl Drop for Guard<'_> {
    fn drop(&mut self) { self.log.0.borrow_mut().push_str(&format!("-{}", self.value)); }
}
impl std::ops::Deref for Guard<'_> { type Target = u32; fn deref(&self) -> &u32 { &self.value } }
impl PartialEq for Guard<'_> { fn eq(&self, other: &Self) -> bool { self.value == other.value } }
impl PartialOrd for Guard<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> { self.value.partial_cmp(&other.value) }
}
impl<'a> Guard<'a> {
    fn value(&self) -> u32 { self.value }
    fn next(self) -> Guard<'a> { self.log.guard(self.value + 1) }
    fn some(&self) -> Option<u32> { (self.value > 1).then_some(self.value) }
    fn held(self) -> Option<Guard<'a>> { if self.value > 1 { Some(self) } else { None } }
}
fn both(a: u32, b: u32) -> u32 { a + b }
fn first(guards: &[Guard<'_>]) -> u32 { guards.len() as u32 }
struct Pair { a: u32, b: u32 }
thread_local! { static LAST: RefCell<String> = const { RefCell::new(String::new()) }; }
struct Noisy;
impl Noisy { fn value(&self) -> u32 { 5 } }
impl Drop for Noisy { fn drop(&mut self) { LAST.with(|last| last.borrow_mut().push('!')); } }
fn noted() -> u32 { LAST.with(|last| { last.borrow_mut().push('?'); last.borrow().len() as u32 }) }
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) { return value; }
    }
}
fn once(future: impl Future<Output = u32>) -> u32 {
    let mut future = Box::pin(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) { Poll::Ready(value) => value, Poll::Pending => 77 }
}
async fn later(value: u32) -> u32 { value }
"#;

/// Expressions of the type `u32` with temporaries, in terms of `log` and `x`.
const KINDS: [&str; 17] = [
    "log.guard(x).value()",
    "*log.guard(x)",
    "log.guard(x).value",
    "log.guard(x).values[1]",
    "log.guard(x).next().value() + 1",
    "both(log.guard(x).value(), log.guard(3).value())",
    "u32::from(log.guard(x) < log.guard(3))",
    "first(&[log.guard(x), log.guard(4)])",
    "match log.guard(x).some() { Some(y) => y, None => log.note('n') }",
    "match log.guard(x) { ref guard if guard.value > 1 => guard.value(), _ => log.note('n') }",
    "if let Some(y) = log.guard(x).held() { y.value() } else { log.note('n') }",
    "{ let inner = log.guard(7); inner.value() + log.guard(x).value() }",
    "log.guard(x).some().map(|y| y + log.guard(5).value()).unwrap_or(log.note('m'))",
    "later(log.guard(x).value())",
    "unsafe { log.guard(x).value() }",
    "[log.guard(x).value(), log.guard(6).value()][0]",
    "both(Noisy.value() + 1, noted())",
];

/// Bodies of functions `fn(log: &Log, x: u32) -> u32` with `$` where an expression stands.
const POSITIONS: [&str; 32] = [
    "$",
    "let own = log.guard(9); own.value() + ($)",
    "let own = log.guard(9); log.note('a'); $",
    "let (a, b) = ($, log.note('a')); a + b",
    "let a = both($, log.note('a')); a",
    "let a = Pair { a: $, b: log.note('a') }; a.a + a.b",
    "let a = [$, log.note('a')]; a[0] + a[1]",
    "let a = &($); log.note('a'); *a",
    "let a = if ($) > 1 { log.note('a') } else { log.note('b') }; a",
    "if ($) > 1 && log.note('a') == 1 || log.note('b') > 1 { log.note('c'); } else if ($) > 2 { log.note('d'); } x",
    "match $ { 0 => log.note('a'), 1 => { log.note('b') } n if n > ($) => log.note('c'), _ => $ }",
    "let a = match ($, log.note('a')) { (0, _) => 1, (n, _) => n + log.note('b') }; a",
    "if let 1..=3 = $ { log.note('a') } else if let 4 = $ { log.note('b') } else { log.note('c') }",
    "let Some(a) = Some($).filter(|a| *a > 1) else { return log.note('e') + 1 }; a + log.note('a')",
    "let mut n = 0; while n < 2 && ($) < 9 { n += 1; log.note('a'); } n",
    "let mut n = 0; while let 1..=3 = $ { n += 1; log.note('a'); if n > 1 { break; } } n",
    "let mut n = 0; for i in 0..($).min(2) { n += i + log.note('a'); } n",
    "let mut n = 0; loop { n += $; log.note('a'); if n > 3 { break n + ($); } }",
    "let f = |y: u32| both($, log.note('a')) + y; f(1) + f(2)",
    "let f = |y: u32| { let own = log.guard(9); own.value() + y + ($) }; f(1)",
    "let f = async { let own = log.guard(9); log.note('a'); own.value() + ($) }; block_on(f)",
    "let f = async { later(both($, log.note('a'))).await + log.note('b') }; block_on(f)",
    "let mut a = 1; a += $; log.note('a'); a = both(a, $); a",
    "let mut list = vec![1, 2, 3]; list[(($) % 3) as usize] = $; log.note('a'); list[0] + list[(($) % 3) as usize]",
    "let a = format!(\"{} {}\", $, log.note('a')); a.len() as u32",
    "let a = 'b: { if ($) > 2 { break 'b log.note('a'); } log.note('b') + ($) }; a",
    "let a = both({ log.note('a'); $ }, unsafe { log.note('b') }); a",
    "let f = || -> Option<u32> { let a = Some($).filter(|a| *a > 1)?; log.note('a'); Some(a) }; f().unwrap_or(0)",
    "let f = || -> Option<u32> { Some(Some($).filter(|a| *a > 1)? + x + 1) }; f().unwrap_or(0)",
    "let f = async { Vec::from([std::future::pending::<u32>().await]).len() as u32 + x + ($) }; once(f)",
    "let own = log.guard(9); if x > 2 { return both(own.value(), $); } { let inner = log.guard(8); inner.value() + ($) }",
    "let own = log.guard(9); if own.value() > x { let inner = log.guard(8); log.note('a'); inner.value() + ($) } else { $ }",
];

/// How many parts the pairs of a position and a kind are in, of which one is tried at a time: all of them take minutes.
const PARTS: u64 = 4;

/// Returns the part that a pair is in.
fn part(position: usize, kind: usize) -> u64 {
    // As random as it need be: the bits of a product.
    ((position * KINDS.len() + kind + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33 & (PARTS - 1)
}

/// Functions in which a whole statement or a parameter has temporaries.
const FUNCTIONS: [&str; 9] = [
    "fn f0(log: &Log, x: u32) -> u32 { let own = log.guard(9); for i in [log.guard(x).value(), own.value()] { log.note('a'); both(i, 1); } x }",
    "fn f1(log: &Log, x: u32) -> u32 { loops(log, x); x } fn loops(log: &Log, x: u32) { let own = log.guard(9); for i in [log.guard(x).value(), 1] { both(i, own.value()); } }",
    "fn f2(log: &Log, x: u32) -> u32 { shown(log, x); x } fn shown(log: &Log, x: u32) { let own = log.guard(9); if let Some(y) = log.guard(x).held() { both(y.value(), own.value()); } }",
    "fn f3(log: &Log, x: u32) -> u32 { takes(log.guard(1), log.guard(x), x) } fn takes(a: Guard<'_>, b: Guard<'_>, x: u32) -> u32 { both(a.value(), x) + b.value() }",
    "fn f4(log: &Log, x: u32) -> u32 { drops(log.guard(1), log.guard(x), log.guard(3)) } fn drops(a: Guard<'_>, _b: Guard<'_>, c: Guard<'_>) -> u32 { let own = a.log.guard(8); c.value() + own.value() }",
    "fn f5(log: &Log, x: u32) -> u32 { log.guard(x).by(log.guard(1)) } trait By { fn by(self, other: Self) -> u32; } impl By for Guard<'_> { fn by(self, other: Self) -> u32 { other.value() + self.value() } }",
    "fn f6(log: &Log, x: u32) -> u32 { swaps((log.guard(1), log.guard(x)), log.guard(3)) } fn swaps((a, b): (Guard<'_>, Guard<'_>), c: Guard<'_>) -> u32 { b.value() + c.value() + a.value() }",
    "fn f8(log: &Log, x: u32) -> u32 { skips(log.guard(1), log.guard(x), log.guard(3)) } fn skips(a: Guard<'_>, _: Guard<'_>, c: Guard<'_>) -> u32 { a.value() + c.value() }",
    "fn f7(log: &Log, x: u32) -> u32 { block_on(waits(log.guard(1), log.guard(x))) } async fn waits(a: Guard<'_>, b: Guard<'_>) -> u32 { later(b.value()).await + a.value() }",
];

/// Returns a file with a function for each pair of a position and a kind that is in this part, and a function `run` that calls one of them; and how
/// many inputs that has.
pub(crate) fn corpus(wanted: u64) -> (String, usize) {
    let mut file = SHARED.to_owned();
    let mut names = Vec::new();
    for (position, body) in POSITIONS.iter().enumerate() {
        for (kind, expression) in KINDS.iter().enumerate() {
            // What waits can stand in a future alone, and what has an unsafe block is as good as a plain one.
            let waits = expression.starts_with("later");
            if waits && !body.contains("async") || part(position, kind) != wanted {
                continue;
            }
            let expression = if waits { format!("{expression}.await") } else { (*expression).to_owned() };
            let body = body.replace('$', &expression);
            writeln!(file, "fn p{position}_{kind}(log: &Log, x: u32) -> u32 {{ {body} }}").expect("a string");
            names.push(format!("p{position}_{kind}"));
        }
    }
    for function in FUNCTIONS {
        writeln!(file, "{function}").expect("a string");
        names.push(function["fn ".len()..function.find('(').expect("its parameters")].to_owned());
    }
    writeln!(file, "const ALL: [(&str, fn(&Log, u32) -> u32); {}] = [", names.len()).expect("a string");
    let inputs = 4 * names.len();
    for name in names {
        writeln!(file, "    (\"{name}\", {name}),").expect("a string");
    }
    let end = "];
/// Calls one of the functions with one of four values.
pub fn run(input: u32) -> String {
    let (name, function) = ALL[input as usize / 4];
    LAST.take();
    let log = Log(RefCell::new(String::new()));
    let value = function(&log, input % 4);
    format!(\"{name} {value} {}\", log.0.borrow())
}
";
    (file + end, inputs)
}

/// Runs mutants as a person would make them: each is a function with other text, in a program without any probes.
/// Returns what they say, by mutant and input.
pub(crate) fn outcomes(
    folder: &Path,
    edition: &str,
    sites: &Sites,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> BTreeMap<(usize, usize), String> {
    let text = &sites.files[0].text;
    let (mut modules, mut calls, mut seen) = (String::new(), String::new(), BTreeSet::new());
    for (mutant, input) in pairs {
        let changed = &sites.mutants[mutant];
        let function = sites.functions[changed.function].span;
        // A line has one function, with those that it alone calls.
        let start = text[..function.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[function.end..].find('\n').map_or(text.len(), |at| function.end + at);
        let listed = text.lines().filter_map(|line| line.strip_prefix("    (\"")).nth(input / 4).expect("a function");
        let name = &listed[..listed.find('"').expect("its name")];
        if !text[start..end].starts_with(&format!("fn {name}(")) {
            continue;
        }
        if seen.insert(mutant) {
            let (before, after) = (&text[start..changed.span.start], &text[changed.span.end..end]);
            writeln!(modules, "mod m{mutant} {{ use super::*; pub {before}{}{after} }}", changed.replacement)
                .expect("a string");
        }
        writeln!(calls, "    say({mutant}, {input}, \"{name}\", m{mutant}::{name});").expect("a string");
    }
    let (program, file) = (folder.join("by-source"), folder.join("by_source.rs"));
    let main = format!(
        "fn say(mutant: usize, input: u32, name: &str, function: fn(&Log, u32) -> u32) {{
    LAST.take();
    let log = Log(RefCell::new(String::new()));
    let run = std::panic::AssertUnwindSafe(|| function(&log, input % 4));
    let said = match std::panic::catch_unwind(run) {{
        Ok(value) => format!(\"{{name}} {{value}} {{}}\", log.0.borrow()),
        Err(_) => \"panic\".to_owned(),
    }};
    println!(\"{{mutant}} {{input}} {{said}}\");
}}
fn main() {{
    std::panic::set_hook(Box::new(|_| {{}}));
{calls}}}
"
    );
    let text = &text[..text.find("const ALL").expect("the list")];
    std::fs::write(&file, format!("#![allow(warnings)]\n{text}\n{modules}\n{main}")).expect("room");
    let rustc = |command: &mut Command| {
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    rustc(
        Command::new("rustc")
            .args(["--edition", edition, "--cap-lints", "allow", "-C", "overflow-checks=on", "-o"])
            .arg(&program)
            .arg(&file),
    );
    let said = rustc(&mut Command::new(&program));
    let parse = |line: &str| {
        let mut fields = line.splitn(3, ' ');
        let mut number = || fields.next()?.parse().ok();
        Some(((number()?, number()?), fields.next()?.to_owned()))
    };
    said.lines().map(|line| parse(line).expect("a line of `say`")).collect()
}
