//! The simulated server keeps the specification, and servers that break a rule do not.

use simutant_http_tester::HttpService;
use simutant_http_tester::watch::Watch;
use simutant_oracle::{Check, End, Recorder, Session, Time};

use super::*;
use crate::message::{Conditions, Method, Tags};
use crate::proxy::Proxy;
use crate::ranges::Ranges;
use crate::rules::RuleId;
use crate::specification::LONG_AGO;
use crate::tag::EntityTag;

#[test]
fn the_simulated_server_keeps_the_specification() {
    for number in 0..200 {
        let case = simutant_system::universe::<Http>(1, number);
        let report = Http::configure(&case).run();
        assert!(report.ended.passed(), "{number}: {}", report.ended);
    }
}

/// A request, and the answer to it.
struct Exchange(Request, Seen);

fn get(conditions: Conditions, seen: Seen) -> Exchange {
    Exchange(Request { method: Method::Get, path: "/a".into(), body: None, conditions }, seen)
}

fn put(body: &str, conditions: Conditions, status: u16) -> Exchange {
    let body = Some(body.to_owned());
    Exchange(Request { method: Method::Put, path: "/a".into(), body, conditions }, answered(status))
}

fn answered(status: u16) -> Seen {
    Seen { status, ..Seen::default() }
}

fn content(body: &str, tag: &str) -> Seen {
    Seen { body: body.into(), tag: Some(tag.parse().expect("a tag")), ..answered(200) }
}

fn if_match(tag: &str) -> Conditions {
    Conditions { if_match: Some(tags(tag)), ..Conditions::default() }
}

fn if_none_match(tag: &str) -> Conditions {
    Conditions { if_none_match: Some(tags(tag)), ..Conditions::default() }
}

fn tags(text: &str) -> Tags {
    match text {
        "*" => Tags::Any,
        tag => Tags::These(vec![tag.parse::<EntityTag>().expect("a tag")]),
    }
}

/// Checks exchanges, one after the other.
fn is_possible(exchanges: &[Exchange], waived: &[usize]) -> bool {
    let recorder = Recorder::in_order();
    for Exchange(request, seen) in exchanges {
        recorder.observed(Session(1), request.clone(), Response::Seen(seen.clone()), Time::ZERO);
    }
    let mut service = Service::default();
    waived.iter().for_each(|rule| service.waive(*rule));
    Check::default().run(&recorder.history(), &service).is_possible()
}

/// Checks that exchanges are possible.
#[track_caller]
fn check_right(exchanges: &[Exchange]) {
    assert!(is_possible(exchanges, &[]));
}

/// Checks that exchanges are wrong, and would not be if one of these rules were waived, and no other.
#[track_caller]
fn check_wrong(exchanges: &[Exchange], broken: &[RuleId]) {
    assert!(!is_possible(exchanges, &[]));
    let explaining = (0..Service::RULES.len()).filter(|rule| is_possible(exchanges, &[*rule]));
    assert_eq!(explaining.collect::<BTreeSet<_>>(), broken.iter().map(|rule| *rule as usize).collect());
}

#[test]
fn rules_have_names_of_their_own() {
    for rules in [Service::RULES, Ranges::RULES, Proxy::RULES] {
        let names: BTreeSet<&str> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules.len());
    }
}

/// Returns a content `x` with a tag, and what comes after that.
fn after(tag: &str, more: Vec<Exchange>) -> Vec<Exchange> {
    let first = [put("x", Conditions::default(), 201), get(Conditions::default(), content("x", tag))];
    first.into_iter().chain(more).collect()
}

#[test]
fn a_tag_that_was_said_decides_conditions() {
    use RuleId as R;
    let strong = |more| after("\"1\"", vec![more]);
    check_right(&strong(put("y", if_match("\"1\""), 204)));
    check_right(&strong(put("y", if_match("\"2\""), 412)));
    check_right(&strong(put("y", if_match("*"), 204)));
    check_right(&strong(put("x", if_match("\"2\""), 204)));
    check_wrong(&strong(put("y", if_match("\"1\""), 412)), &[]);
    check_wrong(&strong(put("y", if_match("\"2\""), 204)), &[R::IfMatchPut]);
    check_wrong(&strong(put("y", if_match("W/\"1\""), 204)), &[R::IfMatchPut, R::IfMatchStrong]);
    check_wrong(&strong(get(if_match("\"2\""), content("x", "\"1\""))), &[R::IfMatchRead]);
    check_wrong(&strong(put("y", if_none_match("\"1\""), 204)), &[R::IfNoneMatchPut]);
    check_wrong(&strong(put("y", if_none_match("W/\"1\""), 204)), &[R::IfNoneMatchPut, R::IfNoneMatchWeak]);
    check_wrong(&strong(put("y", if_none_match("*"), 204)), &[R::IfNoneMatchAnyPut]);
    check_wrong(
        &strong(get(if_none_match("W/\"1\""), content("x", "\"1\""))),
        &[R::IfNoneMatchRead, R::IfNoneMatchWeak],
    );
    let not_modified = Seen { tag: Some(EntityTag::strong("1")), ..answered(304) };
    check_right(&strong(get(if_none_match("W/\"1\""), not_modified)));
    check_wrong(&strong(get(if_none_match("\"1\""), answered(304))), &[R::NotModifiedTag]);
}

#[test]
fn a_tag_that_nobody_said_is_known_by_its_effects() {
    use RuleId as R;
    let unknown =
        |more: Vec<Exchange>| [put("x", Conditions::default(), 201)].into_iter().chain(more).collect::<Vec<_>>();
    check_right(&unknown(vec![put("y", if_match("\"z\""), 412), get(Conditions::default(), content("x", "W/\"z\""))]));
    check_wrong(
        &unknown(vec![get(if_none_match("\"z\""), content("x", "\"a\"")), put("y", if_match("\"z\""), 204)]),
        &[R::IfMatchPut],
    );
    let refused = || put("y", if_match("\"z\""), 412);
    // It may have been weak, and be strong by now.
    check_right(&unknown(vec![refused(), put("y", if_match("\"z\""), 204)]));
    check_wrong(
        &unknown(vec![put("y", if_none_match("\"z\""), 412), get(if_none_match("\"z\""), content("x", "\"z\""))]),
        &[R::IfNoneMatchRead, R::IfNoneMatchWeak],
    );
}

#[test]
fn a_strong_tag_changes_with_the_content_and_a_weak_one_need_not() {
    let changed = |tag| vec![put("y", Conditions::default(), 204), get(Conditions::default(), content("y", tag))];
    check_right(&after("\"1\"", changed("\"2\"")));
    check_right(&after("\"1\"", changed("W/\"1\"")));
    check_wrong(&after("\"1\"", changed("\"1\"")), &[RuleId::TagChanges]);
    // An old tag that matches is one that did not change.
    let old = vec![put("y", Conditions::default(), 204), put("z", if_match("\"1\""), 204)];
    check_wrong(&after("\"1\"", old), &[RuleId::IfMatchPut, RuleId::IfMatchStrong, RuleId::TagChanges]);
    check_right(&after("W/\"1\"", vec![get(Conditions::default(), content("x", "\"1\""))]));
    check_wrong(&after("\"1\"", vec![get(Conditions::default(), content("x", "\"2\""))]), &[]);
}

#[test]
fn dates_decide_where_tags_are_not_asked_for() {
    use RuleId as R;
    let date = 1_700_000_000;
    let dated = || Seen { modified: Some(date), ..content("x", "\"1\"") };
    let with = |conditions, seen| {
        vec![put("x", Conditions::default(), 201), get(Conditions::default(), dated()), get(conditions, seen)]
    };
    let unmodified = |date| Conditions { if_unmodified_since: Some(date), ..Conditions::default() };
    let modified = |date| Conditions { if_modified_since: Some(date), ..Conditions::default() };
    let not_modified = || Seen { tag: Some(EntityTag::strong("1")), ..answered(304) };
    check_right(&with(unmodified(date), dated()));
    check_right(&with(unmodified(LONG_AGO), answered(412)));
    check_wrong(&with(unmodified(LONG_AGO), dated()), &[R::IfUnmodifiedSinceRead]);
    check_wrong(&with(unmodified(date), answered(412)), &[]);
    check_right(&with(modified(date), not_modified()));
    check_right(&with(modified(date), dated()));
    check_wrong(&with(modified(LONG_AGO), not_modified()), &[R::IfModifiedSince]);
    let both = Conditions { if_unmodified_since: Some(LONG_AGO), ..if_match("\"1\"") };
    check_wrong(&with(both, answered(412)), &[R::IfMatchFirst]);
    let both = Conditions { if_modified_since: Some(date), ..if_none_match("\"2\"") };
    check_wrong(&with(both, not_modified()), &[R::IfNoneMatchFirst]);
    let both = Conditions { if_modified_since: Some(LONG_AGO), ..if_none_match("\"1\"") };
    check_wrong(&with(both, dated()), &[R::IfNoneMatchFirst, R::IfNoneMatchRead]);
}

#[test]
fn what_is_not_there_cannot_be_compared() {
    use RuleId as R;
    check_right(&[
        get(if_match("\"1\""), answered(404)),
        put("x", if_match("*"), 412),
        put("x", if_none_match("*"), 201),
    ]);
    check_wrong(&[get(if_match("\"1\""), answered(412))], &[R::AbsentFirst]);
    check_wrong(&[put("x", if_match("*"), 201)], &[R::IfMatchAnyPut]);
    let unmodified = || Conditions { if_unmodified_since: Some(LONG_AGO), ..Conditions::default() };
    check_right(&[put("x", unmodified(), 201)]);
    check_wrong(&[put("x", unmodified(), 412)], &[R::IfUnmodifiedSinceAbsent]);
    check_wrong(&[put("x", Conditions::default(), 204)], &[R::PutCreates]);
    check_wrong(&[put("x", Conditions::default(), 201), put("y", Conditions::default(), 201)], &[R::PutReplaces]);
    check_wrong(&[put("x", Conditions::default(), 500)], &[]);
}

/// Whether a history is possible in which calls overlap: each is a request that begins, or the answer to one that has begun.
fn is_possible_in_order(events: &[(usize, &Exchange, bool)]) -> bool {
    let recorder = Recorder::in_order();
    let mut calls = BTreeMap::new();
    for (connection, Exchange(request, seen), is_end) in events {
        if *is_end {
            let call = calls.remove(connection).expect("it has begun");
            recorder.returned(call, Response::Seen(seen.clone()), Time::ZERO).expect("each ends once");
        } else {
            calls.insert(connection, recorder.invoke(Session(*connection as u64), request.clone(), Time::ZERO));
        }
    }
    Check::default().run(&recorder.history(), &Service::default()).is_possible()
}

#[test]
fn what_was_answered_before_a_request_was_sent_came_before_it() {
    let [old, new] = ["old", "new"].map(|body| get(Conditions::default(), content(body, "W/\"1\"")));
    let create = put("old", Conditions::default(), 201);
    let change = put("new", Conditions::default(), 204);
    let begun = [(1, &create, false), (1, &create, true)];
    let after = |events: [(usize, &Exchange, bool); 4]| is_possible_in_order(&[&begun[..], &events].concat());
    // Figures 1.2, 1.3 and 1.4 of Li's thesis; 6.3 has the last two.
    assert!(after([(1, &change, false), (1, &change, true), (2, &new, false), (2, &new, true)]));
    assert!(after([(1, &change, false), (2, &old, false), (1, &change, true), (2, &old, true)]));
    assert!(!after([(1, &change, false), (1, &change, true), (2, &old, false), (2, &old, true)]));
}

/// Watches the simulated server answer a script, and returns how many states are possible after each answer: `None` where they
/// are too many to be followed. Returns an error if some answer seems wrong, or it is not known in the end.
fn watched(drawn: Drawn, seed: u64) -> Result<Vec<Option<usize>>, String> {
    let script = script::draw(drawn, &mut Random::from_seed(seed));
    let mut simulation = Simulation::new(seed);
    let observer = set_up(&mut simulation, script, *LATENCY_MS.end());
    assert!(simulation.run().ended.passed());
    let history = observer.recorder().history();
    let mut events = Vec::new();
    for (place, call) in history.calls().iter().enumerate() {
        events.push((call.invoked.event, place, None));
        let End::Returned { at, response } = &call.end else { panic!("each request is answered") };
        events.push((at.event, place, Some(response)));
    }
    events.sort_by_key(|(event, ..)| *event);
    let mut watch = Watch::new(Service::default());
    let (mut calls, mut states) = (BTreeMap::new(), Vec::new());
    for (_, place, response) in events {
        let call = &history.calls()[place];
        match response {
            None => _ = calls.insert(place, watch.asked(call.session, call.operation.clone())),
            Some(response) => {
                watch.answered(&calls[&place], response.clone()).map_err(|wrong| format!("{wrong:?}"))?;
                states.push(watch.states(&calls[&place]));
            }
        }
    }
    watch.finish(1_000_000).map_err(|unsure| format!("{unsure:?}"))?;
    Ok(states)
}

#[test]
fn few_states_are_possible_at_a_time() {
    // With so many requests in flight, 99 of 100 times.
    for (connections, targets, states_max) in [(1, 3, 2), (2, 3, 4), (4, 3, 35), (4, 1, 100), (8, 3, 300)] {
        let drawn = Drawn { steps: 100, connections, targets, is_pipelined: false };
        let states = (0..10).flat_map(|seed| watched(drawn, seed).expect("the server is right"));
        let mut states: Vec<usize> = states.map(|count| count.unwrap_or(usize::MAX)).collect();
        states.sort_unstable();
        let most = states[states.len() * 99 / 100];
        assert!(most <= states_max, "{connections} in flight, {targets} targets: {most}");
    }
}

#[test]
fn what_was_forgotten_keeps_no_states_apart() {
    // 2,400 contents of one target, one after the other.
    let drawn = Drawn { steps: 5_000, connections: 1, targets: 1, is_pipelined: false };
    let states = watched(drawn, 1).expect("the server is right");
    assert!(states[4_000..].iter().all(|count| count.is_some_and(|count| count <= 4)), "{:?}", &states[4_900..]);
}

#[test]
#[ignore = "it takes long"]
fn the_simulated_server_is_never_rejected() {
    for (connections, targets, scripts) in [(1, 3, 400), (2, 3, 400), (4, 3, 200), (4, 1, 100), (8, 3, 50), (8, 1, 5)] {
        let drawn = Drawn { steps: 100, connections, targets, is_pipelined: false };
        for seed in 0..scripts {
            let states = watched(drawn, seed);
            assert!(states.is_ok(), "{connections} in flight, {targets} targets, seed {seed}: {states:?}");
        }
    }
}
