//! Runs in an eighth of the bytes that their text has, for journals and results of many million of them. SQL cannot read
//! this form.
//!
//! A run is its numbers one after the other, seven bits a byte, the lowest first (LEB128): the mutant, less the mutant
//! before it; the cause, with a bit for divergence and one for whether it says what it cost; the reason, events, steps and
//! functions; what it cost. Many mutants of one function end alike, so their rows are the same bytes, which zlib
//! (RFC 1950) finds: 3.8 bytes a run on 200 test cases of `dns`, where columns, one after the other, have 4.5.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use simutant_outcomes::MutantNumber;
use simutant_protocol::Spent;

use super::runs::{StoredRun, cause_number, cause_of};

/// A run is no longer: eight numbers of ten bytes.
const RUN_BYTES_MAX: usize = 80;
/// Bits beside the number of the cause.
const DIVERGED: u64 = 1;
const SPENT: u64 = 2;
const CAUSE_SHIFT: u32 = 2;

/// Returns runs, which are in the order of mutants, packed.
pub(crate) fn pack(runs: &[StoredRun]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 * runs.len());
    let mut before = 0;
    for &StoredRun { mutant, cause, diverged, reason, events, steps, entered, spent } in runs {
        put(&mut bytes, u64::from(mutant.checked_sub(before).expect("runs are in the order of mutants")));
        before = mutant;
        let cause = cause_number(cause).cast_unsigned() << CAUSE_SHIFT;
        put(&mut bytes, cause | if diverged { DIVERGED } else { 0 } | if spent.is_some() { SPENT } else { 0 });
        [reason.cast_unsigned(), events, steps, entered].into_iter().for_each(|number| put(&mut bytes, number));
        if let Some(Spent { messages, virtual_time_ns }) = spent {
            [messages, virtual_time_ns].into_iter().for_each(|number| put(&mut bytes, number));
        }
    }
    deflated(&bytes)
}

/// Returns bytes in the zlib format.
pub(crate) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes all that is written")
}

/// Returns the runs in what [`pack`] returned, each on another one of so many mutants, in their order. Bytes that come
/// from elsewhere take no more memory than these runs may.
pub(crate) fn unpack(packed: &[u8], mutants: usize) -> Result<Vec<StoredRun>, String> {
    let bytes = inflated(packed, mutants.saturating_mul(RUN_BYTES_MAX) as u64).ok_or("they cannot be read")?;
    let mut rest = Numbers(&bytes);
    let mut runs: Vec<StoredRun> = Vec::new();
    while !rest.0.is_empty() {
        let before = runs.last().map(|run| run.mutant);
        let run = rest.run(before).map_err(|error| format!("number {} is not a run: {error}", runs.len()))?;
        if run.mutant as usize >= mutants {
            return Err(format!("there is no mutant {}", run.mutant));
        }
        runs.push(run);
    }
    Ok(runs)
}

/// Returns what was [`deflated`]; `None` for what was not, and for more than so many bytes.
pub(crate) fn inflated(deflated: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(deflated).take(most.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// What is left of the numbers.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn run(&mut self, before: Option<MutantNumber>) -> Result<StoredRun, String> {
        let difference = self.number()?;
        if before.is_some() && difference == 0 {
            return Err("its mutant has one".to_owned());
        }
        let mutant = u64::from(before.unwrap_or(0)).checked_add(difference);
        let mutant = mutant.and_then(|mutant| MutantNumber::try_from(mutant).ok());
        let mutant = mutant.ok_or_else(|| format!("there is no mutant {difference} after the one before"))?;
        let end = self.number()?;
        let cause = cause_of((end >> CAUSE_SHIFT).cast_signed())?;
        let [reason, events, steps, entered] = [self.number()?, self.number()?, self.number()?, self.number()?];
        let spent = match end & SPENT {
            0 => None,
            _ => Some(Spent { messages: self.number()?, virtual_time_ns: self.number()? }),
        };
        let (reason, diverged) = (reason.cast_signed(), end & DIVERGED != 0);
        Ok(StoredRun { mutant, cause, diverged, reason, events, steps, entered, spent })
    }

    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or("it ends too early")?;
            self.0 = rest;
            let digits = u64::from(byte & 0x7f);
            if digits << shift >> shift != digits {
                break;
            }
            number |= digits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number is too large".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use simutant_outcomes::Cause;

    use super::*;

    fn run() -> impl Strategy<Value = StoredRun> {
        let cause = (0..=Cause::ALL.len()).prop_map(|number| Cause::ALL.get(number).copied());
        let number = || prop_oneof![0..200_u64, any::<u64>(), Just(u64::MAX)];
        let spent = proptest::option::of((number(), number()));
        let numbers = (any::<i64>(), number(), number(), number());
        (0..3_u32, cause, any::<bool>(), numbers, spent).prop_map(
            |(mutant, cause, diverged, (reason, events, steps, entered), spent)| StoredRun {
                mutant,
                cause,
                diverged,
                reason,
                events,
                steps,
                entered,
                spent: spent.map(|(messages, virtual_time_ns)| Spent { messages, virtual_time_ns }),
            },
        )
    }

    /// Runs in the order of mutants, of which each has one at most.
    fn runs() -> impl Strategy<Value = Vec<StoredRun>> {
        proptest::collection::vec(run(), 0..20).prop_map(|mut runs| {
            let mut next = 0;
            for run in &mut runs {
                run.mutant += next;
                next = run.mutant + 1;
            }
            runs
        })
    }

    /// More than any run here is on.
    const MUTANTS: usize = 1_000;

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn runs_come_back_as_they_were(runs in runs()) {
            let packed = pack(&runs);
            prop_assert_eq!(unpack(&packed, MUTANTS), Ok(runs));
        }

        #[test]
        fn a_part_of_runs_is_an_error_or_the_first_of_them(runs in runs(), keep: prop::sample::Index) {
            let bytes = inflated(&pack(&runs), u64::MAX).expect("it is whole");
            let length = keep.index(bytes.len() + 1);
            if let Ok(read) = unpack(&deflated(&bytes[..length]), MUTANTS) {
                prop_assert!(runs.starts_with(&read));
                prop_assert_eq!(read.len() == runs.len(), length == bytes.len());
            }
        }

        #[test]
        fn a_part_of_what_is_packed_is_an_error(runs in runs(), keep: prop::sample::Index) {
            let packed = pack(&runs);
            prop_assert!(unpack(&packed[..keep.index(packed.len())], MUTANTS).is_err());
        }

        #[test]
        fn anything_can_be_read_without_a_panic(bytes: Vec<u8>) {
            _ = unpack(&bytes, MUTANTS);
            if let Ok(runs) = unpack(&deflated(&bytes), MUTANTS) {
                prop_assert!(runs.is_sorted_by(|run, next| run.mutant < next.mutant));
                prop_assert!(runs.iter().all(|run| (run.mutant as usize) < MUTANTS));
            }
        }
    }

    #[test]
    fn what_is_damaged_is_told() {
        let error = |bytes: &[u8]| unpack(bytes, 2).expect_err("it is damaged");
        assert_eq!(error(&[0]), "they cannot be read");
        assert_eq!(error(&deflated(&[1, 0])), "number 0 is not a run: it ends too early");
        assert_eq!(error(&deflated(&[0xff; 11])), "number 0 is not a run: a number is too large");
        assert_eq!(error(&deflated(&[1, 200, 1, 1, 1, 1, 1])), "number 0 is not a run: a cause with the number 50");
        assert_eq!(
            error(&deflated(&[0xff, 0xff, 0xff, 0xff, 0x1f, 0])),
            "number 0 is not a run: there is no mutant 8589934591 after the one before"
        );
        assert_eq!(error(&deflated(&[2, 0, 1, 1, 1, 1])), "there is no mutant 2");
        assert_eq!(
            error(&deflated(&[1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1])),
            "number 1 is not a run: its mutant has one"
        );
        // A few bytes that would be a gibibyte.
        assert_eq!(error(&deflated(&vec![0; 1 << 20])), "they cannot be read");
    }
}
