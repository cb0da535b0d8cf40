//! Constants, wherever they can be declared and used.

use std::time::Duration;

const LIMIT: u32 = 3;

/// Changes with the limit, and has mutants of its own.
pub(crate) const SUM: u32 = LIMIT * 2 + 1;

/// Changes with the limit, and has none.
const TABLE: [u32; 2] = [LIMIT, 7];

const LONG: Duration = Duration::from_millis(25);

const LONGER: Duration = LONG.saturating_mul(2);

const RATE: f64 = 0.5;

#[cfg(not(test))]
static IS_ON: bool = true;

/// Not 0: that does not compile.
const WIDTH: std::num::NonZeroU8 = std::num::NonZeroU8::new(1).unwrap();

const UNUSED: u8 = 255;

const TEXT: &str = "text";

static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);

trait Scale {
    const FACTOR: u32 = 10;

    fn scaled(x: u32) -> u32 {
        x * Self::FACTOR
    }
}

struct Meter<const SIZE: usize>(u32);

impl<const SIZE: usize> Scale for Meter<SIZE> {}

impl<const SIZE: usize> Meter<SIZE> {
    const STEP: u32 = 2;

    fn up(&self) -> u32 {
        let steps = || self.0 + Self::STEP;
        steps() + SIZE as u32
    }
}

mod inner {
    const LIMIT: u32 = 5;

    pub fn is_above(x: u32) -> bool {
        x > LIMIT
    }
}

mod imported {
    use super::LIMIT;

    pub fn limit() -> u32 {
        LIMIT
    }
}

fn is_at_limit(x: u32) -> bool {
    assert!(x < LIMIT + 9);
    let all = [0_u8; LIMIT as usize];
    let at = matches!(x, LIMIT);
    match x {
        LIMIT => at && all.len() == 3,
        _ => false,
    }
}

fn in_place() -> &'static u32 {
    &LIMIT
}

fn first_of(table: &'static [u32]) -> u32 {
    table.iter().copied().min().unwrap_or_default()
}

fn in_static() -> &'static [u32] {
    &[LIMIT, 2]
}

fn sum_of(list: &[u32]) -> u32 {
    list.iter().sum()
}

fn own(x: u32) -> u32 {
    const BONUS: u32 = LIMIT + 1;
    let more = {
        const BONUS: u32 = 1;
        x + BONUS
    };
    if x > 5 {
        return more + BONUS;
    }
    more
}

fn hidden(x: u32) -> u32 {
    fn inside() -> u32 {
        LIMIT
    }
    use std::primitive::u32 as SUM;
    x + inside() + SUM::MIN
}

/// The constant is used when all that is the function's own has infected.
fn late(x: u32, is_second: bool) -> u32 {
    let mut sum = x + 1;
    if is_second {
        sum += SUM;
    }
    sum
}

fn long() -> u128 {
    (LONG + Duration::from_millis(1)).as_millis() + LONGER.as_millis()
}

async fn wait(x: u32) -> u32 {
    if IS_ON && x > 1 { LIMIT } else { x }
}

const fn fixed() -> u32 {
    LIMIT
}

fn now<F: Future>(future: F) -> F::Output {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!(),
    }
}

pub fn run(input: u32) -> String {
    let meter = Meter::<4>(input);
    CALLS.load(std::sync::atomic::Ordering::Relaxed);
    let fields = [
        SUM.to_string(),
        (TABLE[0] + first_of(&TABLE)).to_string(),
        long().to_string(),
        (RATE * 2.0).to_string(),
        meter.up().to_string(),
        Meter::<4>::scaled(input).to_string(),
        inner::is_above(input).to_string(),
        imported::limit().to_string(),
        is_at_limit(input % 12).to_string(),
        in_place().to_string(),
        own(input).to_string(),
        hidden(input).to_string(),
        (late(input, false) + late(input, true)).to_string(),
        now(wait(input)).to_string(),
        (sum_of(in_static()) + sum_of(&[LIMIT, input])).to_string(),
        WIDTH.get().to_string(),
        (fixed() as usize + TEXT.len()).to_string(),
    ];
    fields.join(",")
}
