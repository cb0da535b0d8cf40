//! Files that somebody made to break a reader: every one is refused with its place, in bounded time and memory.

use std::io::{self, Read};
use std::iter::repeat_n;

use simutant_oracle::formats::{self, Format, HistoryError, LINE_MAX, Value, json_lines};
use simutant_oracle::specifications::{Queue, Register, register};

#[track_caller]
fn refused(format: Format, text: &str, expect: &str) {
    let error = formats::read::<Register<Value>>(format, text.as_bytes()).expect_err("it is hostile").to_string();
    assert!(error.starts_with(expect), "{format}: {error}");
}

/// What stands where a number from 0 on belongs.
const NUMBERS: [&str; 7] = ["NaN", "##NaN", "-1", "1.5", "1e400", "-9223372036854775809", "18446744073709551616"];

#[test]
fn numbers_that_are_no_numbers_of_processes_or_times() {
    for number in NUMBERS {
        let of_edn = format!("{{:process {number} :type :invoke :f :read}}");
        refused(Format::JepsenEdn, &of_edn, "line 1, column 1: the process is ");
        let of_edn = format!("{{:process 0 :type :invoke :f :read :time {number}}}");
        refused(Format::JepsenEdn, &of_edn, "line 1, column 1: :time is ");
        refused(Format::JepsenLog, &format!("INFO  jepsen.util - {number} :invoke :read nil"), "line 1, column 21: ");
        refused(
            Format::Limo,
            &format!("# @object register\n[{number}] call read"),
            "line 2, column 1: the thread is not a number",
        );
        let error = formats::read::<Queue<Value>>(Format::PolyLin, format!("# queue\nenq 1 0 {number}").as_bytes());
        let error = error.expect_err("it is hostile").to_string();
        assert!(error.starts_with("line 2, column 1: a time is not a number from 0 on"), "{error}");

        let number = number.trim_start_matches('#');
        refused(
            Format::JepsenJson,
            &format!(r#"{{"process":{number},"type":"invoke","f":"read"}}"#),
            "line 1, column ",
        );
        let call = |session: &str, invoked: &str, written: &str| {
            format!(
                r#"{{"session":{session},"operation":{{"write":{written}}},"invoked_ns":{invoked},"end":"unknown"}}"#
            )
        };
        refused(Format::JsonLines, &call(number, "0", "1"), "line 1, column ");
        refused(Format::JsonLines, &call("0", number, "1"), "line 1, column ");
        if number != "-1" {
            refused(Format::JsonLines, &call("0", "0", number), "line 1, column ");
        }
    }
    // Where it is a value, NaN is no element.
    refused(
        Format::JepsenEdn,
        "{:process 0 :type :invoke :f :write :value ##NaN}",
        "line 1, column 1: :write of a register does not ask with ##NaN; ",
    );
    refused(
        Format::JepsenEdn,
        "{:process 0 :type :invoke :f :write :value #{##NaN ##NaN}}",
        "line 1, column 52: the set has ##NaN twice",
    );
}

#[test]
fn ends_that_come_before_their_beginnings() {
    refused(
        Format::JepsenLog,
        "0 :ok :read 1\n0 :invoke :read nil",
        "line 1, column 1: process 0 ends a call that it ",
    );
    refused(
        Format::Limo,
        "# @object register\n[1] return 3\n[1] call read",
        "line 2, column 1: process 1 ends a call that it did not begin",
    );
    let json = r#"{"process":1,"type":"ok","f":"read","value":1}"#;
    refused(Format::JepsenJson, json, "line 1, column 1: process 1 ends a call that it did not begin");
    // A clock that goes back is no end before a beginning: the order is that of the lines.
    let back = "{:process 0 :type :invoke :f :read :time 9} {:process 0 :type :ok :f :read :time 3}";
    let history = formats::read::<Register<Value>>(Format::JepsenEdn, back.as_bytes()).expect("a history");
    assert_eq!(history.calls()[0].end.at().map(|at| at.time), Some(history.calls()[0].invoked.time));
}

#[test]
fn numbers_that_are_there_twice() {
    let call = |session: u64, (invoked, event): (u64, u64), end: &str| {
        format!(
            r#"{{"session":{session},"operation":"read","invoked_ns":{invoked},"invoked_event":{event},"end":{end}}}"#
        )
    };
    let did_not_happen = r#"{"did_not_happen":{"at_ns":7,"event":4}}"#;
    let lines = |lines: [String; 2]| lines.join("\n");
    refused(
        Format::JsonLines,
        &lines([call(1, (7, 3), did_not_happen), call(2, (7, 4), "\"unknown\"")]),
        "line 2, column 1: the call is invoked at 7 ns, event 4, which is another event of line 1; ",
    );
    refused(
        Format::JsonLines,
        &lines([call(1, (5, 0), "\"unknown\""), call(2, (7, 4), did_not_happen)]),
        "line 2, column 1: the call ends at 7 ns, event 4, which is another event of line 2; ",
    );
    // Events of several clocks have an order by their times.
    let apart = lines([call(1, (5, 0), "\"unknown\""), call(2, (6, 0), "\"unknown\"")]);
    assert!(formats::read::<Register<Value>>(Format::JsonLines, apart.as_bytes()).is_ok());

    refused(Format::JsonLines, r#"{"session":1,"session":1}"#, "line 1, column 22: duplicate field `session`");
    refused(
        Format::JepsenJson,
        r#"{"process":1,"process":1}"#,
        "line 1, column 14: the map has the key \"process\" twice",
    );
    let twice = "{:process 0 :type :invoke :f :read :index 3}\n{:process 1 :type :invoke :f :read :index 3}";
    refused(Format::JepsenEdn, twice, "line 2, column 1: :index 3 comes after :index 3");
    refused(Format::Limo, "# @object register\n# @object register\n", "line 2, column 1: a history has one object");
}

#[test]
fn values_that_lie_deep_in_each_other() {
    const DEEP: usize = 1 << 20;
    for (open, format, expect) in [
        ("[", Format::JepsenEdn, "line 1, column "),
        ("#{", Format::JepsenEdn, "line 1, column "),
        ("#t ", Format::JepsenEdn, "line 1, column "),
        ("#_", Format::JepsenEdn, "line 1, column "),
        ("^", Format::JepsenEdn, "line 1, column "),
        ("[", Format::JepsenJson, "line 1, column "),
        ("{\"a\":", Format::JepsenJson, "line 1, column "),
    ] {
        refused(format, &open.repeat(DEEP), expect);
    }
    refused(Format::JepsenLog, &format!("0 :invoke :write {}", "[".repeat(DEEP)), "line 1, column 82: values lie more");
    // What an error says is no value, and ends a call all the same.
    let failed = format!("0 :invoke :write 1\n0 :fail :write 1 {}\n", "[".repeat(DEEP));
    assert!(formats::read::<Register<Value>>(Format::JepsenLog, failed.as_bytes()).is_ok());
    let deep = format!(r#"{{"session":1,"operation":{{"write":{}"#, "[".repeat(DEEP));
    refused(Format::JsonLines, &deep, "line 1, column ");
    formats::detect(None, &b"[(".repeat(DEEP));
}

/// What is read is a gigabyte of no line ends, of which no more is kept than a line may have.
#[test]
fn a_line_of_a_gigabyte_is_refused_at_its_limit() {
    const GIGABYTE: u64 = 1 << 30;
    /// Returns bytes without an end, and counts those that are taken.
    struct Counted(u64);
    impl Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += buffer.len() as u64;
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }
    for (format, begin) in [
        (Format::JsonLines, ""),
        (Format::JepsenEdn, "{:process 0 :type :invoke :f :write :value \""),
        (Format::JepsenJson, "{\"process\": \""),
        (Format::JepsenLog, "0 :fail :read "),
        (Format::Limo, "# @object queue\n[1] call enq "),
        (Format::PolyLin, "# queue\n"),
    ] {
        let mut endless = Counted(0);
        let from = io::BufReader::with_capacity(1 << 20, (&mut endless).take(GIGABYTE));
        let read = formats::read::<Queue<Value>>(format, Read::chain(begin.as_bytes(), from));
        let line = 1 + begin.lines().count().saturating_sub(1) + usize::from(begin.ends_with('\n'));
        assert!(matches!(read, Err(HistoryError::TooLong { line: at }) if at == line), "{format}: {read:?}");
        assert!(endless.0 <= LINE_MAX + (2 << 20), "{format}: {} bytes were read", endless.0);
    }
}

#[test]
fn a_value_of_many_values_is_read() {
    let list: String = repeat_n("1 ", 100_000).collect();
    let text = format!("{{:process 0 :type :invoke :f :write :value [{list}]}}");
    let history = formats::read::<Register<Value>>(Format::JepsenEdn, text.as_bytes()).expect("a history");
    let register::Operation::Write(Value::List(values)) = &history.calls()[0].operation else { panic!("it writes") };
    assert_eq!(values.len(), 100_000);
    let mut lines = Vec::new();
    json_lines::write(&history, &mut lines).expect("memory takes all");
    assert_eq!(formats::read::<Register<Value>>(Format::JsonLines, &lines[..]).expect("a history").calls().len(), 1);
}
