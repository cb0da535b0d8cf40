//! Files that are judged by specifications that have names.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value as Json, json};
use simutant_oracle::catalogue::ReadyMade;
use simutant_oracle::formats::Format;
use simutant_oracle::judging::{
    Formats, JsonLinesAlone as _, JudgingError, JudgingReply, JudgingRequest, NamedOrder, Watch, serve,
};
use simutant_oracle::specifications::Counter;
use simutant_oracle::{
    CheckReport, Compared, Filter, Limit, Open, ReportedAnswer, Scope, Session, Specification, Strategy,
};

/// A watch that stands still.
fn watch() -> Watch<'static> {
    Watch { elapsed: &|| Duration::ZERO, is_stopped: &|| false }
}

fn judge(specification: ReadyMade, initial: Option<&Json>, text: &str) -> Result<CheckReport, JudgingError> {
    specification.judge(&JudgingRequest::default(), initial, &mut text.as_bytes(), watch())
}

/// Returns one process's calls, one after the other, as Jepsen writes them.
fn edn(calls: &[(&str, &str, &str)]) -> String {
    let call = |&(name, asked, answered): &(&str, &str, &str)| {
        format!(
            "{{:process 0, :type :invoke, :f :{name}, :value {asked}}}\n{{:process 0, :type :ok, :f :{name}, :value {answered}}}\n"
        )
    };
    calls.iter().map(call).collect()
}

/// From each initial state but the default, the first answer is possible; from the default, it is not.
#[test]
fn every_ready_made_specification_has_a_name_and_an_initial_state() {
    let cases = [
        (ReadyMade::Register, json!(3), ("read", "nil", "3")),
        (ReadyMade::KeyValueStore, json!({"entries": {"x": "1"}}), ("get", "[:x nil]", "[:x 1]")),
        (ReadyMade::Mutex, json!({"holder": 0}), ("release", "nil", "nil")),
        (ReadyMade::Lease, json!({"holder": 0, "granted": 4}), ("release", "nil", "nil")),
        (ReadyMade::Counter, json!(-2), ("read", "nil", "-2")),
        (ReadyMade::Set, json!([2, "a"]), ("read", "nil", "#{2 \"a\"}")),
        (ReadyMade::Queue, json!([1, 2]), ("dequeue", "nil", "1")),
        (ReadyMade::Stack, json!([1, 2]), ("pop", "nil", "2")),
        (ReadyMade::PriorityQueue, json!([7, 9, 8]), ("poll", "nil", "9")),
        (ReadyMade::UnorderedQueue, json!([7, 9]), ("dequeue", "nil", "9")),
        (ReadyMade::Log, json!(["a"]), ("poll", "0", "[[0 \"a\"]]")),
        (ReadyMade::Bank, json!({"0": 5, "1": 0}), ("read", "nil", "{0 5, 1 0}")),
    ];
    for (specification, initial, call) in cases {
        assert_eq!(ReadyMade::named(specification.name()), Some(specification));
        // A key of a store is a keyword here, and a text in JSON.
        let text = edn(&[call]).replace(":x", "\"x\"");
        let report = judge(specification, Some(&initial), &text).expect("it is one of its histories");
        assert!(matches!(report.answer, ReportedAnswer::Possible { .. }), "{specification:?}: {report:?}");
        let report = judge(specification, None, &text).expect("it is one of its histories");
        assert!(matches!(report.answer, ReportedAnswer::Impossible(_)), "{specification:?}: {report:?}");
        let error = specification.check_initial(&json!({"nonsense": []})).expect_err("it is no state").to_string();
        assert!(error.contains(specification.initial_form()), "{error}");
    }
    let ids = edn(&[("generate", "nil", "4")]);
    assert!(
        matches!(judge(ReadyMade::UniqueIds, Some(&json!([4])), &ids), Ok(report) if report.answer != judge(ReadyMade::UniqueIds, None, &ids).expect("it is one").answer)
    );
    assert_eq!(ReadyMade::named("Register"), None);
}

#[test]
fn the_budget_of_time_is_that_of_the_watch() {
    // Writes that are all under way at once, and a read of what none of them wrote: it takes some time to try them.
    let event = |process: u32, kind: &str, name: &str, value: &str| {
        format!("{{:process {process}, :type :{kind}, :f :{name}, :value {value}}}\n")
    };
    let all =
        |kind: &str| (0..12).map(|process| event(process, kind, "write", &process.to_string())).collect::<String>();
    let text = all("invoke") + &all("ok") + &event(0, "invoke", "read", "nil") + &event(0, "ok", "read", "99");
    let strategy = Strategy::BreadthFirst;
    let request = JudgingRequest { time: Some(Duration::from_secs(5)), strategy, ..JudgingRequest::default() };
    let now = Cell::new(0);
    let report = ReadyMade::Register.judge(&request, None, &mut text.as_bytes(), watch()).expect("a history");
    assert!(matches!(report.answer, ReportedAnswer::Impossible(_)));
    let elapsed = || Duration::from_secs(now.replace(now.get() + 9));
    let late = Watch { elapsed: &elapsed, is_stopped: &|| false };
    let report = ReadyMade::Register.judge(&request, None, &mut text.as_bytes(), late).expect("a history");
    assert_eq!(report.answer, ReportedAnswer::Undecided { limit: Limit::Stopped });
    assert!(!report.clone().into_verdict().passes() && !report.into_verdict().kills());
}

/// A history whose check and explanation take some questions whether to stop.
#[test]
fn the_budget_of_time_is_that_of_the_explanation_too_and_without_one_no_clock_is_asked() {
    let calls: Vec<(&str, &str, &str)> =
        (0..40).flat_map(|_| [("enqueue", "1", "1"), ("enqueue", "2", "2"), ("dequeue", "nil", "1")]).collect();
    let text = edn(&calls);
    let questions = Cell::new(0_u64);
    let judge = |time, late_from: u64| {
        questions.set(0);
        let elapsed = || {
            questions.set(questions.get() + 1);
            Duration::from_secs(if questions.get() > late_from { 9 } else { 0 })
        };
        let watch = Watch { elapsed: &elapsed, is_stopped: &|| false };
        let request = JudgingRequest { time, ..JudgingRequest::default() };
        let report = ReadyMade::Queue.judge(&request, None, &mut text.as_bytes(), watch).expect("a history");
        let ReportedAnswer::Impossible(impossible) = report.answer else { panic!("1 comes before 2") };
        (impossible.core.len(), questions.get())
    };
    let (core, asked) = judge(None, 0);
    // When the file was read.
    assert_eq!(asked, 1);
    let (with_time, asked) = judge(Some(Duration::from_secs(5)), u64::MAX);
    assert_eq!(with_time, core);
    // The check itself asks a few times; half of all questions are the explanation's.
    let (stopped, _) = judge(Some(Duration::from_secs(5)), asked / 2);
    assert!(stopped == 0 || stopped > core, "{stopped} of {core}");
}

#[test]
fn a_request_is_read_as_it_was_written() {
    let request = JudgingRequest {
        file: Some("a.edn".into()),
        format: Some(Format::JepsenLog),
        order: NamedOrder::OrderedSequential,
        revisions: true,
        scope: Scope::EachCall { compared: Compared::All, filter: Filter::Unrelated },
        strategy: Strategy::BreadthFirst,
        steps: Some(7),
        bytes: None,
        time: Some(Duration::from_millis(1500)),
        keyed: true,
        requires_answers: true,
        calls: true,
        formulas: true,
    };
    let written = serde_json::to_string(&request).expect("plain data");
    assert_eq!(serde_json::from_str::<JudgingRequest>(&written).expect("it was written"), request);
    let error = serde_json::from_str::<JudgingRequest>(r#"{"format":"edn"}"#).expect_err("no format").to_string();
    assert!(error.contains("jepsen-edn"), "{error}");
}

#[test]
fn a_history_without_an_answer_is_inconclusive_where_answers_are_required() {
    let requires_answers = JudgingRequest { requires_answers: true, ..JudgingRequest::default() };
    let nemesis = "{:process :nemesis, :type :info, :f :start, :value nil}\n";
    let failed = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :fail, :f :write, :value 1}\n";
    let unknown = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 1, :type :invoke, :f :read}\n";
    for (text, calls) in [("\n", 0), (nemesis, 0), (failed, 1), (unknown, 2)] {
        let report = judge(ReadyMade::Register, None, text).expect("a history");
        assert!(matches!(report.answer, ReportedAnswer::Possible { .. }), "{report:?}");
        assert_eq!((report.calls, report.answered), (calls, 0));
        let report = ReadyMade::Register.judge(&requires_answers, None, &mut text.as_bytes(), watch());
        let report = report.expect("a history");
        assert_eq!(report.answer, ReportedAnswer::Unobserved);
        let verdict = report.into_verdict();
        assert!(!verdict.passes() && !verdict.kills(), "{verdict:?}");
    }
    let answered = edn(&[("write", "1", "1")]);
    let report = ReadyMade::Register.judge(&requires_answers, None, &mut answered.as_bytes(), watch());
    let report = report.expect("a history");
    assert!(report.answered == 1 && matches!(report.answer, ReportedAnswer::Possible { .. }), "{report:?}");
}

/// As Jepsen's independent workloads write them.
#[test]
fn calls_on_keys_are_those_of_a_service_for_each_key() {
    let keyed = JudgingRequest { keyed: true, ..JudgingRequest::default() };
    #[track_caller]
    fn check(request: &JudgingRequest, specification: ReadyMade, initial: Option<&Json>, text: &str, expect: bool) {
        let report = specification.judge(request, initial, &mut text.as_bytes(), watch()).expect("a history");
        assert_eq!(matches!(report.answer, ReportedAnswer::Possible { .. }), expect, "{report:?}");
    }
    let calls = [("write", "[1 4]", "[1 4]"), ("read", "[2 nil]", "[2 nil]"), ("read", "[1 nil]", "[1 4]")];
    check(&keyed, ReadyMade::Register, None, &edn(&calls), true);
    check(&keyed, ReadyMade::KeyValueStore, None, &edn(&calls), true);
    check(&keyed, ReadyMade::Register, None, &edn(&[&calls[..], &[("read", "[2 nil]", "[2 4]")]].concat()), false);
    check(&keyed, ReadyMade::Register, Some(&json!(4)), &edn(&[("read", "[2 nil]", "[2 4]")]), true);
    let queues = [("enqueue", "[1 4]", "[1 4]"), ("enqueue", "[2 5]", "[2 5]"), ("drain", "[2 nil]", "[2 [5]]")];
    check(&keyed, ReadyMade::Queue, None, &edn(&queues), true);
    check(&keyed, ReadyMade::Queue, None, &edn(&[&queues[..], &[("drain", "[1 nil]", "[1 []]")]].concat()), false);
}

/// No account has less than nothing, unless it may be overdrawn.
#[test]
fn an_account_is_overdrawn_where_it_may_be() {
    let calls = [("transfer", "{:from :a, :to :b, :amount 5}", "nil"), ("read", "nil", "{:a -2, :b 5}")];
    let initial = json!({":a": 3, ":b": 0});
    let report = judge(ReadyMade::Bank, Some(&initial), &edn(&calls)).expect("a history");
    assert!(matches!(report.answer, ReportedAnswer::Impossible(_)), "{report:?}");
    let overdraft = json!({"balances": initial, "overdraft": true});
    let report = judge(ReadyMade::Bank, Some(&overdraft), &edn(&calls)).expect("a history");
    assert!(matches!(report.answer, ReportedAnswer::Possible { .. }), "{report:?}");
    // Where nobody asked for more than there is, a negative balance is as wrong.
    let report = judge(ReadyMade::Bank, Some(&overdraft), &edn(&calls[1..])).expect("a history");
    assert!(matches!(report.answer, ReportedAnswer::Impossible(_)), "{report:?}");
}

/// A log says of a failed comparison that it failed, and not how.
#[test]
fn a_log_that_leaves_open_how_calls_failed_is_judged_where_it_does_not_matter() {
    #[track_caller]
    fn check(lines: &[&str], expect: Result<bool, &str>) {
        let judged = judge(ReadyMade::Register, None, &lines.join("\n"));
        match (judged, expect) {
            (Ok(report), Ok(expect)) => {
                let is_possible = matches!(report.answer, ReportedAnswer::Possible { .. });
                assert_eq!(is_possible, expect, "{lines:?}");
            }
            (judged, expect) => {
                let error = judged.expect_err("it depends").to_string();
                assert!(error.starts_with(expect.expect_err("it does not depend")), "{error}");
            }
        }
    }
    let write = ["0 :invoke :write 0", "0 :ok :write 0"];
    let cas = |end| [&write[..], &["1 :invoke :cas [0 5]", end]].concat();
    check(&cas("1 :fail :cas :connection-refused"), Ok(true));
    check(&cas("1 :fail :cas [0 5] no leader"), Ok(true));
    check(&cas("1 :fail :cas [0 5] :did-not-match"), Ok(false));
    check(&cas("1 :fail :cas [0 5]"), Err("line 4: this call failed, and the log does not say how"));
    // Whatever it was, it can be, or cannot be.
    check(&[&write[..], &["1 :invoke :cas [7 5]", "1 :fail :cas [7 5]"]].concat(), Ok(true));
    check(&[&cas("1 :fail :cas [0 5]")[..], &["2 :invoke :read nil", "2 :ok :read 9"]].concat(), Ok(false));
    // The first comparison may have been before the write.
    let two = [
        "1 :invoke :cas [0 1]",
        write[0],
        write[1],
        "1 :fail :cas [0 1]",
        "1 :invoke :cas [0 2]",
        "1 :fail :cas [0 2]",
    ];
    check(&two, Err("line 6: this call failed"));
}

/// A counter that counts up by itself, of somebody who has no words for files of others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Ticket(u64);

impl Specification for Ticket {
    type Operation = String;
    type Response = u64;

    fn step(&mut self, _: Session, _: &String, _: &mut Open<'_>) -> u64 {
        self.0 += 1;
        self.0
    }
}

fn served(request: &str, text: &str) -> JudgingReply {
    let mut written = Vec::new();
    let reading = Formats::<Ticket>::default().reading();
    serve(&reading, &Ticket(4), request, &mut text.as_bytes(), &mut written, watch()).expect("memory takes all");
    serde_json::from_slice(&written).expect("it is a reply")
}

#[test]
fn a_program_of_a_specification_answers_with_a_report_or_with_what_is_wrong() {
    let line = r#"{"session":1,"operation":"next","invoked_ns":10,"end":{"returned":{"at_ns":20,"response":6}}}"#;
    let JudgingReply::Report(report) = served("{}", line) else { panic!("it is a history") };
    let ReportedAnswer::Impossible(impossible) = report.answer else { panic!("5 is next") };
    assert_eq!(impossible.allowed[0].response, json!(5));
    assert_eq!(impossible.core.len(), 1);
    assert_eq!(
        impossible.to_string(),
        "no order of the calls explains that session 1 asked for `next` and was answered `6`; the specification allows `5`"
    );

    #[track_caller]
    fn check(reply: &JudgingReply, expect: &str) {
        let JudgingReply::Unreadable { message } = reply else { panic!("{reply:?}") };
        assert!(message.contains(expect), "{message}");
    }
    check(&served("{}", &edn(&[("next", "nil", "5")])), "has no vocabulary for it");
    check(&served("{}", "what is this"), "neither the content nor the name tells the format");
    check(&served("{}", "{\"session\":1}"), "line 1, column");
    check(&served("[", line), "the request is none");
}

#[test]
fn a_specification_with_a_vocabulary_reads_all_formats() {
    let reading = Formats::<Counter>::default().reading();
    let text = edn(&[("read", "nil", "0")]);
    let report = JudgingRequest::default().judge(&reading, &Counter(0), &mut text.as_bytes(), watch());
    assert!(matches!(report.expect("a history").answer, ReportedAnswer::Possible { .. }));
}
