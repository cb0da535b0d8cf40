//! Code that is hard to instrument: closures, futures, borrows, moves, patterns, labels, operators on other types.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const LIMIT: u32 = 3 + 4;

const fn doubled(x: u32) -> u32 {
    x * 2
}

fn odd_numbers(limit: u32) -> impl Iterator<Item = u32> {
    (0..limit).filter(|x| x % 2 == 1)
}

struct Noisy<'a> {
    log: &'a mut Vec<u32>,
    drops: u32,
}

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        for round in 0..self.drops {
            self.log.push(round + 100);
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Dot,
    Line(u32),
    Box { width: u32, height: u32 },
}

fn shape(input: u32) -> Shape {
    match input % 3 {
        0 => Shape::Dot,
        1 if input > 5 => Shape::Line(input),
        1 => Shape::Line(0),
        _ => {
            let width = input;
            Shape::Box { width, height: width + 1 }
        }
    }
}

fn area(shape: &Shape) -> Option<u32> {
    let &Shape::Box { width, height } = shape else {
        return None;
    };
    Some(width * height)
}

fn twice_the_area(shape: &Shape) -> Result<u32, String> {
    let area = area(shape).ok_or_else(|| "no ".to_owned() + "area")?;
    Ok(area + area)
}

struct Stack {
    items: Vec<String>,
    name: Option<String>,
}

impl Stack {
    fn rename(&mut self, name: String) -> Option<String> {
        let before = self.name.take();
        self.name = Some(name);
        before
    }

    fn longest(&self) -> &str {
        let mut longest = "";
        for item in &self.items {
            if item.len() > longest.len() {
                longest = item;
            }
        }
        longest
    }
}

async fn add_later(a: u32, b: u32) -> u32 {
    std::future::ready(()).await;
    a + b
}

async fn waits(input: u32) -> u32 {
    let mut total = 0;
    let add = async |x: u32| add_later(x, 1).await;
    for item in 0..input {
        total += add_later(item, total).await;
        if total > 40 {
            return total;
        }
    }
    add(total).await
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

fn collatz(mut x: u32) -> u32 {
    let mut steps = 0;
    while x != 1 && steps < LIMIT {
        x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
        steps += 1;
    }
    steps
}

fn search(rows: &[Vec<u32>], wanted: u32) -> Option<(usize, usize)> {
    let mut found = None;
    'rows: for (i, row) in rows.iter().enumerate() {
        for (j, cell) in row.iter().enumerate() {
            if *cell == wanted {
                found = Some((i, j));
                break 'rows;
            }
            if *cell > wanted {
                continue 'rows;
            }
        }
    }
    found
}

fn drain(mut queue: Vec<u32>) -> u32 {
    let mut checksum = 0u32;
    while let Some(next) = queue.pop()
        && next != 9
    {
        checksum ^= next << 2;
    }
    while let Some(next) = queue.pop() {
        checksum = checksum.wrapping_mul(31) | next;
    }
    checksum
}

fn count(words: &[&str]) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word.to_string()).or_insert(0) += 1;
    }
    counts.retain(|word, n| !word.is_empty() && (*n > 1 || word.starts_with('a')));
    counts
}

fn moves(text: String, keep: bool) -> String {
    let prefix = String::from("<");
    if keep { prefix + &text + ">" } else { text }
}

fn generic<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if a < b { b } else { a }
}

/// Puts everything together.
pub fn run(input: u32) -> String {
    assert!(input < 1000, "1 + 1");
    let mut log = Vec::new();
    {
        let noisy = Noisy { log: &mut log, drops: input % 4 };
        noisy.log.push(7);
    }
    let shape = shape(input);
    let area = twice_the_area(&shape);
    let mut stack = Stack { items: vec!["a".into(), "bcd".into(), "ef".into()], name: None };
    let first = stack.rename(format!("stack {input}"));
    let second = stack.rename("other".to_string());
    let rows = vec![vec![1, 2, input], vec![input + 1, 5], vec![]];
    let odd: u32 = odd_numbers(input).map(|x| x + doubled(x)).sum();
    let ratio = f64::from(input) / 2.0 - 1.5;
    let names = (stack.longest(), first, second);
    format!(
        "{log:?} {shape:?} {area:?} {names:?} {odd} {} {} {:?} {} {:?} {} {} {ratio}",
        block_on(waits(input)),
        collatz(input + 1),
        search(&rows, 5),
        drain(vec![input, 9, 3, input + 3]),
        count(&["a", "b", "b", "", "c"]),
        moves("text".into(), input > 6),
        generic(input, 4),
    )
}
