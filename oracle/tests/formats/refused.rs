//! What is refused, and where.

use simutant_oracle::formats::{self, Format, Value};
use simutant_oracle::specifications::{Bank, KeyValueStore, PriorityQueue, Queue, Register, Set};

/// Reads a register's file that is bad, and compares the error.
#[track_caller]
fn refused(format: Format, text: &str, expect: &str) {
    let error = formats::read::<Register<Value>>(format, text.as_bytes()).expect_err("it is bad");
    assert_eq!(error.to_string(), expect);
}

#[test]
fn calls_that_do_not_fit_together() {
    let check = |text: &str, expect: &str| refused(Format::JepsenEdn, text, expect);
    check(
        "{:process 0 :type :invoke :f :read}\n  {:process 0 :type :invoke :f :read}",
        "line 2, column 3: process 0 begins a call while its call of line 1 is not over; a process has one call at a time: end the other one before, or give this one another process",
    );
    check(
        "{:process 0 :type :ok :f :read}",
        "line 1, column 1: process 0 ends a call that it did not begin; an invocation of the same process comes before: was the beginning of the file cut off?",
    );
    check(
        "{:process 0 :type :invoke :f :read} {:process 0 :type :ok :f :write}",
        "line 1, column 37: process 0 ends :write, and began :read at line 1; an end has the name of its invocation",
    );
    check(
        "{:process 0 :type :begin :f :read}",
        "line 1, column 1: the type is :begin; a type is :invoke, :ok, :fail or :info",
    );
    check(
        "{:process -1 :type :invoke :f :read}",
        "line 1, column 1: the process is -1; a process is a number from 0 on, or :nemesis",
    );
    check(
        "{:process 0 :type :invoke :f :read :index 3}\n{:process 1 :type :invoke :f :read :index 3}",
        "line 2, column 1: :index 3 comes after :index 3; the order of a history is that of its operations: sort them by :index",
    );
    check(
        "{:process 0 :type :invoke :f :read :time -3}",
        "line 1, column 1: :time is -3; give nanoseconds since the start of the test, or leave it out",
    );
    check(
        "{:process 0 :type :invoke}",
        "line 1, column 1: the operation has no :f; an operation is a map as {:process 0, :type :invoke, :f :read, :value nil}",
    );
    check(
        "[{:process 0 :type :invoke :f :read}] 5",
        "line 1, column 39: a value comes after the list; a history is one list, or maps without one",
    );
}

#[test]
fn words_that_a_specification_does_not_know() {
    let invoke = |name: &str, value: &str| format!("{{:process 0 :type :invoke :f :{name} :value {value}}}");
    let call = |name: &str, value: &str, answer: &str| {
        format!("{}\n{{:process 0 :type :ok :f :{name} :value {answer}}}", invoke(name, value))
    };
    let check = |text: &str, expect: &str| refused(Format::JepsenEdn, text, expect);
    check(
        &invoke("increment", "1"),
        "line 1, column 1: a register has no operation :increment; it has :read, :write, :cas; rename the operation, or choose another specification",
    );
    check(
        &invoke("write", "nil"),
        "line 1, column 1: :write of a register does not ask with nil; give an integer, a text, a boolean, a keyword, or a list of such",
    );
    check(
        &invoke("write", "1.5"),
        "line 1, column 1: :write of a register does not ask with 1.5; give an integer, a text, a boolean, a keyword, or a list of such",
    );
    check(
        &call("write", "1", "2"),
        "line 2, column 1: :write of a register does not answer with 2; answer with `nil`, or with the value of the invocation",
    );
    check(
        &invoke("cas", "[1 2 3]"),
        "line 1, column 1: :cas of a register does not ask with [1 2 3]; give `[from to]`, two values",
    );

    let set = formats::read::<Set<Value>>(Format::JepsenEdn, call("read", "nil", "[1 1.5]").as_bytes());
    assert_eq!(
        set.expect_err("a set has no such values").to_string(),
        "line 2, column 1: :read of a set does not answer with [1 1.5]; give an integer, a text, a boolean, a keyword, or a list of such"
    );
    let bank = formats::read::<Bank>(Format::JepsenEdn, call("read", "nil", "{0 nil}").as_bytes());
    assert_eq!(
        bank.expect_err("it is none").to_string(),
        "line 2, column 1: :read of a bank does not answer with {0 nil}; an account is a text or an integer, and a balance is an integer"
    );
    let store = formats::read::<KeyValueStore>(Format::JepsenEdn, call("get", "[1 nil]", "[2 3]").as_bytes());
    assert_eq!(
        store.expect_err("it is another key").to_string(),
        "line 2, column 1: :get of a key-value store does not answer with [2 3]; answer with the key of the invocation, as that has it"
    );
    // Keys in values are not known before the first read.
    let keyed = format!("{}\n{}", call("write", "[1 0]", "[1 0]"), call("read", "[1 nil]", "[1 0]"));
    check(
        &keyed,
        "line 3, column 1: :read of a register does not ask with [1 nil]; give `nil`, since the operation asks with no value; if that is `[key value]`, choose a specification with keys: `key-value-store`, or check with `--keyed`, which gives each key a service of its own",
    );
    check(
        &call("read", "4", "5"),
        "line 2, column 1: :read of a register does not answer with 5; the invocation has the value 4 already",
    );
    check(
        "{:process 0 :type :invoke :f :read :value 4} {:process 0 :type :ok :f :read :value nil}",
        "line 1, column 46: :read of a register does not answer with nil; the invocation has the value 4 already",
    );
    let bad_key = formats::read::<KeyValueStore>(Format::JepsenEdn, invoke("get", "[[1] nil]").as_bytes());
    assert_eq!(
        bad_key.expect_err("a list").to_string(),
        "line 1, column 1: the key is [1]; a key is a text, an integer or a keyword"
    );
    let keyed = "{:process 0 :type :invoke :f :enqueue :key 1 :value 2}";
    let queue = formats::read::<Queue<Value>>(Format::JepsenEdn, keyed.as_bytes());
    assert_eq!(
        queue.expect_err("a queue has no keys").to_string(),
        "line 1, column 1: a queue has no keys, and :enqueue has the key 1; choose a specification with keys: `key-value-store`, or check with `--keyed`, which gives each key a service of its own"
    );
}

#[test]
fn texts_that_are_no_edn_and_no_json() {
    #[track_caller]
    fn check(format: Format, text: &str, expect: &str) {
        let error = formats::read::<Register<Value>>(format, text.as_bytes()).expect_err("it is bad").to_string();
        assert!(error.starts_with(expect), "{error}");
    }
    let edn = |text: &str, expect: &str| check(Format::JepsenEdn, text, expect);
    edn("{:a 1\n :b", "line 2, column 4: the file ends within a value; ");
    edn("[ [1]", "line 1, column 3: [1] is no operation; ");
    edn("{:a [1}", "line 1, column 7: '}' here is not EDN; ");
    edn("]", "line 1, column 1: ']' here is not EDN; ");
    edn("{:a}", "line 1, column 2: the key :a has no value; ");
    edn("{:a 1 :a 2}", "line 1, column 7: the map has the key :a twice; ");
    edn("#{1 1}", "line 1, column 5: the set has 1 twice; ");
    edn("\"\\q\"", "line 1, column 2: no character is escaped like this; ");
    edn("{:process 0 :type :invoke :f :write :value \"\u{fffd}", "line 1, column 48: the file ends within a value; ");
    let json = |text: &str, expect: &str| check(Format::JepsenJson, text, expect);
    json("{\"a\" 1}", "line 1, column 6: ':' is missing; ");
    json("{\"a\":1,}", "line 1, column 8: '}' here is not JSON; ");
    json("{a:1}", "line 1, column 2: a is not JSON; ");
    json("{\"a\":01}", "line 1, column 6: 01 is not JSON; ");
    json("{\"a\":[1 2]}", "line 1, column 9: ',' is missing; ");
    json("{\"a\":\"\\ud800\"}", "line 1, column 7: no character is escaped like this; ");
    let deep = format!("{{:a {}1{}}}", "[".repeat(64), "]".repeat(64));
    edn(&deep, "line 1, column 68: values lie more than 64 deep in each other; ");
    edn(&"[{".repeat(100_000), "line 1, column 66: values lie more than 64 deep in each other; ");
    edn(&"#a ".repeat(100_000), "line 1, column 193: values lie more than 64 deep in each other; ");
}

#[test]
fn lines_of_logs_and_monitors() {
    let log = |text: &str, expect: &str| refused(Format::JepsenLog, text, expect);
    const FORM: &str = "a line is `INFO  jepsen.util - 0 :invoke :read nil`, or begins with the process";
    log("WARN something", &format!("line 1, column 1: the line is no operation; {FORM}"));
    log("INFO  jepsen.util - 0 :ok", &format!("line 1, column 21: the line ends before the operation does; {FORM}"));
    let behind = "the value is one word, list or map, and only what failed or is unknown has an error behind it";
    log("\n0 :ok :read 1 2 3", &format!("line 2, column 15: the line goes on behind its value; {behind}"));
    log("0 :invoke :write 1 no", &format!("line 1, column 20: the line goes on behind its value; {behind}"));
    log("0 :fail :write", &format!("line 1, column 1: the line ends before the operation does; {FORM}"));

    let limo = |text: &str, expect: &str| refused(Format::Limo, text, expect);
    limo("[1] call read", "line 1, column 1: no line says what the object is; begin with `# @object atomic-queue`");
    limo(
        "# @object tree\n",
        "line 1, column 1: the object is not known; one line names the object: atomic-stack, stack, atomic-queue, queue, atomic-register, register, registers, atomic-set, set",
    );
    let object = "# @object register\n";
    limo(
        &format!("{object} [a] call read"),
        "line 2, column 2: the thread is not a number; an event is `[1] call push 3` or `[1] return`",
    );
    limo(
        &format!("{object}[1] crash"),
        "line 2, column 1: the event is neither a call nor a return; an event is `[1] call push 3` or `[1] return`",
    );
    limo(&format!("{object}[1] call write(2, 3)"), "line 2, column 1: \"2, 3\" is no value; a value is one word");
    limo(
        &format!("{object}[1] call read 2\n[1] return 3"),
        "line 3, column 1: `read` of a register does not answer with 3; the invocation has the value 2 already",
    );
    limo(
        &format!("{object}[1] call Write"),
        "line 2, column 1: `Write` of a register does not ask with nil; give an integer, a text, a boolean, a keyword, or a list of such",
    );
    limo(
        &format!("{object}[1] call push 2"),
        "line 2, column 1: a register has no operation \"push\"; operations are write, read",
    );
    limo(
        "\n# @object atomic-stack",
        "line 2, column 1: the history is of a stack, and a register is asked for; choose the specification `stack`",
    );
    let of_a_priority_queue = formats::read::<PriorityQueue<Value>>(Format::Limo, "# @object stack".as_bytes());
    assert_eq!(
        of_a_priority_queue.expect_err("it takes the largest").to_string(),
        "line 1, column 1: the history is of a stack, and a queue by priority is asked for; choose the specification `stack`"
    );
    limo(
        &format!("{object}{object}"),
        "line 2, column 1: a history has one object; check the histories of two objects apart",
    );

    let polylin = |text: &str, expect: &str| {
        let error = formats::read::<Queue<Value>>(Format::PolyLin, text.as_bytes()).expect_err("it is bad");
        assert_eq!(error.to_string(), expect);
    };
    let form = "a call is `enq 3 10 20`: operation, value, and the times of its begin and its end";
    polylin(
        "enq 1 2 3",
        "line 1, column 1: the first line names no object; it is one of `# queue`, `# stack`, `# pqueue`, `# set`",
    );
    polylin(
        "# pqueue\n",
        "line 1, column 1: the history is of a priority-queue, and a queue is asked for; choose the specification `priority-queue`",
    );
    polylin("# queue\nenq 1 2 3 4", &format!("line 2, column 1: the line is no call; {form}"));
    polylin("# queue\npeek 1 2 3", "line 2, column 1: a queue has no operation \"peek\"; operations are enq, deq");
    polylin("# queue\nenq 1 2 x", &format!("line 2, column 1: a time is not a number from 0 on; {form}"));
    polylin(
        "# queue\n\nenq 1 4 3",
        "line 3, column 1: the call ends at 3, before its invocation at 4; take both times from one clock",
    );
}
