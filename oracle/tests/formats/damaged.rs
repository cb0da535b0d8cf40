//! Damaged files of bounded size: no panic, and an error with its place.

use proptest::prelude::*;
use simutant_oracle::formats::{self, Format, HistoryError, Value, edn, json_lines};
use simutant_oracle::specifications::{KeyValueStore, Log, Queue, Register, Set};

use crate::round_trips::{history, of_a_register};
use crate::seeded;

/// The largest file.
const SIZE_MAX: usize = 4 << 10;

/// Small files of every format.
fn seed() -> impl Strategy<Value = Vec<u8>> {
    let fixed = [
        "[{:process 0, :type :invoke, :f :append, :key \"a\", :value \"x\\u00e9\"} #t #{1 2} ; c\n#_ 5 \\newline ##Inf]",
        "[{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"value\":[1,-2.5e3,null,true,\"\\ud83d\\ude00\"]}]",
        "INFO  jepsen.util - 0\t:invoke\t:cas\t[1 2]\nINFO  jepsen.util - 0\t:fail\t:cas\t[1 2]\n",
        "# @object atomic-queue\n[1] call enq(3)\n[2] call deq\n[1] return\n[2] return 3\n",
        "# set\ninsert 3 1 10 20\ncontains 3 0 11 12\n",
        "# queue\nenq 3 10 20\ndeq -1 1 2\n",
    ];
    let lines = |history: &_| {
        let mut bytes = Vec::new();
        json_lines::write(history, &mut bytes).expect("memory takes all");
        bytes
    };
    let maps = |history: &_| {
        let mut bytes = Vec::new();
        edn::write::<Register<Value>>(history, &mut bytes).expect("all has a form");
        bytes
    };
    prop_oneof![
        prop::sample::select(fixed.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        history(of_a_register()).prop_map(move |history| lines(&history)),
        history(of_a_register()).prop_map(move |history| maps(&history)),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

/// What happens to a file.
#[derive(Debug, Clone)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize, usize),
    Insert(prop::sample::Index, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = || any::<prop::sample::Index>();
    let words = ["[", "]", "{", "}", "#", "\"", "\\", ":", "nil", "999999999999999999999", "\n", "(", "\\u", "#_", "^"];
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        place().prop_map(Damage::Cut),
        (place(), 1..30_usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        (place(), 1..60_usize, 1..200_usize).prop_map(|(at, count, times)| Damage::Repeat(at, count, times)),
        (place(), prop::sample::select(words.to_vec())).prop_map(|(at, word)| Damage::Insert(at, word)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match *damage {
            Damage::Flip(at, byte) => bytes[at.index(length)] = byte,
            Damage::Cut(at) => bytes.truncate(at.index(length)),
            Damage::Remove(at, count) => {
                let at = at.index(length);
                bytes.drain(at..length.min(at + count));
            }
            Damage::Repeat(at, count, times) => {
                let at = at.index(length);
                let part = bytes[at..length.min(at + count)].repeat(times);
                bytes.splice(at..at, part);
            }
            Damage::Insert(at, word) => {
                let at = at.index(length);
                bytes.splice(at..at, word.bytes());
            }
        }
        bytes.truncate(SIZE_MAX);
    }
    bytes
}

/// Checks that a file has fewer calls than bytes, or an error that has its place.
fn is_handled<C>(bytes: &[u8], read: Result<Vec<C>, HistoryError>) -> Result<(), TestCaseError> {
    match read {
        Ok(calls) => prop_assert!(calls.len() <= bytes.len()),
        Err(HistoryError::NotACall { line, column, message, cure }) => {
            let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            prop_assert!(line >= 1 && line <= lines.len(), "line {}", line);
            prop_assert!(column >= 1 && column <= lines[line - 1].len() + 1, "line {}, column {}", line, column);
            prop_assert!(message.chars().count() + cure.chars().count() < 600, "{}; {}", message, cure);
        }
        Err(error) => prop_assert!(false, "{}", error),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..seeded() })]

    #[test]
    fn every_reader_handles_every_file(
        bytes in seed(),
        damages in prop::collection::vec(damage(), 0..4),
    ) {
        let bytes = damaged(bytes, &damages);
        formats::detect(None, &bytes);
        for format in Format::ALL {
            is_handled(&bytes, formats::read::<Register<Value>>(format, &bytes[..]).map(|read| read.into_calls()))?;
            is_handled(&bytes, formats::read::<KeyValueStore>(format, &bytes[..]).map(|read| read.into_calls()))?;
            is_handled(&bytes, formats::read::<Queue<Value>>(format, &bytes[..]).map(|read| read.into_calls()))?;
            is_handled(&bytes, formats::read::<Set<Value>>(format, &bytes[..]).map(|read| read.into_calls()))?;
            is_handled(&bytes, formats::read::<Log<Value>>(format, &bytes[..]).map(|read| read.into_calls()))?;
        }
    }
}
