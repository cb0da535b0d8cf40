use super::super::{Access, CreateMode, Error, Operation, Permissions, Response, Who, ZooKeeper};
use super::*;
use simutant_oracle::{Check, Compared, Filter, Order, Recorder, Scope, Time};

/// Calls of sessions with what they saw, one after the other.
type Seen = Vec<(u64, Operation, Response)>;

#[track_caller]
fn check(seen: &Seen, expect: bool) {
    assert_eq!(is_possible(&recorded(seen)), expect, "{seen:#?}");
}

fn recorded(seen: &Seen) -> Recorder<Operation, Response> {
    let recorder = Recorder::in_order();
    for (at, (session, operation, response)) in (0..).zip(seen) {
        recorder.observed(Session(*session), operation.clone(), response.clone(), Time::from_nanos(at));
    }
    recorder
}

fn is_possible(recorder: &Recorder<Operation, Response>) -> bool {
    in_order().run(&recorder.history(), &ZooKeeper::default()).is_possible()
}

fn in_order() -> Check<'static> {
    Check { order: Order { real_time: true, sessions: true, ..Order::none() }, ..Check::default() }
}

fn create_as(session: u64, path: &str, mode: CreateMode) -> (u64, Operation, Response) {
    (session, Operation::Create { path: path.into(), data: None, mode }, Response::Done)
}

fn create(session: u64, path: &str) -> (u64, Operation, Response) {
    create_as(session, path, CreateMode::Persistent)
}

fn delete(session: u64, path: &str) -> (u64, Operation, Response) {
    (session, Operation::Delete { path: path.into(), version: None }, Response::Done)
}

fn set(session: u64, path: &str) -> (u64, Operation, Response) {
    (session, Operation::SetData { path: path.into(), data: Some("x".into()), version: None }, Response::Done)
}

fn get(path: &str) -> Operation {
    Operation::GetData { path: path.into() }
}

fn exists(path: &str) -> Operation {
    Operation::Exists { path: path.into() }
}

fn children(path: &str) -> Operation {
    Operation::GetChildren { path: path.into() }
}

fn names(names: &[&str]) -> Response {
    Response::Children(names.iter().copied().map(Text::from).collect())
}

/// A read that leaves a watch.
fn watch(session: u64, read: Operation, response: Response) -> (u64, Operation, Response) {
    (session, read.and_watch(), response)
}

fn data() -> Response {
    Response::Data(None)
}

/// What a session sees before the answer of a call that shows nothing else.
fn sees(session: u64, events: &[Event]) -> (u64, Operation, Response) {
    (session, exists("/"), Response::Exists(true).after(events.to_vec()))
}

fn created(path: &str) -> Event {
    Event::Created(path.into())
}

fn deleted(path: &str) -> Event {
    Event::Deleted(path.into())
}

fn changed(path: &str) -> Event {
    Event::DataChanged(path.into())
}

fn children_changed(path: &str) -> Event {
    Event::ChildrenChanged(path.into())
}

/// Holds what session 1 is told after some calls against what it must be told.
#[track_caller]
fn told(calls: &[(u64, Operation, Response)], expect: &[Event]) {
    let with = |events: &[Event]| [calls, &[sees(1, events)]].concat();
    check(&with(expect), true);
    let all =
        ["/", "/a", "/a/b", "/c"].map(|path| [created(path), deleted(path), changed(path), children_changed(path)]);
    for event in all.into_iter().flatten() {
        let more = [expect, std::slice::from_ref(&event)].concat();
        check(&with(&more), false);
        let other = [&[event], expect.get(1..).unwrap_or_default()].concat();
        check(&with(&other), other == expect);
    }
    for place in 0..expect.len() {
        let mut fewer = expect.to_vec();
        fewer.remove(place);
        check(&with(&fewer), false);
    }
}

#[test]
fn a_change_of_what_was_read_is_told_once() {
    let read = [create(1, "/a"), watch(1, get("/a"), data())];
    told(&read, &[]);
    told(&[&read[..], &[set(2, "/a")]].concat(), &[changed("/a")]);
    told(&[&read[..], &[set(2, "/a"), set(2, "/a")]].concat(), &[changed("/a")]);
    told(&[&read[..], &[set(2, "/a"), sees(1, &[changed("/a")]), set(2, "/a")]].concat(), &[]);
    told(&[&read[..], &[watch(1, exists("/a"), Response::Exists(true)), set(2, "/a")]].concat(), &[changed("/a")]);
    told(&[&read[..], &[delete(2, "/a")]].concat(), &[deleted("/a")]);
    told(&[&read[..], &[create(2, "/a/b"), create(2, "/c")]].concat(), &[]);
    let list = Operation::SetAcl { path: "/a".into(), acl: vec![everybody(Permissions::ALL)], version: None };
    told(&[&read[..], &[(2, list, Response::Done)]].concat(), &[]);
}

fn everybody(permissions: Permissions) -> Access {
    Access { who: Who::Anyone, permissions }
}

#[test]
fn each_session_is_told_of_its_own_watches() {
    let both = [create(2, "/a"), watch(1, get("/a"), data()), watch(2, get("/a"), data())];
    let mut own = set(2, "/a");
    own.2 = own.2.after(vec![changed("/a")]);
    told(&[&both[..], std::slice::from_ref(&own)].concat(), &[changed("/a")]);
    // It is told of its own change before it is answered.
    check(&[&both[..], &[set(2, "/a"), sees(2, &[changed("/a")])]].concat(), false);
    check(&[&both[..1], &[watch(1, get("/a"), data()), own]].concat(), false);
}

#[test]
fn an_event_comes_before_what_shows_its_change() {
    let read = [create(1, "/a"), watch(1, get("/a"), data()), set(2, "/a")];
    let shown = Response::Data(Some("x".into()));
    let with = |more: &[(u64, Operation, Response)]| [&read[..], more].concat();
    check(&with(&[(1, get("/a"), shown.clone().after(vec![changed("/a")]))]), true);
    check(&with(&[(1, get("/a"), shown.clone()), sees(1, &[changed("/a")])]), false);
    check(&with(&[(1, get("/a"), data()), sees(1, &[changed("/a")])]), false);
    check(&with(&[(1, get("/a"), shown), sees(1, &[])]), false);
}

#[test]
fn a_read_that_fails_leaves_no_watch_but_of_a_node_that_is_not_there() {
    let none = Response::Error(Error::NoNode);
    told(&[watch(1, get("/a"), none.clone()), create(2, "/a")], &[]);
    told(&[watch(1, children("/a"), none), create(2, "/a"), create(2, "/a/b")], &[]);
    let asked = watch(1, exists("/a"), Response::Exists(false));
    told(&[asked.clone(), create(2, "/a"), set(2, "/a")], &[created("/a")]);
    told(&[asked], &[]);
    told(&[(1, create(1, "/a").1.and_watch(), Response::Error(Error::BadArguments)), create(2, "/a")], &[]);
}

#[test]
fn children_are_watched_apart_from_data() {
    let read = [create(1, "/a"), watch(1, children("/a"), names(&[]))];
    let with = |more: &[(u64, Operation, Response)]| [&read[..], more].concat();
    told(&with(&[set(2, "/a")]), &[]);
    told(&with(&[create(2, "/a/b"), delete(2, "/a/b")]), &[children_changed("/a")]);
    told(&with(&[create(2, "/c")]), &[]);
    told(&with(&[delete(2, "/a")]), &[deleted("/a")]);
    let again = [create(2, "/a/b"), sees(1, &[children_changed("/a")]), watch(1, children("/a"), names(&["b"]))];
    told(&[&with(&again)[..], &[delete(2, "/a/b")]].concat(), &[children_changed("/a")]);
    // A deletion is told once to who watches the node's data and its children, and to who watches its parent's.
    let all = [watch(1, get("/a"), data()), watch(1, children("/"), names(&["a", "zookeeper"]))];
    told(&[&with(&all)[..], &[delete(2, "/a")]].concat(), &[deleted("/a"), children_changed("/")]);
    told(&[&with(&all)[..], &[delete(2, "/a"), create(2, "/a")]].concat(), &[deleted("/a"), children_changed("/")]);
}

#[test]
fn who_may_not_read_a_node_is_not_told_of_it_and_has_no_watch_any_more() {
    let shut = |session: u64, permissions| {
        let acl = vec![Access { who: Who::Session(Session(session)), permissions }];
        (2, Operation::SetAcl { path: "/a".into(), acl, version: None }, Response::Done)
    };
    let read = [create(2, "/a"), watch(1, exists("/a"), Response::Exists(true))];
    told(&[&read[..], &[shut(2, Permissions::ALL), set(2, "/a")]].concat(), &[]);
    told(&[&read[..], &[shut(2, Permissions::ALL), delete(2, "/a")]].concat(), &[]);
    let later = [shut(2, Permissions::ALL), set(2, "/a"), shut(1, Permissions::ALL), delete(2, "/a")];
    told(&[&read[..], &later].concat(), &[]);
    told(&[&read[..], &[shut(1, Permissions::READ), delete(2, "/a")]].concat(), &[deleted("/a")]);
}

#[test]
fn parts_of_a_transaction_are_told_in_their_order_and_those_of_a_refused_one_are_not() {
    let read = [create(1, "/a"), watch(1, get("/a"), data()), watch(1, exists("/c"), Response::Exists(false))];
    let parts = [create(2, "/c").1, set(2, "/a").1, Operation::Check { path: "/a".into(), version: Some(1) }];
    let done = (2, Operation::Multi(parts.to_vec()), Response::Parts(vec![Response::Done; 3]));
    told(&[&read[..], &[done]].concat(), &[created("/c"), changed("/a")]);
    let wrong = Operation::Multi([&parts[..], &[create(2, "/a").1]].concat());
    told(&[&read[..], &[(2, wrong, Response::refused_parts(4, 3, Error::NodeExists))]].concat(), &[]);
}

#[test]
fn nodes_that_end_with_a_session_are_told_in_any_order() {
    let made = ["/a", "/c"].map(|path| create_as(2, path, CreateMode::Ephemeral));
    let read = ["/a", "/c"].map(|path| watch(1, get(path), data()));
    let (close, expire) = ((2, Operation::Close, Response::Done), (2, Operation::Expire, Response::Done));
    for end in [close, expire] {
        let with = |events: &[Event]| [&made[..], &read[..], &[end.clone(), sees(1, events)]].concat();
        check(&with(&[deleted("/a"), deleted("/c")]), true);
        check(&with(&[deleted("/c"), deleted("/a")]), true);
        for wrong in [&[deleted("/a")][..], &[deleted("/a"), deleted("/a")], &[]] {
            check(&with(wrong), false);
        }
        check(&with(&[deleted("/a"), deleted("/c"), deleted("/a")]), false);
        told(&[&made[..1], &read[..1], std::slice::from_ref(&end)].concat(), &[deleted("/a")]);
    }
}

#[test]
fn what_a_session_watches_ends_with_it_and_with_its_connection() {
    let read = [create(2, "/a"), watch(1, get("/a"), data())];
    told(&[&read[..], &[(1, Operation::Close, Response::Done), set(2, "/a")]].concat(), &[]);
    let connect = |events: &[Event]| (1, Operation::Connect, Response::Events(events.to_vec()));
    told(&[&read[..], &[connect(&[]), set(2, "/a")]].concat(), &[]);
    told(&[&read[..], &[set(2, "/a"), connect(&[])]].concat(), &[]);
    told(&[&read[..], &[set(2, "/a"), connect(&[changed("/a")])]].concat(), &[]);
    check(&[&read[..], &[set(2, "/a"), connect(&[deleted("/a")])]].concat(), false);
    check(&[&read[..], &[connect(&[changed("/a")])]].concat(), false);
}

#[test]
fn events_after_the_last_answer_are_explained_and_others_may_be_on_their_way() {
    let read = [create(2, "/a"), watch(1, get("/a"), data()), watch(1, children("/"), names(&["a", "zookeeper"]))];
    let notice = |events: &[Event]| (1, Operation::Notice, Response::Events(events.to_vec()));
    let with = |more: &[(u64, Operation, Response)]| [&read[..], more].concat();
    let all = [deleted("/a"), children_changed("/")];
    for count in 0..=2 {
        check(&with(&[delete(2, "/a"), notice(&all[..count])]), true);
        check(&with(&[notice(&all[..count])]), count == 0);
    }
    check(&with(&[delete(2, "/a"), notice(&all[1..])]), false);
    check(&with(&[delete(2, "/a"), notice(&[deleted("/a"), deleted("/a")])]), false);
    check(&with(&[delete(2, "/a"), notice(&all), sees(1, &all)]), true);
}

/// A session's own change may be told to it although the change is not answered any more.
#[test]
fn an_event_may_be_of_a_call_without_an_answer() {
    for is_seen in [true, false] {
        for is_sent in [true, false] {
            let recorder = Recorder::in_order();
            for (session, operation, response) in [create(1, "/a"), watch(1, get("/a"), data())] {
                recorder.observed(Session(session), operation, response, Time::ZERO);
            }
            if is_sent {
                recorder.invoke_asynchronous(Session(1), set(1, "/a").1, Time::ZERO);
            }
            let events = if is_seen { vec![changed("/a")] } else { Vec::new() };
            let notice = recorder.invoke(Session(1), Operation::Notice, Time::ZERO);
            recorder.returned(notice, Response::Events(events), Time::MAX).expect("it is open");
            assert_eq!(is_possible(&recorder), is_sent || !is_seen);
        }
    }
}

#[test]
fn a_session_that_has_expired_is_refused_until_it_connects_anew() {
    let made = [create_as(1, "/a", CreateMode::Ephemeral), create(1, "/c")];
    let refused = Response::Error(Error::SessionExpired);
    let expire = (1, Operation::Expire, Response::Done);
    let connect = (1, Operation::Connect, Response::Events(Vec::new()));
    let with = |more: &[(u64, Operation, Response)]| [&made[..], more].concat();
    check(&with(&[(1, exists("/c"), refused.clone())]), false);
    check(&with(&[expire.clone(), (1, exists("/c"), refused.clone())]), true);
    check(&with(&[expire.clone(), (1, exists("/c"), Response::Exists(true))]), false);
    check(&with(&[expire.clone(), (2, exists("/c"), refused)]), false);
    for (path, is_there) in [("/a", false), ("/c", true)] {
        for answer in [false, true] {
            let seen = (2, exists(path), Response::Exists(answer));
            check(&with(&[expire.clone(), seen.clone()]), answer == is_there);
            check(&with(&[expire.clone(), connect.clone(), (1, exists(path), seen.2)]), answer == is_there);
        }
    }
}

#[test]
fn a_session_expires_when_it_may_and_not_before() {
    for (asked, expect) in [(9, false), (11, true)] {
        for is_known in [false, true] {
            let recorder = Recorder::in_order();
            let (session, operation, response) = create_as(1, "/a", CreateMode::Ephemeral);
            recorder.observed(Session(session), operation, response, Time::ZERO);
            // It may have expired from 10 on.
            let expire = recorder.invoke(Session(1), Operation::Expire, Time::from_nanos(10));
            let at = Time::from_nanos(asked);
            recorder.observed(Session(2), exists("/a"), Response::Exists(false), at);
            if is_known {
                recorder.returned(expire, Response::Done, Time::from_nanos(20)).expect("it is open");
            }
            assert_eq!(is_possible(&recorder), expect, "asked at {asked}");
        }
    }
}

#[test]
fn a_read_whose_answer_is_not_compared_takes_events_along() {
    let recorder = recorded(&vec![
        watch(1, exists("/a"), Response::Exists(false)),
        create(2, "/a"),
        (1, exists("/a"), Response::Exists(true).after(vec![created("/a")])),
        (1, exists("/a"), Response::Exists(true)),
    ]);
    for compared in [Compared::All, Compared::Target] {
        for filter in [Filter::None, Filter::Reads, Filter::Unrelated] {
            let check = Check { scope: Scope::EachCall { compared, filter }, ..in_order() };
            assert!(check.run(&recorder.history(), &ZooKeeper::default()).is_possible(), "{compared:?} {filter:?}");
        }
    }
}

#[test]
fn an_explanation_names_no_answer_that_nobody_observes() {
    let recorder = recorded(&vec![
        watch(1, exists("/a"), Response::Exists(false)),
        create(2, "/a"),
        (1, exists("/a"), Response::Exists(true)),
    ]);
    let explained = in_order().explain(&recorder.history(), &ZooKeeper::default());
    let explanation = explained.expect("it is impossible");
    let allowed: Vec<&Response> = explanation.allowed.iter().map(|allowed| &allowed.response).collect();
    let [only] = allowed[..] else { panic!("{allowed:?}") };
    assert!(only.agrees_with(&Response::Exists(true).after(vec![created("/a")])), "{only:?}");
}
