//! What the names in a specification say about what code is for: which calls send, arm a timer, draw at random.
//!
//! Operators see no types, so they know messages, time and states by the names that people give them. The lists here
//! have those of `simutant-sim-core`, of other engines and of asynchronous Rust; `[package.metadata.simutant.names]`
//! adds to them.

use std::collections::BTreeSet;

use serde::Deserialize;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $field:ident: $($name:literal)*;)*) => {
        /// What a name is a name of.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($(#[$doc])* $kind,)*
        }

        /// `[package.metadata.simutant.names]`: names that are added to those that are known.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct Names {
            $($field: BTreeSet<String>,)*
        }

        impl Names {
            /// Returns the names that every package has, and those that the manifest adds.
            fn of(&self, kind: Kind) -> (&'static [&'static str], &BTreeSet<String>) {
                match kind {
                    $(Kind::$kind => (&[$($name),*], &self.$field),)*
                }
            }
        }
    };
}

kinds! {
    /// A call that sends a message.
    Send = send: "send" "try_send" "send_to" "send_all" "send_message" "broadcast" "multicast" "publish" "emit" "transmit" "post"
        "unbounded_send" "blocking_send";
    /// A call that puts an event into the future; an argument says when.
    Schedule = schedule: "schedule" "schedule_at" "schedule_in" "schedule_after" "schedule_event" "push_event" "add_event" "enqueue_at"
        "call_later" "call_at" "send_after" "send_later" "send_delayed";
    /// A call that arms a timer.
    Timer = timer: "set_timer" "start_timer" "arm" "arm_timer" "restart_timer" "reset_timer" "rearm" "schedule_timer" "set_timeout"
        "start_timeout" "schedule_timeout" "set_alarm" "add_timer" "set_deadline";
    /// A call that stops a timer or something that is to happen.
    Cancel = cancel: "cancel" "cancel_timer" "stop_timer" "clear_timer" "clear_timeout" "cancel_timeout" "cancel_event" "disarm" "abort"
        "unschedule" "deschedule" "remove_timer";
    /// A call that lets time pass.
    Sleep = sleep: "sleep" "pause" "delay" "delay_for" "wait_for" "sleep_for" "advance" "interval" "hold";
    /// A call that waits for something, but not for longer than an argument says.
    Timeout = timeout: "timeout" "recv_timeout" "wait_timeout" "receive_timeout" "with_timeout" "connect";
    /// A call that returns the time.
    Now = now: "now" "current_time" "virtual_time" "sim_time" "elapsed" "time";
    /// A call that starts a task.
    Spawn = spawn: "spawn" "spawn_local" "spawn_task";
    /// A call or macro that waits for the first of several futures.
    Select = select: "select" "race" "select_biased" "first" "try_select";
    /// A call or macro that waits for several futures.
    Join = join: "join" "try_join" "join2" "join3";
    /// A call that is true with a probability.
    Chance = random: "chance" "gen_bool" "random_bool" "random_ratio" "gen_ratio" "bernoulli" "coin" "flip_coin" "is_lost" "with_probability";
    /// A call that draws from, or makes, a distribution with a parameter.
    Distribution = distribution: "exponential" "normal" "poisson" "geometric" "log_normal" "gamma" "pareto" "weibull" "exp_rand";
    /// A call that makes a stream of random numbers.
    Stream = stream: "stream" "from_seed" "seed_from_u64" "set_stream" "fork" "split_stream" "substream" "with_seed";
    /// A word in the name of what counts or limits attempts.
    Retry = retry: "try" "tries" "attempt" "attempts" "retry" "retries" "retransmission" "retransmissions" "resend" "resends";
    /// A word in the name of what grows between attempts.
    Backoff = backoff: "backoff" "rto" "delay" "interval" "timeout" "wait";
    /// A word in the name of a limit.
    Limit = limit: "max" "maximum" "limit" "tries" "most";
    /// A word in the name of a variable that says when something is due.
    Deadline = deadline: "deadline" "timer" "timeout" "expires" "expiry" "due" "alarm" "wakeup" "lease";
    /// A word in the name of a point in time.
    Time = points_in_time: "time" "at" "when" "now" "instant" "deadline" "due" "date";
    /// A word in the name of a length of time.
    Duration = duration: "timeout" "delay" "latency" "interval" "period" "duration" "backoff" "ttl" "rtt" "rto" "patience" "wait" "elapsed";
    /// A word in the name of what tells a stale timer or message from a new one.
    Generation = generation: "generation" "gen" "epoch" "term" "version" "round" "incarnation" "timer" "token" "ballot" "view";
    /// A word in the name of a state variable.
    State = state: "state" "phase" "role" "mode" "status" "stage";
    /// A word in the name of a type of messages.
    Message = message: "message" "msg" "event" "packet" "request" "response" "reply" "command" "signal" "frame" "payload" "rpc";
    /// A word in the name of an address.
    Address = address: "address" "addr" "source" "src" "destination" "dst" "dest" "from" "to" "sender" "receiver" "peer" "origin" "target";
    /// A word in the name of what breaks a tie between events of one time.
    Tie = tie: "seq" "sequence" "priority" "prio" "order" "serial" "counter" "id" "index" "number" "tie";
    /// A call that only tells people what happens. No mutants are made of it, since no oracle listens.
    Tell = tell: "note" "phase" "log" "trace" "debug" "info" "warn";
    /// A call that adds an arc from a place of a Petri net to a transition.
    InputArc = input_arc: "input_arc" "add_input" "add_input_arc" "arc_in" "arc_from_place" "consumes" "pre";
    /// A call that adds an arc from a transition of a Petri net to a place.
    OutputArc = output_arc: "output_arc" "add_output" "add_output_arc" "arc_out" "arc_to_place" "produces" "post";
    /// A call that adds an arc which keeps a transition from firing as long as the place has tokens.
    Inhibitor = inhibitor: "inhibitor" "add_inhibitor" "inhibitor_arc" "add_inhibitor_arc" "inhibited_by" "inhibits";
    /// A word in the name of what counts the tokens in a place.
    Token = token: "token" "tokens" "marking" "markings";
}

impl Names {
    /// Whether a call's name is of this kind.
    pub(crate) fn is(&self, kind: Kind, name: &str) -> bool {
        let (known, added) = self.of(kind);
        known.contains(&name) || added.contains(name)
    }

    /// Whether one of the words in an identifier is of this kind.
    pub(crate) fn has_word(&self, kind: Kind, identifier: &str) -> bool {
        let (_, added) = self.of(kind);
        added.contains(identifier) || words(identifier).iter().any(|word| self.is(kind, word))
    }
}

/// Returns the words of an identifier in lower case, whichever way they are joined.
fn words(identifier: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for letter in identifier.chars() {
        let begins = letter == '_' || (letter.is_uppercase() && before.is_lowercase());
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if letter != '_' {
            words.last_mut().expect("there is always one").extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart_however_they_are_joined() {
        for (identifier, expect) in [
            ("retry_limit", ["retry", "limit"]),
            ("RETRY_LIMIT", ["retry", "limit"]),
            ("RetryLimit", ["retry", "limit"]),
            ("_retry__limit", ["retry", "limit"]),
        ] {
            assert_eq!(words(identifier), expect, "{identifier}");
        }
    }

    #[test]
    fn the_manifest_adds_names() {
        let names: Names = toml::from_str("send = [\"cast\"]").expect("a list");
        assert!(names.is(Kind::Send, "send") && names.is(Kind::Send, "cast") && !names.is(Kind::Send, "recv"));
        assert!(names.has_word(Kind::Retry, "MAX_RETRIES") && !names.has_word(Kind::Retry, "country"));
        assert!(
            toml::from_str::<Names>("sends = []").expect_err("a wrong key").to_string().contains("expected one of")
        );
    }

    #[test]
    fn the_book_has_each_key() {
        let page = include_str!("../../../docs/src/reference/files.md");
        let refused = toml::from_str::<Names>("unknown = []").expect_err("it is no key").to_string();
        let keys: Vec<&str> = refused.split('`').skip(3).step_by(2).collect();
        assert!(keys.len() > 20, "{refused}");
        for key in keys {
            assert!(page.contains(&format!("`{key}`")), "{key} is not in the table of `names`");
        }
    }
}
