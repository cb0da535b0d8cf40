//! One run, from the test case to a verdict with its reason.

use std::panic::{AssertUnwindSafe, catch_unwind};

use simutant_outcomes::{Cause, Execution, MutantNumber, RunEnd};
use simutant_probe as probe;
use simutant_protocol::{ChoiceRecording, Recorded, RunLimits, Simulated, Sizes, Spent, TraceRecording, TraceText};
use simutant_sim_core::{Divergence, Ended, LimitReached, Report, Violation, Wait, WaitSubject};

use crate::memory::{self, Watch};
use crate::panics;
use crate::system::{Case, Wanted};
use crate::traced::Traced;

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The system as it was written.
    Original,
    /// The same, and the probes record.
    Recorded(probe::RecordingSizes),
    /// The same, chosen among its mutants by each function that has some.
    Chosen,
    /// One mutant.
    Mutant(MutantNumber),
}

/// What is known of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) execution: Execution,
    /// Whether the mutated place was executed.
    pub(crate) mutant_reached: bool,
    /// The functions that were called, in the form of [`probe::take_entered`].
    pub(crate) entered: u64,
    recording: Option<probe::Recording>,
    /// The most memory that it had in use, in bytes; only of the original.
    memory_bytes: u64,
    /// `None` if the configuration did not come as far as a simulation.
    report: Option<Report>,
}

/// Runs `case` on `subject`; whatever unwinds is caught.
pub(crate) fn run(case: &dyn Case, limits: RunLimits, subject: Subject, wanted: &Wanted) -> Ran {
    panics::forget();
    match subject {
        Subject::Original => probe::start_clean(limits.steps),
        Subject::Recorded(sizes) => probe::start_recording(limits.steps, sizes),
        Subject::Chosen => probe::start_choosing(limits.steps),
        Subject::Mutant(number) => probe::start_mutant(number, limits.steps),
    }
    let watch = match subject {
        Subject::Mutant(_) => Watch::StopBeyond(limits.memory_bytes),
        Subject::Original | Subject::Recorded(_) | Subject::Chosen => Watch::Measure,
    };
    let (ended, memory) =
        memory::watched(watch, limits.memory_bytes_max, || catch_unwind(AssertUnwindSafe(|| case.run(limits, wanted))));
    let finished = probe::finish();
    // What a run reports after it was told to stop is of no interest, and it is told so for its memory by way of its
    // steps.
    let end = if memory.exceeded {
        Some((Cause::Memory, format!("memory used up: more than {} MiB", limits.memory_bytes >> 20)))
    } else if finished.out_of_steps {
        Some((Cause::Steps, format!("the limit of {} steps was used up", limits.steps)))
    } else {
        match &ended {
            Ok(report) => judge(&report.ended),
            Err(payload) => Some((Cause::Panic, panicked("the configuration", message_of(&**payload)))),
        }
    };
    let verdict = end.as_ref().map_or(RunEnd::Passed, |(cause, _)| cause.verdict());
    let (cause, reason) = end.unzip();
    let report = ended.ok();
    let events = report.as_ref().map_or(0, |report| report.events);
    Ran {
        execution: Execution { verdict, cause, reason: reason.unwrap_or_default(), events, steps: finished.steps },
        mutant_reached: finished.mutant_reached,
        entered: finished.entered,
        recording: finished.recording,
        memory_bytes: memory.bytes_max,
        report,
    }
}

/// Runs the original up to four times: as it is, with the probes recording, chosen among its mutants, and with a trace if
/// there are criteria that look at one; and compares the runs.
///
/// What the probes measure goes to the campaign in one order: here, in [`Sizes::measured`] and in
/// [`Recorded::measured`].
pub(crate) fn record(case: &dyn Case, limits: RunLimits, sizes: &Sizes, traced: &mut Traced) -> Recorded {
    let plain = run(case, limits, Subject::Original, &Wanted::PLAIN);
    let mut recorded = Recorded {
        virtual_time_ns: plain.virtual_time_ns(),
        messages: plain.messages(),
        late_faults: plain.report.as_ref().map_or(0, |report| report.faults_after_end),
        digest: plain.digest().unwrap_or_default(),
        memory_bytes: plain.memory_bytes,
        execution: plain.execution.clone(),
        measured: Vec::new(),
        pairs_unlisted: 0,
        reached: Vec::new(),
        infected: Vec::new(),
        entered: plain.entered,
        covered: Vec::new(),
        traced: Vec::new(),
        difference: None,
        choosing_difference: None,
    };
    if plain.execution.verdict != RunEnd::Passed {
        return recorded;
    }
    let size = |kind: usize| sizes.measured.get(kind).copied().unwrap_or_default();
    let sizes = probe::RecordingSizes {
        blocks: size(0),
        branches: size(1),
        pairs: size(2),
        conditions: size(3),
        mutants: sizes.mutants,
    };
    let again = run(case, limits, Subject::Recorded(sizes), &Wanted::PLAIN);
    recorded.entered |= again.entered;
    let mut difference = plain.difference(&again);
    if sizes.mutants > 0 && difference.is_none() {
        let chosen = run(case, limits, Subject::Chosen, &Wanted::PLAIN);
        let differing = plain.differing(&chosen);
        recorded.choosing_difference = differing
            .map(|(fact, original, chosen)| format!("the {fact} is {chosen} there, and {original} in the original"));
    }
    let criteria = case.trace_criteria();
    if !criteria.is_empty() {
        // A run of its own: who keeps a trace asks messages what they are called, and that code may be specification.
        let ran = run(case, limits, Subject::Original, &Wanted { trace: TraceRecording::Keep, ..Wanted::PLAIN });
        if difference.is_none() && ran.digest() != plain.digest() {
            difference = Some("the digest of the events is another one when a trace is kept".to_owned());
        }
        recorded.entered |= ran.entered;
        if let Some(mut trace) = ran.report.and_then(|report| report.trace) {
            traced.name_originals(&mut trace);
            recorded.traced = traced.coverage(&criteria, &trace);
        }
    }
    recorded.covered = case.covered();
    // The criteria may be specification, too.
    recorded.entered |= probe::take_entered();
    recorded.difference = difference.map(|difference| located(difference, case, limits, traced));
    let probe::Recording { blocks, branches, pairs, conditions, reached, infected, pairs_unlisted } =
        again.recording.expect("this run was recorded");
    let measured = vec![blocks, branches, pairs, conditions];
    Recorded { measured, pairs_unlisted, reached, infected, ..recorded }
}

/// Adds to a difference between two runs the first event that differs, as two more runs with traces show it.
fn located(difference: String, case: &dyn Case, limits: RunLimits, traced: &mut Traced) -> String {
    let wanted = Wanted { trace: TraceRecording::Keep, ..Wanted::PLAIN };
    let mut report = || {
        let mut report = run(case, limits, Subject::Original, &wanted).report;
        report.iter_mut().filter_map(|report| report.trace.as_mut()).for_each(|trace| traced.name_originals(trace));
        report
    };
    match (report(), report()) {
        (Some(first), Some(second)) => match Divergence::between(&first, &second) {
            Some(divergence) => format!("{difference}; {divergence}"),
            None => difference,
        },
        _ => difference,
    }
}

/// Runs `case` on `subject` for a person.
pub(crate) fn simulate(
    case: &dyn Case,
    limits: RunLimits,
    subject: Subject,
    wanted: &Wanted,
    traced: &mut Traced,
) -> Simulated {
    // What is kept needs memory: the run that is judged keeps nothing, as in a campaign.
    let keeps = wanted.trace == TraceRecording::Keep || wanted.choices == ChoiceRecording::Keep;
    let kept = keeps.then(|| {
        let limits = RunLimits { memory_bytes: limits.memory_bytes_max, ..limits };
        run(case, limits, subject, wanted).report
    });
    let ran = run(case, limits, subject, &Wanted { choosing: wanted.choosing.clone(), ..Wanted::PLAIN });
    let (virtual_time_ns, messages) = (ran.virtual_time_ns(), ran.messages());
    let waiting = ran.report.iter().flat_map(|report| &report.waiting).map(ToString::to_string).collect();
    let (mut trace, choices) = kept.flatten().map_or((None, None), |report| (report.trace, report.choices));
    trace.iter_mut().for_each(|trace| traced.name_originals(trace));
    Simulated {
        virtual_time_ns,
        messages,
        digest: ran.digest().unwrap_or_default(),
        reached: ran.mutant_reached,
        execution: ran.execution,
        waiting,
        trace: trace.as_ref().map(TraceText::new),
        choices,
    }
}

impl Ran {
    fn virtual_time_ns(&self) -> u64 {
        self.report.as_ref().map_or(0, |report| report.ended_at.as_nanos())
    }

    fn messages(&self) -> u64 {
        self.report.as_ref().map_or(0, |report| report.packets_sent)
    }

    /// Returns what it cost beside events and steps; `None` if there was no simulation.
    pub(crate) fn spent(&self) -> Option<Spent> {
        let virtual_time_ns = self.virtual_time_ns();
        self.report.as_ref().map(|report| Spent { messages: report.packets_sent, virtual_time_ns })
    }

    /// Returns the digest of the events; `None` if there was no simulation.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.report.as_ref().map(|report| report.digest)
    }

    /// Returns in what `again`, another run of the same, differs.
    fn difference(&self, again: &Self) -> Option<String> {
        let differing = self.differing(again);
        differing.map(|(fact, first, second)| format!("the {fact} was {first} in one run and {second} in the next"))
    }

    /// Returns the first fact of which another run has another value, with both values.
    fn differing(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let facts = |ran: &Self| {
            let digest = ran.digest().unwrap_or_default();
            [
                ("verdict", format!("{} {}", ran.execution.verdict, ran.execution.reason).trim_end().to_owned()),
                ("number of events", ran.execution.events.to_string()),
                ("virtual time at the end", ran.virtual_time_ns().to_string()),
                ("number of steps", ran.execution.steps.to_string()),
                ("digest of the events", format!("{digest:016x}")),
            ]
        };
        facts(self)
            .into_iter()
            .zip(facts(other))
            .find(|(first, second)| first != second)
            .map(|((fact, first), (_, second))| (fact, first, second))
    }
}

/// Translates the engine's verdict. Reasons leave virtual times out, so that equal faults of many test cases are told
/// in equal words and can be counted.
fn judge(ended: &Ended) -> Option<(Cause, String)> {
    match ended {
        Ended::Passed => None,
        Ended::Failed(violation) => Some(violated(violation)),
        Ended::NotTerminated(LimitReached::Events { limit, .. }) => {
            Some((Cause::Events, format!("the limit of {limit} events was used up")))
        }
        Ended::NotTerminated(LimitReached::VirtualTime { limit, .. }) => {
            Some((Cause::VirtualTime, format!("the limit of virtual time, {limit}, was reached")))
        }
        Ended::Abnormal(failure) => Some((Cause::Panic, panicked(&failure.origin.to_string(), &failure.message))),
        Ended::Inconclusive(undecided) => Some((Cause::Undecided, undecided.to_string())),
    }
}

fn violated(violation: &Violation) -> (Cause, String) {
    let cause = match violation {
        Violation::UnexpectedResult { .. } => Cause::UnexpectedResult,
        Violation::NoResult { .. } => Cause::NoResult,
        Violation::CheckFailed { .. } => Cause::CheckFailed,
    };
    let reason = match violation {
        Violation::UnexpectedResult { component, expected, actual, .. } => {
            format!("{component} returned {actual}, but {expected} was expected")
        }
        Violation::NoResult { component, expected, waits, .. } => {
            let awaited = awaited(waits);
            format!("{component} did not return, but {expected} was expected: it waits for {awaited}")
        }
        Violation::CheckFailed { check, failure } => format!("check \"{check}\" failed: {failure}"),
    };
    (cause, reason)
}

/// Returns what a component waits for in the first place, without ports and names of others.
fn awaited(waits: &[Wait]) -> String {
    let Some(Wait { subject, .. }) = waits.first() else { return "something that no event brings".to_owned() };
    match subject {
        WaitSubject::Message { .. }
        | WaitSubject::Accept { .. }
        | WaitSubject::Connect { .. }
        | WaitSubject::StreamMessage { .. }
        | WaitSubject::StreamRoom { .. } => "a message that does not come".to_owned(),
        WaitSubject::Restart
        | WaitSubject::Start
        | WaitSubject::Resume
        | WaitSubject::FifoItem
        | WaitSubject::ChildTask
        | WaitSubject::EndOfTime => subject.to_string(),
    }
}

fn panicked(who: &str, message: &str) -> String {
    match panics::last_place() {
        Some(place) => format!("{who} panicked at {place}: {message}"),
        None => format!("{who} panicked: {message}"),
    }
}

pub(crate) fn message_of(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is not text")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;
    use simutant_outcomes::{Coverage, InputSource};
    use simutant_protocol::{Feedback, UniverseSettings};
    use simutant_sim_core::{Message, Random, Simulation, VirtualDuration, VirtualTime};
    use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

    use super::*;
    use crate::system::system;

    #[derive(Debug, Clone, Hash)]
    struct Item(u64);

    impl Message for Item {
        fn kind(&self) -> &'static str {
            // As where this is a part of the specification.
            probe::tick();
            "ITEM"
        }
    }

    /// Sends the items of a hash set, in its order.
    struct Leaky;

    impl System for Leaky {
        const NAME: &'static str = "leaky";
        type TestCase = u64;
        type Message = Item;

        fn sample(_: &mut Random) -> u64 {
            0
        }

        fn validate(_: &u64) -> Result<(), InvalidTestCase> {
            Ok(())
        }

        fn configure(&items: &u64) -> Simulation<Item> {
            let mut simulation = Simulation::new(1);
            let to = simulation.address("nobody", 1);
            simulation.add("leak", move |context| async move {
                let items: HashSet<u64> = (0..items).collect();
                let channel = context.channel();
                for item in items {
                    channel.send(to, Item(item));
                    context.pause(VirtualDuration::from_millis(1)).await;
                }
            });
            simulation
        }

        fn criteria() -> Vec<BlackBoxCriterion<u64>> {
            Vec::new()
        }
    }

    #[track_caller]
    fn check(items: u64, differs_from: Option<&str>) {
        let system = system::<Leaky>();
        let case = system.load(Value::from(items)).expect("it is a test case");
        let limits = RunLimits {
            steps: 1_000_000,
            events: 1_000_000,
            virtual_time_ns: u64::MAX,
            memory_bytes: 1 << 28,
            memory_bytes_max: 1 << 28,
        };
        let sizes = Sizes { measured: Vec::new(), mutants: 0 };
        let difference = record(&*case, limits, &sizes, &mut Traced::new(&[])).difference;
        match (differs_from, &difference) {
            (None, None) => {}
            (Some(expect), Some(difference)) => assert!(difference.contains(expect), "{difference}"),
            (Some(_), None) => panic!("the difference was not seen"),
            (None, Some(difference)) => panic!("{difference}"),
        }
    }

    #[test]
    fn a_source_that_does_not_know_what_is_taken_for_known_draws_nothing() {
        let system = system::<Leaky>();
        let draw = |source, seed, first, told| {
            let universe = UniverseSettings { source, seed, size: 9 };
            system.draw(universe, 0, 1, &Feedback { first, coverage: vec![Coverage::default(); told] }).is_some()
        };
        let guided = InputSource::Guided;
        assert_eq!([draw(guided, 1, 0, 2), draw(guided, 1, 2, 1), draw(guided, 1, 3, 0)], [true; 3]);
        assert_eq!([draw(guided, 1, 4, 1), draw(guided, 2, 1, 1)], [false; 2]);
        assert!(draw(guided, 2, 0, 3) && draw(guided, 2, 1, 4), "what is known is not learned again");
        assert!(draw(guided, 2, 5, 0) && !draw(guided, 2, 6, 0));
        assert!(draw(InputSource::Uniform, 1, 0, 0));
    }

    #[test]
    fn a_wait_is_told_in_the_same_words_whatever_the_ports_and_times() {
        #[track_caller]
        fn check(subjects: &[WaitSubject], expect: &str) {
            let since = VirtualTime::from_millis(3);
            let waits: Vec<Wait> = subjects.iter().cloned().map(|subject| Wait { subject, since }).collect();
            assert_eq!(awaited(&waits), expect);
        }
        check(&[], "something that no event brings");
        check(&[WaitSubject::Message { port: 7 }, WaitSubject::FifoItem], "a message that does not come");
        check(&[WaitSubject::Accept { port: 80 }], "a message that does not come");
        check(&[WaitSubject::Resume, WaitSubject::Message { port: 7 }], "the end of its pause");
        check(&[WaitSubject::ChildTask], "its child task");
    }

    #[test]
    fn what_depends_on_more_than_the_test_case_is_told_with_the_first_event_that_differs() {
        check(1, None);
        // A hundred items come in the same order twice with a probability of 1 in 100!.
        check(100, Some("two runs differ from event "));
        check(100, Some(" was sent: "));
    }
}
