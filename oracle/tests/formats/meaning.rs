//! What small files of each format mean.

use std::path::Path;

use serde::Serialize;
use simutant_oracle::formats::{self, Format, Value, Vocabulary, json_lines};
use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds,
};

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
fn a_log_says_what_compared_and_what_timed_out() {
    let text = "INFO  jepsen.util - 0\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:invoke\t:cas\t[1 2]
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
INFO  jepsen.util - 0\t:fail\t:read\t:timed-out
1\t:fail\t:cas\t[1 2]
0\t:invoke\t:write\t4
0\t:fail\t:write\t4
1\t:invoke\t:write\t3
1\t:info\t:write\t:timed-out
";
    let expect = [
        r#"{"session":0,"operation":"read" @:0,"end":"unknown"}"#,
        r#"{"session":1,"operation":{"compare_and_set":{"from":1,"to":2}} @:1,"end":{"returned":{"event":3,"response":{"compared":false}}}}"#,
        r#"{"session":0,"operation":{"write":4} @:4,"end":{"did_not_happen":{"event":5}}}"#,
        r#"{"session":1,"operation":{"write":3} @:6,"end":"unknown"}"#,
    ];
    check::<Register<Value>>(Format::JepsenLog, text, &expect);
    check::<Register<Value>>(Format::JepsenLog, &text.replace("INFO  jepsen.util - ", ""), &expect);
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
    one::<Bank>("read", "nil", "{0 5, 1 7}", r#""read" -> {"balances":{"0":5,"1":7}}"#);
    one::<Log<Value>>("send", "9", "[4 9]", r#"{"append":9} -> {"appended":{"offset":4}}"#);
    one::<Log<Value>>("append", "9", "nil", r#"{"append":9} -> {"appended":{"offset":null}}"#);
    one::<Log<Value>>("poll", "4", "[[4 9] [6 1]]", r#"{"read":{"from":4}} -> {"records":[[4,9],[6,1]]}"#);
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
    let text = "# @object queue\n[1] call enq 2\n[1] return\n[2] call remove\n[2] return 2\n";
    let expect = [
        r#"{"session":1,"operation":{"put":2} @:0,"end":{"returned":{"event":1,"response":"done"}}}"#,
        r#"{"session":2,"operation":"take" @:2,"end":{"returned":{"event":3,"response":{"value":2}}}}"#,
    ];
    check::<Queue<Value>>(Format::Limo, text, &expect);
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
