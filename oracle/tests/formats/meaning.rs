//! What small files of each format mean.

use std::path::Path;

use serde::Serialize;
use simutant_oracle::formats::{self, Format, Value, Vocabulary, json_lines};
use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Keyed, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds,
    UnorderedQueue, register::Response,
};
use simutant_oracle::{Answer, Check};

/// Reads a file, and compares its calls: `session operation end`, with the moments of the invocation and the end.
#[track_caller]
fn check<S>(format: Format, text: &str, expect: &[&str])
where
    S: Vocabulary,
    S::Operation: Serialize + serde::de::DeserializeOwned,
    S::Response: Serialize + serde::de::DeserializeOwned,
{
    let history = formats::read::<S>(format, text.as_bytes()).expect("a history");
    let mut lines = Vec::new();
    json_lines::write(&history, &mut lines).expect("memory takes all");
    let lines = String::from_utf8(lines).expect("JSON is UTF-8");
    let short = |line: &str| line.replace(",\"invoked_ns\":0,\"invoked_event\"", " @").replace("\"at_ns\":0,", "");
    let read: Vec<String> = lines.lines().map(short).collect();
    assert_eq!(read, expect);
    assert_eq!(formats::detect(None, text.as_bytes()), Some(format), "{text}");
}

#[test]
fn edn_maps_are_events_of_processes() {
    let text = r#"
        ; a comment
        {:process 0, :type :invoke, :f :write, :value 3, :node "n1"}
        {:process :nemesis, :type :info, :f :start, :value nil}
        #jepsen.history.Op{:process 1, :type :invoke, :f :read, :value nil}
        {:process 1, :type :ok, :f :read, :value #_ 5 3}
        {:process 0 :type :info :f :write :value 3 :error [:timeout #object[a.B 0x1f "x"]]}
        {:process 0 :type :invoke :f :cas :value [3 4]} {:process 0 :type :fail :f :cas :value [3 4]}
        {:process 0 :type :invoke :f :cas :value (4 "a\u00e9\n")}
        {:process 0 :type :fail :f :cas :value (4 "aé\n") :error :did-not-match}
        {:process 2, :type :invoke, :f :cas, :value [3 :b]} {:process 2, :type :ok, :f :cas, :value [3 :b]}
        {:process 3, :type :invoke, :f :read}
    "#;
    let expect = [
        r#"{"session":0,"operation":{"write":3} @:0,"end":"unknown"}"#,
        r#"{"session":1,"operation":"read" @:1,"end":{"returned":{"event":2,"response":{"value":3}}}}"#,
        r#"{"session":0,"operation":{"compare_and_set":{"from":3,"to":4}} @:4,"end":{"did_not_happen":{"event":5}}}"#,
        r#"{"session":0,"operation":{"compare_and_set":{"from":4,"to":"aé\n"}} @:6,"end":{"returned":{"event":7,"response":{"compared":false}}}}"#,
        r#"{"session":2,"operation":{"compare_and_set":{"from":3,"to":{"word":":b"}}} @:8,"end":{"returned":{"event":9,"response":{"compared":true}}}}"#,
        r#"{"session":3,"operation":"read" @:10,"end":"unknown"}"#,
    ];
    check::<Register<Value>>(Format::JepsenEdn, text, &expect);
    check::<Register<Value>>(Format::JepsenEdn, &format!("[{text}]"), &expect);
}

#[test]
fn json_is_the_same_with_texts_for_keywords() {
    let one = r#"{"process":0,"type":"invoke","f":"write","value":"a\ud83d\ude00"}"#;
    let other = r#"{"type":"ok","process":0,"f":"write","value":"a😀","error":null,"more":{"x":[1.5e3,{}]}}"#;
    let expect = [r#"{"session":0,"operation":{"write":"a😀"} @:0,"end":{"returned":{"event":1,"response":"done"}}}"#];
    check::<Register<Value>>(Format::JepsenJson, &format!("{one}\n{other}\n"), &expect);
    check::<Register<Value>>(Format::JepsenJson, &format!(" [ {one} ,\n{other} ] \n"), &expect);
}

#[test]
fn times_are_kept_and_never_go_back() {
    let text = "{:process 0 :type :invoke :f :read :time 5}\n{:process 1 :type :invoke :f :read :time 9}
        {:process 0 :type :ok :f :read :value 1 :time 7}";
    let history = formats::read::<Register<Value>>(Format::JepsenEdn, text.as_bytes()).expect("a history");
    let moments: Vec<_> = history.calls().iter().map(|call| (call.invoked.to_string(), call.end.at())).collect();
    assert_eq!(moments[0].0, "0.000000005 s, event 0");
    assert_eq!(moments[0].1.expect("it ended").to_string(), "0.000000009 s, event 2");
    assert_eq!(moments[1], ("0.000000009 s, event 1".to_owned(), None));
}

#[test]
fn a_log_has_errors_of_any_words_behind_values_or_in_their_place() {
    let text = "INFO  jepsen.util - 0\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:invoke\t:cas\t[1 2]
INFO  jepsen.util - :nemesis\t:info\t:start\tcut off {n1 #{n2
INFO  jepsen.util - 0\t:fail\t:read\t:timed-out
1\t:fail\t:cas\t[1 2]
0\t:invoke\t:write\t4
0\t:fail\t:write\t4\tno \"leader [there
1\t:invoke\t:cas\t[1 3]
1\t:fail\t:cas\t:connection-refused
1\t:invoke\t:cas\t[1 4]
1\t:fail\t:cas\t[1 4]\tconnection error of n1
1\t:invoke\t:cas\t[1 5]
1\t:fail\t:cas\t[1 5]\t:did-not-match
1\t:invoke\t:cas\t[1 6]
1\t:info\t:cas\t#<SocketTimeoutException java.net.SocketTimeoutException: Read timed out>
2\t:invoke\t:write\t3
2\t:info\t:write\t3\tjava.io.IOException: {:a
";
    let expect = [
        r#"{"session":0,"operation":"read" @:0,"end":"unknown"}"#,
        r#"{"session":1,"operation":{"compare_and_set":{"from":1,"to":2}} @:1,"end":{"did_not_happen":{"event":3}}}"#,
        r#"{"session":0,"operation":{"write":4} @:4,"end":{"did_not_happen":{"event":5}}}"#,
        r#"{"session":1,"operation":{"compare_and_set":{"from":1,"to":3}} @:6,"end":{"did_not_happen":{"event":7}}}"#,
        r#"{"session":1,"operation":{"compare_and_set":{"from":1,"to":4}} @:8,"end":{"did_not_happen":{"event":9}}}"#,
        r#"{"session":1,"operation":{"compare_and_set":{"from":1,"to":5}} @:10,"end":{"returned":{"event":11,"response":{"compared":false}}}}"#,
        r#"{"session":1,"operation":{"compare_and_set":{"from":1,"to":6}} @:12,"end":"unknown"}"#,
        r#"{"session":2,"operation":{"write":3} @:14,"end":"unknown"}"#,
    ];
    check::<Register<Value>>(Format::JepsenLog, text, &expect);
    let without = text.replace("INFO  jepsen.util - ", "");
    check::<Register<Value>>(Format::JepsenLog, &without, &expect);
    let nemesis_first = format!(":nemesis\t:info\t:start\tnil\n{without}");
    check::<Register<Value>>(Format::JepsenLog, &nemesis_first, &expect);

    // Of the failures, one says nothing but that it is one.
    let parsed = formats::parse::<Register<Value>>(Format::JepsenLog, text.as_bytes()).expect("a history");
    let doubts: Vec<_> = parsed.doubts.iter().map(|doubt| (doubt.call, doubt.line, doubt.refusal.clone())).collect();
    assert_eq!(doubts, [(1, 5, Response::Compared(false))]);
}

#[test]
fn what_takes_or_reads_may_have_its_value_at_the_invocation() {
    let text = "{:process 1 :type :invoke :f :read :value 3} {:process 1 :type :ok :f :read :value 3}
        {:process 2 :type :invoke :f :read :value 4} {:process 2 :type :ok :f :read}
        {:process 3 :type :invoke :f :read :value 5} {:process 3 :type :info :f :read :value 5}";
    let expect = [
        r#"{"session":1,"operation":"read" @:0,"end":{"returned":{"event":1,"response":{"value":3}}}}"#,
        r#"{"session":2,"operation":"read" @:2,"end":{"returned":{"event":3,"response":{"value":4}}}}"#,
        r#"{"session":3,"operation":"read" @:4,"end":"unknown"}"#,
    ];
    check::<Register<Value>>(Format::JepsenEdn, text, &expect);
    one::<Queue<Value>>("dequeue", "4", "4", r#""take" -> {"value":4}"#);
    one::<Set<Value>>("read", "[2 1]", "[2 1]", r#""read" -> {"values":[1,2]}"#);
    one::<KeyValueStore>("get", "[:a 3]", "[:a 3]", r#"{"get":{"key":":a"}} -> {"value":"3"}"#);
    one::<UniqueIds<Value>>("generate", "7", "7", r#""next" -> {"id":7}"#);
}

#[test]
fn a_store_has_keys_beside_values_and_in_pairs() {
    let beside = r#"{:process 0, :type :invoke, :f :append, :key "a", :value "x"}
{:process 1, :type :invoke, :f :get, :key "a", :value nil}
{:process 0, :type :ok, :f :append, :key "a", :value "x"}
{:process 1, :type :ok, :f :get, :key "a", :value "x"}
"#;
    let pairs = r#"{:process 0, :type :invoke, :f :append, :value ["a" "x"]}
{:process 1, :type :invoke, :f :read, :value ["a" nil]}
{:process 0, :type :ok, :f :append, :value ["a" "x"]}
{:process 1, :type :ok, :f :read, :value ["a" "x"]}
"#;
    for text in [beside, pairs] {
        let expect = [
            r#"{"session":0,"operation":{"append":{"key":"a","value":"x"}} @:0,"end":{"returned":{"event":2,"response":"done"}}}"#,
            r#"{"session":1,"operation":{"get":{"key":"a"}} @:1,"end":{"returned":{"event":3,"response":{"value":"x"}}}}"#,
        ];
        check::<KeyValueStore>(Format::JepsenEdn, text, &expect);
    }
    let cas = "{:process 0 :type :invoke :f :cas :value [1 [nil 2]]} {:process 0 :type :ok :f :cas :value [1 [nil 2]]}";
    let expect = [
        r#"{"session":0,"operation":{"compare_and_set":{"key":"1","from":null,"to":"2"}} @:0,"end":{"returned":{"event":1,"response":{"compared":true}}}}"#,
    ];
    check::<KeyValueStore>(Format::JepsenEdn, cas, &expect);
}

/// Reads one call of EDN, and compares its operation and its response.
#[track_caller]
fn one<S>(name: &str, asked: &str, answer: &str, expect: &str)
where
    S: Vocabulary,
    S::Operation: Serialize + serde::de::DeserializeOwned,
    S::Response: Serialize + serde::de::DeserializeOwned,
{
    let text = format!(
        "{{:process 7 :type :invoke :f :{name} :value {asked}}} {{:process 7 :type :ok :f :{name} :value {answer}}}"
    );
    let (operation, response) = expect.split_once(" -> ").expect("both");
    let expect = format!(
        r#"{{"session":7,"operation":{operation} @:0,"end":{{"returned":{{"event":1,"response":{response}}}}}}}"#
    );
    check::<S>(Format::JepsenEdn, &text, &[&expect]);
}

#[test]
fn every_specification_has_its_words() {
    one::<Set<Value>>("add", "1", "1", r#"{"add":1} -> "done""#);
    one::<Set<Value>>("add", "1", "true", r#"{"add":1} -> {"is":true}"#);
    one::<Set<Value>>("remove", "1", "false", r#"{"remove":1} -> {"is":false}"#);
    one::<Set<Value>>("contains", "1", "true", r#"{"contains":1} -> {"is":true}"#);
    one::<Set<Value>>("read", "nil", "#{2 1}", r#""read" -> {"values":[1,2]}"#);
    one::<Set<Value>>("read", "nil", "[2 1]", r#""read" -> {"values":[1,2]}"#);
    one::<Queue<Value>>("enqueue", "[1 true]", "nil", r#"{"put":[1,true]} -> "done""#);
    one::<Queue<Value>>("dequeue", "nil", "4", r#""take" -> {"value":4}"#);
    one::<Stack<Value>>("push", "4", "4", r#"{"put":4} -> "done""#);
    one::<Stack<Value>>("pop", "nil", "nil", r#""take" -> {"value":null}"#);
    one::<PriorityQueue<Value>>("enqueue", "4", "nil", r#"{"put":4} -> "done""#);
    one::<PriorityQueue<Value>>("poll", "nil", "-4", r#""take" -> {"value":-4}"#);
    one::<Counter>("add", "-2", "-2", r#"{"add":-2} -> "done""#);
    one::<Counter>("add-and-get", "2", "5", r#"{"add_and_get":2} -> {"value":5}"#);
    one::<Counter>("read", "nil", "5", r#""read" -> {"value":5}"#);
    one::<Mutex>("acquire", "nil", "nil", r#""acquire" -> {"granted":{}}"#);
    one::<Lease>("renew", "nil", "3", r#""renew" -> {"granted":{"fence":3}}"#);
    one::<UniqueIds<Value>>("generate", "nil", "\"n1-4\"", r#""next" -> {"id":"n1-4"}"#);
    one::<Bank>(
        "transfer",
        "{:from 0, :to :b, :amount 5}",
        "nil",
        r#"{"transfer":{"from":"0","to":":b","amount":5}} -> {"transferred":true}"#,
    );
    one::<Bank>("read", "nil", "{0 5, 1 -7}", r#""read" -> {"balances":{"0":5,"1":-7}}"#);
    one::<UnorderedQueue<Value>>("enqueue", "4", "4", r#"{"put":4} -> "done""#);
    one::<UnorderedQueue<Value>>("dequeue", "nil", "4", r#""take" -> {"value":4}"#);
    let of_key = r#"{"key":":x","operation":{"write":4}} -> "done""#;
    one::<Keyed<Register<Value>>>("write", "[:x 4]", "[:x 4]", of_key);
    one::<Keyed<Register<Value>>>("write", "[:x 4]", "nil", of_key);
    one::<Keyed<Register<Value>>>("read", "[:x nil]", "[:x 4]", r#"{"key":":x","operation":"read"} -> {"value":4}"#);
    one::<Keyed<Queue<Value>>>("dequeue", "[7 nil]", "[7 nil]", r#"{"key":"7","operation":"take"} -> {"value":null}"#);
    one::<Log<Value>>("send", "9", "[4 9]", r#"{"append":9} -> {"appended":{"offset":4}}"#);
    one::<Log<Value>>("append", "9", "nil", r#"{"append":9} -> {"appended":{"offset":null}}"#);
    one::<Log<Value>>("poll", "4", "[[4 9] [6 1]]", r#"{"read":{"from":4}} -> {"records":[[4,9],[6,1]]}"#);
}

#[test]
fn a_list_that_has_a_value_twice_is_no_answer_of_a_set() {
    let read = "{:process 0 :type :invoke :f :read} {:process 0 :type :ok :f :read :value";
    let answer = |values: &str| {
        let text = format!("{{:process 1 :type :invoke :f :add :value 1}}\n{read} {values}}}");
        let history = formats::read::<Set<Value>>(Format::JepsenEdn, text.as_bytes()).expect("it is a history");
        Check::default().run(&history, &Set::default()).answer
    };
    assert!(matches!(answer("[1]"), Answer::Possible { .. }));
    assert!(matches!(answer("[1 1]"), Answer::Impossible { stuck: 1, .. }));
}

#[test]
fn a_drain_is_as_many_calls_as_it_took_values_and_one_that_found_nothing() {
    let put = "{:process 0 :type :invoke :f :enqueue :value 1} {:process 0 :type :ok :f :enqueue :value 1}";
    let drain = "{:process 1 :type :invoke :f :drain} {:process 1 :type :ok :f :drain :value [1 2]}";
    let put_expected = r#"{"session":0,"operation":{"put":1} @:0,"end":{"returned":{"event":1,"response":"done"}}}"#;
    let expect = [
        put_expected,
        r#"{"session":1,"operation":"take" @:2,"end":{"returned":{"event":3,"response":{"value":1}}}}"#,
        r#"{"session":1,"operation":"take" @:4,"end":{"returned":{"event":5,"response":{"value":2}}}}"#,
        r#"{"session":1,"operation":"take" @:6,"end":{"returned":{"event":7,"response":{"value":null}}}}"#,
        r#"{"session":0,"operation":{"put":1} @:8,"end":{"returned":{"event":9,"response":"done"}}}"#,
    ];
    check::<Queue<Value>>(Format::JepsenEdn, &format!("{put}\n{drain}\n{put}"), &expect);
    check::<UnorderedQueue<Value>>(Format::JepsenEdn, &format!("{put}\n{drain}\n{put}"), &expect);
    let at_invocation = drain.replacen(":drain}", ":drain :value [1 2]}", 1);
    check::<Queue<Value>>(Format::JepsenEdn, &format!("{put}\n{at_invocation}\n{put}"), &expect);

    // Nobody knows which of them were before the other call.
    let (begin, end) = drain.split_once("} ").expect("two events");
    let expect = [
        r#"{"session":1,"operation":"take" @:0,"end":{"returned":{"event":5,"response":{"value":1}}}}"#,
        r#"{"session":1,"operation":"take" @:1,"end":{"returned":{"event":6,"response":{"value":2}}}}"#,
        r#"{"session":1,"operation":"take" @:2,"end":{"returned":{"event":7,"response":{"value":null}}}}"#,
        r#"{"session":0,"operation":{"put":1} @:3,"end":{"returned":{"event":4,"response":"done"}}}"#,
    ];
    check::<Queue<Value>>(Format::JepsenEdn, &format!("{begin}}} {put} {end}"), &expect);

    let error = formats::read::<Queue<Value>>(Format::JepsenEdn, format!("{begin}}}").as_bytes());
    assert_eq!(
        error.expect_err("it took what?").to_string(),
        "line 1, column 1: :drain has no end; end it with `:ok` and the values that it took"
    );
    let crashed = format!("{begin}}} {}", end.replace(":ok", ":info"));
    let error = formats::read::<Queue<Value>>(Format::JepsenEdn, crashed.as_bytes()).expect_err("it took what?");
    assert!(error.to_string().starts_with("line 1, column 38: :drain has no end that says what it took; "), "{error}");
    let failed = format!("{begin}}} {}", end.replace(":ok", ":fail"));
    let failed = formats::read::<Queue<Value>>(Format::JepsenEdn, failed.as_bytes()).expect("it did not happen");
    assert!(failed.calls().len() == 1 && failed.calls()[0].end.response().is_none());
    let failed = "0 :invoke :drain nil\n0 :fail :drain nil\n";
    let failed = formats::read::<Queue<Value>>(Format::JepsenLog, failed.as_bytes()).expect("it did not happen");
    assert!(failed.calls().len() == 1 && failed.calls()[0].end.at().is_some());
}

#[test]
fn limo_has_threads_and_values_at_calls_or_returns() {
    let text = "# a stack\n# @object atomic-stack\n\n[1] call push(3)\n  [2] call pop\n[1] return\n\t[2] return 3
[3] call Pop 4\n[3] return\n[4] call pop\n[4] return empty\n[5] call push x_1\n";
    let expect = [
        r#"{"session":1,"operation":{"put":3} @:0,"end":{"returned":{"event":2,"response":"done"}}}"#,
        r#"{"session":2,"operation":"take" @:1,"end":{"returned":{"event":3,"response":{"value":3}}}}"#,
        r#"{"session":3,"operation":"take" @:4,"end":{"returned":{"event":5,"response":{"value":4}}}}"#,
        r#"{"session":4,"operation":"take" @:6,"end":{"returned":{"event":7,"response":{"value":null}}}}"#,
        r#"{"session":5,"operation":{"put":"x_1"} @:8,"end":"unknown"}"#,
    ];
    check::<Stack<Value>>(Format::Limo, text, &expect);
}

/// The object decides what the words mean.
#[test]
fn limo_and_violin_have_words_that_are_those_of_several_objects() {
    let expect = [
        r#"{"session":1,"operation":{"put":2} @:0,"end":{"returned":{"event":1,"response":"done"}}}"#,
        r#"{"session":2,"operation":"take" @:2,"end":{"returned":{"event":3,"response":{"value":2}}}}"#,
    ];
    for (put, take) in [("add", "remove"), ("Add", "rem"), ("put", "get"), ("push", "pop"), ("enqueue", "dequeue")] {
        let text = |object: &str| {
            format!("# @object {object}\n[1] call {put}(2)\n[1] return\n[2] call {take}\n[2] return 2\n")
        };
        check::<Queue<Value>>(Format::Limo, &text("queue"), &expect);
        check::<Stack<Value>>(Format::Limo, &text("atomic-stack"), &expect);
    }
    let text = "# @object set\n[1] call add(2)\n[1] return true\n[2] call ctn(2)\n[2] return false\n";
    let expect = [
        r#"{"session":1,"operation":{"add":2} @:0,"end":{"returned":{"event":1,"response":{"is":true}}}}"#,
        r#"{"session":2,"operation":{"contains":2} @:2,"end":{"returned":{"event":3,"response":{"is":false}}}}"#,
    ];
    check::<Set<Value>>(Format::Limo, text, &expect);
}

#[test]
fn limo_has_values_of_any_signs() {
    let text =
        "# @object stack\n[1] call push(?<0,0>)\n[1] return\n[2] call pop(?<0,0>)\n[2] return\n[3] call push -7\n";
    let expect = [
        r#"{"session":1,"operation":{"put":"?<0,0>"} @:0,"end":{"returned":{"event":1,"response":"done"}}}"#,
        r#"{"session":2,"operation":"take" @:2,"end":{"returned":{"event":3,"response":{"value":"?<0,0>"}}}}"#,
        r#"{"session":3,"operation":{"put":-7} @:4,"end":"unknown"}"#,
    ];
    check::<Stack<Value>>(Format::Limo, text, &expect);
}

#[test]
fn polylin_has_calls_with_two_times() {
    #[track_caller]
    fn times<S: Vocabulary>(text: &str, expect: &[&str])
    where
        S::Operation: Serialize + serde::de::DeserializeOwned,
        S::Response: Serialize + serde::de::DeserializeOwned,
    {
        let history = formats::read::<S>(Format::PolyLin, text.as_bytes()).expect("a history");
        let mut lines = Vec::new();
        json_lines::write(&history, &mut lines).expect("memory takes all");
        assert_eq!(String::from_utf8(lines).expect("JSON").lines().collect::<Vec<_>>(), expect);
        assert_eq!(formats::detect(Some(Path::new("a.log")), text.as_bytes()), Some(Format::PolyLin));
    }
    times::<Queue<Value>>(
        "# queue\ndeq -1 6 8\nenq 7 1 5\n",
        &[
            r#"{"session":1,"operation":{"put":7},"invoked_ns":1,"end":{"returned":{"at_ns":5,"response":"done"}}}"#,
            r#"{"session":0,"operation":"take","invoked_ns":6,"end":{"returned":{"at_ns":8,"response":{"value":null}}}}"#,
        ],
    );
    times::<PriorityQueue<Value>>(
        "# pqueue\npoll 5 1 2\n",
        &[r#"{"session":0,"operation":"take","invoked_ns":1,"end":{"returned":{"at_ns":2,"response":{"value":5}}}}"#],
    );
    times::<Set<Value>>(
        "#set\n\n# more\ninsert 5 0 1 2\ncontains 5 1 2 3\n",
        &[
            r#"{"session":0,"operation":{"add":5},"invoked_ns":1,"end":{"returned":{"at_ns":2,"response":{"is":false}}}}"#,
            r#"{"session":1,"operation":{"contains":5},"invoked_ns":2,"end":{"returned":{"at_ns":3,"response":{"is":true}}}}"#,
        ],
    );
}

#[test]
fn an_extension_tells_the_format_where_the_content_does_not() {
    #[track_caller]
    fn detect(name: &str, head: &str, expect: Option<Format>) {
        assert_eq!(formats::detect(Some(Path::new(name)), head.as_bytes()), expect, "{name}: {head}");
    }
    detect("a.edn", "", Some(Format::JepsenEdn));
    detect("a.json", "[]", Some(Format::JepsenJson));
    detect("a.jsonl", "", Some(Format::JsonLines));
    detect("a.HIST", "\n", Some(Format::Limo));
    detect("a.log", "", None);
    detect("history", "something", None);
    detect("a.json", r#"{"session":1,"operation":"read","invoked_ns":0,"end":"unknown"}"#, Some(Format::JsonLines));
    detect("a.jsonl", r#"{"process":1,"type":"invoke"}"#, Some(Format::JepsenJson));
    detect("a.txt", "; of today\n[#jepsen.history.Op{:process 0}]", Some(Format::JepsenEdn));
}
