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

    fn last(&mut self) -> Option<&mut String> {
        self.items.last_mut()
    }

    fn either<'a>(&'a mut self, other: &'a mut Self, is_first: bool) -> &'a mut Vec<String> {
        if is_first { &mut self.items } else { &mut other.items }
    }

    fn prefixed(&self) -> Box<dyn Fn(usize) -> String + '_> {
        Box::new(move |times| self.items[0].repeat(times + 1))
    }
}

/// Functions whose results borrow from their arguments, or from what these refer to.
fn borrowed(input: u32) -> String {
    let mut one = Stack { items: vec!["x".into()], name: None };
    let mut two = Stack { items: vec!["y".into(), "z".into()], name: None };
    if let Some(last) = one.last() {
        last.push('!');
    }
    one.either(&mut two, input > 3).push("w".into());
    format!("{:?} {:?} {}", one.items, two.items, two.prefixed()(input as usize))
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

/// Equality that does not see everything.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    time: u32,
    author: u32,
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time
    }
}

impl std::ops::Add<u32> for Stamp {
    type Output = Self;

    fn add(self, author: u32) -> Self {
        Self { author: self.author + author, ..self }
    }
}

impl std::ops::Sub<u32> for Stamp {
    type Output = Self;

    fn sub(self, author: u32) -> Self {
        Self { author: self.author.wrapping_sub(author), ..self }
    }
}

struct Queue {
    items: Vec<u32>,
}

impl Queue {
    /// A method of the specification with the name of a harmless one.
    fn is_empty(&self) -> bool {
        for _ in &self.items {
            return false;
        }
        true
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Closed,
}

fn next(state: State, input: u32) -> State {
    if state == State::Open && input > 3 {
        State::Closed
    } else if let Some(1) = input.checked_sub(4) {
        State::Open
    } else {
        state
    }
}

fn note(log: &mut Vec<u32>, message: Option<u32>) {
    match message {
        Some(n) if n > 9 => log.clear(),
        Some(n) => log.push(n),
        None => while log.len() > 1 { log.pop(); },
    }
    if log.len() > 2 {
        log.push(1)
    } else if let Some(last) = log.last_mut() {
        *last += 1;
    }
    [Some(1), None].into_iter().for_each(|item| if let Some(item) = item { log.push(item) });
}

fn assigned_later(input: u32) -> u32 {
    let step;
    if input > 4 {
        step = input + 1;
    } else {
        step = input * 2;
    }
    step + 3
}

fn pairs(list: &[Option<u32>]) -> u32 {
    let mut total = 0;
    for i in 0..list.len() {
        let Some(x) = list[i] else {
            continue;
        };
        total += match x {
            0 => continue,
            1 if i > 0 => 10 + x,
            _ => x,
        };
    }
    total
}

fn polled(input: u32) -> Poll<Result<u32, String>> {
    let ready: Poll<Result<u32, String>> = if input > 2 { Poll::Ready(Ok(input)) } else { Poll::Pending };
    let value = ready?;
    Poll::Ready(Ok(match value {
        Poll::Ready(value) => value + 1,
        Poll::Pending => 0,
    }))
}

fn outer(input: u32) -> u32 {
    fn inner(mut n: u32) -> u32 {
        while n > 10 {
            n -= 3;
        }
        n
    }
    inner(input * 5) + 1
}

/// What a small simulation is made of: messages, a clock, timers, states, retries, chance.
mod engine {
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll};

    pub type Time = u64;
    pub type Duration = u64;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct TimedOut;

    /// An engine in which each wait ends at once.
    #[derive(Default)]
    pub struct Engine {
        clock: Cell<Time>,
        mail: RefCell<VecDeque<(u8, super::Message)>>,
        draws: Cell<u32>,
        timers: RefCell<Vec<Time>>,
    }

    impl Engine {
        pub fn now(&self) -> Time {
            self.clock.get()
        }

        pub fn send(&self, to: u8, message: super::Message) {
            self.mail.borrow_mut().push_back((to, message));
        }

        pub async fn recv(&self) -> (u8, super::Message) {
            let next = self.mail.borrow_mut().pop_front();
            next.unwrap_or((0, super::Message::Stop))
        }

        pub async fn recv_timeout(&self, timeout: Duration) -> Result<(u8, super::Message), TimedOut> {
            let next = self.mail.borrow_mut().pop_front();
            if next.is_none() {
                self.clock.set(self.now() + timeout);
            }
            next.ok_or(TimedOut)
        }

        pub async fn sleep(&self, delay: Duration) {
            self.clock.set(self.now() + delay);
        }

        pub fn set_timer(&self, at: Time) {
            self.timers.borrow_mut().push(at);
        }

        pub fn cancel(&self) {
            self.timers.borrow_mut().pop();
        }

        pub fn timers(&self) -> Vec<Time> {
            self.timers.borrow().clone()
        }

        pub fn chance(&self, probability: f64) -> bool {
            self.draws.set(self.draws.get() * 5 % 7 + 1);
            f64::from(self.draws.get()) / 8.0 < probability
        }
    }

    pub enum Either2<A, B> {
        First(A),
        Second(B),
    }

    pub async fn select<A: Future, B: Future>(futures: (A, B)) -> Either2<A::Output, B::Output> {
        let (one, other) = futures;
        let (mut one, mut other) = (pin!(one), pin!(other));
        std::future::poll_fn(move |task: &mut Context<'_>| {
            fn poll<F: Future>(future: Pin<&mut F>, task: &mut Context<'_>) -> Poll<F::Output> {
                future.poll(task)
            }
            if let Poll::Ready(value) = poll(one.as_mut(), task) {
                return Poll::Ready(Either2::First(value));
            }
            poll(other.as_mut(), task).map(Either2::Second)
        })
        .await
    }
}

use engine::{Either2, Engine, select};

#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    Ping(u8),
    Pong(u8),
    Text(String),
    Stop,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Waiting,
    Talking,
    Over,
}

struct Header {
    from: u8,
    to: u8,
    seq: u32,
    ack: u32,
}

fn header(from: u8, to: u8, seq: u32) -> Header {
    Header { from, to, seq, ack: seq + 1 }
}

const TIMEOUT: u64 = 20;
const TRIES: u32 = 3;

struct Talker {
    phase: Phase,
    deadline: Option<u64>,
    attempts: u32,
    backoff: u64,
    generation: u32,
    peers: Vec<u8>,
    order: Vec<String>,
}

fn phase_after(input: u32) -> Phase {
    match input {
        0..=2 => Phase::Waiting,
        3 => Phase::Talking,
        n if n > 8 => Phase::Over,
        _ => Phase::Talking,
    }
}

impl Talker {
    async fn talk(&mut self, engine: &Engine, me: u8, other: u8) {
        for peer in &self.peers {
            engine.send(*peer, Message::Ping(me));
        }
        engine.send(other, Message::Text("hello".to_owned()));
        let text = Message::Text(format!("{me}"));
        engine.send(other, text);
        self.phase = Phase::Talking;
        self.deadline = Some(engine.now() + TIMEOUT);
        engine.set_timer(engine.now() + TIMEOUT);
        for _ in 0..TRIES * 4 {
            match engine.recv_timeout(self.backoff).await {
                Ok((to, Message::Ping(n))) if to == me || n > 3 => {
                    engine.send(to, Message::Pong(n));
                    self.attempts = 0;
                    engine.cancel();
                }
                Ok((to, message)) => self.order.push(format!("{to} {message:?}")),
                Err(_) => {
                    self.attempts += 1;
                    self.backoff *= 2;
                    if self.attempts >= TRIES {
                        break;
                    }
                    continue;
                }
            }
        }
        engine.sleep(self.backoff).await;
        match select((engine.recv(), engine.recv())).await {
            Either2::First((to, message)) => self.order.push(format!("first {to} {message:?}")),
            Either2::Second((to, _)) => self.order.push(format!("second {to}")),
        }
    }

    fn fire(&mut self, generation: u32, engine: &Engine) -> Result<u32, String> {
        if generation == self.generation {
            self.deadline = None;
            self.order.clear();
        }
        if engine.chance(0.1) {
            return Err("lost".to_owned());
        }
        self.phase = phase_after(generation);
        Ok(self.attempts | generation << 1 ^ 6)
    }
}

fn ordered(input: u32) -> Vec<(u64, u32)> {
    let mut heap = std::collections::BinaryHeap::new();
    for seq in 0..=input.min(4) {
        let time = u64::from(seq % 2);
        heap.push(std::cmp::Reverse((time, seq)));
    }
    let mut order = Vec::new();
    while let Some(std::cmp::Reverse(next)) = heap.pop() {
        order.push(next);
    }
    order.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(&b.0)));
    order
}

fn sliced(list: &[u32], input: u32) -> (u32, bool) {
    let middle = &list[1..3];
    let inside = (2..5).contains(&input);
    let odd: u32 = (0..input).filter(|x| x % 2 == 1).sum();
    let first = 'search: {
        for item in middle {
            if *item > input {
                break 'search *item;
            }
        }
        list.iter().copied().max().unwrap_or(0)
    };
    (first + odd, inside && middle.first().is_some())
}

fn simulated(input: u32) -> String {
    let engine = Engine::default();
    let peers = vec![1, 2, (input % 5) as u8];
    let mut talker = Talker {
        phase: Phase::Waiting,
        deadline: None,
        attempts: 0,
        backoff: 4,
        generation: input / 2 * 2,
        peers,
        order: Vec::new(),
    };
    block_on(talker.talk(&engine, 1, 2));
    let fired = talker.fire(input, &engine);
    let Header { from, to, seq, ack } = header(3, 4, input);
    let rest = block_on(async { engine.recv().await });
    format!(
        "{:?} {:?} {} {} {:?} {fired:?} {from} {to} {seq} {ack} {rest:?} {:?} {} {:?} {:?}",
        talker.phase,
        talker.deadline,
        talker.attempts,
        talker.backoff,
        talker.order,
        engine.timers(),
        engine.now(),
        ordered(input),
        sliced(&[4, 5, 6, 7], input),
    )
}

fn more(input: u32) -> String {
    let stamp = Stamp { time: 1, author: input } + 1;
    let queue = Queue { items: vec![input; (input % 3) as usize] };
    let idle = input > 4 && queue.is_empty();
    let float = f64::from(input) % 2.0;
    let state = next(next(State::Open, input), input + 1) == State::Closed;
    let mut log = vec![input];
    note(&mut log, Some(input));
    note(&mut log, None);
    let pairs = pairs(&[Some(input), None, Some(1), Some(0)]);
    let parts = (assigned_later(input), polled(input), outer(input), simulated(input));
    let borrowed = borrowed(input);
    format!("{stamp:?} {idle} {float:?} {state} {log:?} {pairs} {parts:?} {borrowed}")
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
    ) + &more(input) + &block_on(raced(input)) + &block_on(started(input)) + &caught(input) + &remembered(input) + &fired(input) + &constant(input) + &unnamed(input)
}

/// As those that others wrote: branches by tokens.
macro_rules! select {
    ($a:pat = $one:expr => $x:expr, $b:pat = $other:expr => $y:expr $(,)?) => {
        match select(($one, $other)).await {
            Either2::First($a) => $x,
            Either2::Second($b) => $y,
        }
    };
    ($a:pat = $only:expr => $x:expr $(,)?) => {{
        let $a = $only.await;
        $x
    }};
}

/// Tasks that run when they are asked to.
#[derive(Default)]
struct Tasks(std::cell::RefCell<Vec<std::pin::Pin<Box<dyn Future<Output = ()>>>>>);

impl Tasks {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.borrow_mut().push(Box::pin(task));
    }

    fn run(&self) {
        let tasks = self.0.take();
        tasks.into_iter().for_each(block_on);
    }
}

async fn post(engine: std::rc::Rc<Engine>, number: u8) {
    engine.send(number, Message::Ping(number));
}

/// Tasks with a context of their own, as engines give them.
#[derive(Default)]
struct Children(Tasks);

impl Children {
    fn spawn<F: Future<Output = ()> + 'static>(&self, body: impl FnOnce(u8) -> F) {
        self.0.spawn(body(0));
    }
}

async fn tell(engine: std::rc::Rc<Engine>, words: Vec<String>) {
    words.into_iter().for_each(|word| engine.send(1, Message::Text(word)));
}

/// What a task of its own takes with it is used later, by the original and by mutants.
async fn started(input: u32) -> String {
    let (engine, children) = (std::rc::Rc::new(Engine::default()), Children::default());
    let words = vec![input.to_string()];
    let other = engine.clone();
    children.spawn(|number| post(other, number + 5));
    tell(engine.clone(), words.clone()).await;
    let count = words.len() + 1;
    let (_, message) = engine.recv().await;
    children.0.run();
    format!(" {message:?} {count} {words:?}")
}

async fn raced(input: u32) -> String {
    let (engine, tasks) = (std::rc::Rc::new(Engine::default()), Tasks::default());
    let number = (input % 3) as u8;
    tasks.spawn(post(engine.clone(), number));
    post(engine.clone(), 7).await;
    engine.sleep(2).await;
    let mut heard = Vec::new();
    select! {
        (to, message) = engine.recv() => heard.push(format!("{to} {message:?}")),
        () = engine.sleep(3) => heard.push("slept".to_owned()),
    }
    tasks.run();
    let last = engine.recv().await;
    format!(" {heard:?} {last:?} {}", engine.now())
}

/// What a component keeps over a crash.
#[derive(Default)]
struct Disk(std::cell::RefCell<Option<u32>>);

impl Disk {
    fn durable(&self, _: &str, initial: impl FnOnce() -> u32) -> u32 {
        *self.0.borrow_mut().get_or_insert_with(initial)
    }

    fn durable_anew(&self, _: &str, initial: impl FnOnce() -> u32) -> u32 {
        *self.0.borrow_mut().insert(initial())
    }
}

fn remembered(input: u32) -> String {
    let disk = Disk::default();
    let first = disk.durable("log", || input);
    format!(" {first} {}", disk.durable("log", || 7))
}

/// A place as those of `simutant_nets`.
#[derive(Clone, Copy)]
struct Tokens(u32);

struct Inputs(bool);

struct Output(u32);

impl Tokens {
    fn take(self) -> Inputs {
        Inputs(self.0 > 1)
    }

    fn keep(self) -> Inputs {
        Inputs(self.0 > 0)
    }

    fn put(self) -> Output {
        Output(self.0 + 1)
    }
}

impl Inputs {
    fn unless_marked(self, place: Tokens) -> Self {
        Self(self.0 && place.0 == 0)
    }
}

impl Output {
    fn times(self, count: u32) -> Self {
        Self(self.0 * count)
    }
}

fn fired(input: u32) -> String {
    let ready: Tokens = Tokens(input);
    let done: Tokens = Tokens(input / 2);
    let Inputs(is_taken) = ready.take().unless_marked(done);
    let Inputs(is_kept) = done.keep();
    let Output(count) = done.put();
    format!(" {is_taken} {is_kept} {count}")
}

fn share(whole: u32, parts: u32) -> u32 {
    let each = whole / parts;
    each + whole % 3
}

/// The original panics on every third input, where most of its mutants do not.
fn caught(input: u32) -> String {
    std::panic::catch_unwind(|| share(input, input % 3)).map_or(" nothing".into(), |each| format!(" {each}"))
}

/// Const functions: constants need some of them, by their path, through others, in the length of an array.
struct Grid<const N: usize> {
    cells: [u32; N],
}

const fn half(x: usize) -> usize {
    x / 2
}

impl<const N: usize> Grid<N> {
    const ROWS: usize = Self::rows(N);

    const fn rows(cells: usize) -> usize {
        half(cells) + 1
    }

    pub const fn new(first: u32) -> Self {
        let mut cells = [0; N];
        cells[0] = first;
        Self { cells }
    }

    #[inline]
    const unsafe fn at(&self, index: usize) -> u32 {
        self.cells[index % N]
    }

    const fn raised(mut self, by: u32) -> Self {
        let mut index = 0;
        while index < N {
            self.cells[index] += by;
            index += 1;
        }
        self
    }
}

fn constant(input: u32) -> String {
    let room = [1_u8; half(8)];
    let grid = Grid::<4>::new(input).raised(2);
    format!(" {} {} {}", Grid::<4>::ROWS, room.len(), unsafe { grid.at(input as usize) })
}

/// Functions whose results have types without a name.
fn evens(numbers: &[u32], from: u32) -> impl DoubleEndedIterator<Item = &u32> + Clone + '_ {
    let mut start = 0;
    for (index, number) in numbers.iter().enumerate() {
        if *number > from {
            start = index;
            break;
        }
    }
    numbers[start..].iter().filter(move |number| **number % 2 == 0)
}

fn early(limit: u32) -> impl Iterator<Item = u32> {
    let one = move |x: &u32| *x != limit;
    if limit > 5 {
        return (0..5).filter(one);
    }
    let more = (limit..limit + 1).map(|x| { if x > 1 { return 2; } x }).sum::<u32>();
    (0..limit + more).filter(one)
}

fn adds(by: u32) -> impl Fn(u32) -> u32 {
    let more = by + 1;
    move |x| x + more
}

fn later(x: u32) -> impl Future<Output = u32> + Send {
    let more = x + 1;
    async move { std::future::ready(more).await * 2 }
}

fn parsed(text: &str) -> Result<impl Iterator<Item = u32>, std::num::ParseIntError> {
    let number: u32 = text.parse()?;
    if number == 3 {
        return Ok((0..1).map(3_u32.wrapping_add(number).adder()));
    }
    Ok((0..number).map(number.adder()))
}

trait Adder {
    fn adder(self) -> impl Fn(u32) -> u32;
}

impl Adder for u32 {
    fn adder(self) -> impl Fn(u32) -> u32 {
        move |x| x + self
    }
}

fn listed(input: u32) -> impl IntoIterator<Item = u32> {
    if input > 3 { vec![input, 1] } else { vec![2] }
}

/// What it returns can do more than iterators can.
fn written() -> impl std::fmt::Write {
    String::from("w")
}

fn unnamed(input: u32) -> String {
    let numbers = [input, 2, 5, 8];
    let evens: Vec<&u32> = evens(&numbers, 4).rev().collect();
    let parsed = parsed(&format!("{}", input % 5)).map_or(0, |all| all.sum::<u32>());
    let listed: Vec<u32> = listed(input).into_iter().collect();
    std::fmt::Write::write_str(&mut written(), "x").expect("there is room");
    let turned = turned(if input > 4 { Turn::Left } else { Turn::Right }, Turn::Left);
    let taken = taken(input);
    format!(
        " {evens:?} {} {} {} {parsed} {listed:?} {turned} {taken}",
        early(input).sum::<u32>(),
        adds(input)(3),
        block_on(later(input))
    )
}

/// Without an order.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Left,
    Right,
}

fn turned(one: Turn, other: Turn) -> u32 {
    let is_same = one == other;
    if one != Turn::Right { 1 + u32::from(is_same) } else { 3 }
}

/// One deletion of many leaves a variable without its value, and another one moves a value twice.
fn taken(input: u32) -> String {
    let text;
    let mut count = input + 1;
    if input > 3 {
        count += 2;
        text = "many".to_owned();
    } else {
        count *= 2;
        text = "few".to_owned();
    }
    let kept = if count > 8 { text } else { let mut text = text; text.push('!'); text };
    let Some(first) = kept.chars().next() else {
        return String::new();
    };
    format!("{kept}{first}{count}")
}
