//! Writes pages and pictures of histories into a folder: a small one of a register that is impossible, one that is
//! possible, and one of 10,000 calls that breaks near its end.
//!
//! `cargo run -p simutant-traces --example histories -- out/histories`

use std::fs;
use std::path::Path;

use simutant_oracle::specifications::Register;
use simutant_oracle::specifications::register::{Operation, Response};
use simutant_oracle::{Answer, Call, Check, End, History, Moment, Recorder, Session, Time};
use simutant_random::Random;
use simutant_traces::diagram::{Caption, Outcome};
use simutant_traces::history::{self, Band, Picture, Words};

type RegisterHistory = History<Operation<u32>, Response<u32>>;
type RegisterCall = Call<Operation<u32>, Response<u32>>;

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "out/histories".to_owned());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).expect("a folder can be made there");
    let words: Words<'_, Register<u32>> = Words {
        operation: &|operation| match operation {
            Operation::Read => "read".to_owned(),
            Operation::Write(value) => format!("write {value}"),
            Operation::CompareAndSet { from, to } => format!("set {from} to {to}"),
        },
        response: &|response| match response {
            Response::Value(Some(value)) => value.to_string(),
            Response::Value(None) => "nothing".to_owned(),
            Response::Done => "ok".to_owned(),
            Response::Compared(is_equal) => if *is_equal { "done" } else { "differs" }.to_owned(),
        },
        state: &|register| register.0.map_or_else(|| "no value".to_owned(), |value| format!("value {value}")),
    };
    let register = Register::default();

    let history = small();
    let explanation = Check::default().explain(&history, &register).expect("the last read is wrong");
    let mut picture = words.explained(&history, &register, &explanation);
    assert_eq!(picture.bars[explanation.stuck].operation, "read");
    picture.bands = vec![band(3_000, Some(9_500), "partition a | b, c"), band(12_000, Some(15_500), "b paused")];
    write(folder, "small", &picture, "A register that loses a write", Outcome::Failed);

    let (history, _) = drawn(40);
    let checked = Check::default().run(&history, &register);
    assert!(checked.is_possible(), "effects are within calls");
    write(folder, "possible", &words.answered(&history, &register, &checked.answer), "A register", Outcome::Passed);

    let (history, order) = drawn(10_000);
    let (history, answer) = broken(history, &order);
    let mut picture = words.answered(&history, &register, &answer);
    let middle = picture.bars[5_000].invoked.time.as_nanos();
    picture.bands =
        vec![band(middle, Some(middle + 900_000), "partition a | b"), band(middle + 600_000, None, "c is slow")];
    write(folder, "long", &picture, "10,000 calls of a register", Outcome::Failed);
    write(folder, "excerpt", &picture.excerpt(12), "Where 10,000 calls break", Outcome::Failed);
}

fn band(from: u64, to: Option<u64>, label: &str) -> Band {
    Band { from: Time::from_nanos(from), to: to.map(Time::from_nanos), label: label.to_owned() }
}

/// A history in which a read does not see the last write.
fn small() -> RegisterHistory {
    let recorder = Recorder::new();
    let at = |micros: u64| Time::from_nanos(micros * 100);
    let call = |session, operation, from, to, response| {
        let call = recorder.invoke(Session(session), operation, at(from));
        recorder.returned(call, response, at(to)).expect("it ends once");
    };
    call(1, Operation::Write(1), 0, 20, Response::Done);
    recorder.invoke(Session(4), Operation::Write(4), at(8));
    call(2, Operation::Read, 10, 45, Response::Value(Some(1)));
    call(3, Operation::Write(2), 30, 70, Response::Done);
    let refused = recorder.invoke(Session(1), Operation::CompareAndSet { from: 2, to: 3 }, at(50));
    recorder.did_not_happen(refused, at(62)).expect("it ends once");
    call(2, Operation::Read, 75, 90, Response::Value(Some(4)));
    call(3, Operation::Read, 80, 110, Response::Value(Some(4)));
    call(1, Operation::CompareAndSet { from: 4, to: 5 }, 100, 125, Response::Compared(true));
    call(2, Operation::Read, 130, 150, Response::Value(Some(2)));
    call(3, Operation::Read, 140, 170, Response::Value(Some(5)));
    recorder.history()
}

/// A history of sessions that call one after another, each call with its effect somewhere within, and the order of the
/// effects.
fn drawn(calls: usize) -> (RegisterHistory, Vec<usize>) {
    const SESSIONS: usize = 12;
    let mut random = Random::from_seed(7);
    let mut free = [0_u64; SESSIONS];
    let mut drawn: Vec<(u64, RegisterCall)> = Vec::new();
    let moment = |nanos| Moment::from(Time::from_nanos(nanos));
    for number in 0..calls as u32 {
        let session = random.uniform(0..SESSIONS as u64);
        let free = &mut free[session as usize];
        let (from, length) = (*free + random.uniform(100..=2_000_u64), random.uniform(500..=4_000_u64));
        *free = from + length;
        let operation = if random.uniform(0..3_u64) == 0 { Operation::Write(number) } else { Operation::Read };
        let end = match random.uniform(0..100_u64) {
            0 => End::Unknown,
            1 | 2 => End::DidNotHappen { at: moment(from + length) },
            _ => End::Returned { at: moment(from + length), response: Response::Done },
        };
        drawn.push((from + random.uniform(1..length), Call::new(Session(session), operation, moment(from), end)));
    }
    drawn.sort_by_key(|(effect, _)| *effect);
    let mut value = None;
    for (_, Call { operation, end, .. }) in &mut drawn {
        match (operation, end) {
            (_, End::DidNotHappen { .. }) => {}
            (Operation::Write(written), _) => value = Some(*written),
            (_, End::Returned { response, .. }) => *response = Response::Value(value),
            _ => {}
        }
    }
    let by_effect: Vec<_> = drawn.into_iter().map(|(_, call)| call).collect();
    let history = History::from_calls(by_effect.clone()).expect("calls end later");
    let place = |call| history.calls().iter().position(|other| other == call).expect("it is there");
    let order = by_effect.iter().filter(|call| !matches!(call.end, End::DidNotHappen { .. })).map(place).collect();
    (history, order)
}

/// Makes a late read wrong, and returns the order up to it: no check is needed to know it.
fn broken(history: RegisterHistory, order: &[usize]) -> (RegisterHistory, Answer) {
    let mut calls = history.into_calls();
    let from = order.len() * 9 / 10;
    let is_read = |call: &RegisterCall| matches!(call.end, End::Returned { response: Response::Value(_), .. });
    let at = (from..order.len()).find(|&at| is_read(&calls[order[at]])).expect("there are reads");
    let stuck = order[at];
    if let End::Returned { response, .. } = &mut calls[stuck].end {
        *response = Response::Value(Some(3));
    }
    let history = History::from_calls(calls).expect("calls end later");
    (history, Answer::Impossible { longest: order[..at].to_vec(), stuck })
}

fn write(folder: &Path, name: &str, picture: &Picture, title: &str, outcome: Outcome) {
    let verdict = match outcome {
        Outcome::Passed => "linearizable",
        Outcome::Failed => "not linearizable",
        Outcome::Unknown => "",
    };
    let caption = Caption { title: title.to_owned(), verdict: verdict.to_owned(), outcome };
    let path = |extension: &str| folder.join(format!("{name}.{extension}"));
    fs::write(path("html"), history::html(picture, &caption)).expect("there is room");
    fs::write(path("svg"), history::svg(picture, &caption)).expect("there is room");
}
