use simutant_oracle::Open;

use super::*;

/// Takes operations of sessions on a fresh tree, and holds the last answer.
#[track_caller]
fn check(operations: &[(u64, Operation)], expect: &Response) {
    let mut tree = ZooKeeper::default();
    let answers: Vec<Response> = operations
        .iter()
        .map(|(session, operation)| tree.step(Session(*session), operation, &mut Open::first()))
        .collect();
    let last = answers.last().expect("there are some");
    assert!(last.agrees_with(expect), "{operations:?}: {last:?}");
}

fn create(path: &str) -> Operation {
    Operation::Create { path: path.into(), data: None, mode: CreateMode::Persistent }
}

fn acl(path: &str, who: Who, permissions: Permissions) -> Operation {
    Operation::SetAcl { path: path.into(), acl: vec![Access { who, permissions }], version: None }
}

#[test]
fn exceptions_come_in_the_order_of_the_table() {
    let [no_node, exists, not_empty, no_auth] =
        [Error::NoNode, Error::NodeExists, Error::NotEmpty, Error::NoAuth].map(Response::Error);
    let delete = |path: &str| Operation::Delete { path: path.into(), version: None };
    check(&[(1, create("/a"))], &Response::Done);
    check(&[(1, create("/a")), (2, create("/a"))], &exists);
    check(&[(1, create("/a/b"))], &no_node);
    check(&[(1, delete("/a"))], &no_node);
    check(&[(1, create("/a")), (1, create("/a/b")), (1, delete("/a"))], &not_empty);
    check(&[(1, delete("/"))], &Response::Error(Error::BadArguments));
    let mine = acl("/a", Who::Session(Session(1)), Permissions(5));
    check(&[(1, create("/a")), (1, mine.clone()), (2, create("/a/b"))], &no_auth);
    check(&[(1, create("/a")), (1, mine.clone()), (1, create("/a/b"))], &Response::Done);
    check(&[(1, create("/a")), (1, mine.clone()), (1, create("/a/b")), (1, delete("/a/b"))], &no_auth);
    check(&[(1, create("/a")), (1, mine.clone()), (1, mine.clone())], &no_auth);
    check(&[(1, create("/a")), (1, mine.clone()), (2, Operation::GetData { path: "/a".into() })], &no_auth);
    check(&[(1, create("/a")), (1, mine), (2, Operation::Exists { path: "/a".into() })], &Response::Exists(true));
}

/// Returns all answers to the last of some operations.
fn answers(tree: ZooKeeper, operations: &[(u64, Operation)]) -> Vec<Response> {
    let ((session, last), before) = operations.split_last().expect("there are some");
    let answer = |choices: &[usize]| {
        let mut tree = tree.clone();
        for (session, operation) in before {
            tree.step(Session(*session), operation, &mut Open::first());
        }
        let mut choices = choices.iter().copied();
        tree.step(Session(*session), last, &mut Open::decided_by(&mut |_| choices.next().unwrap_or_default()))
    };
    let mut all = vec![answer(&[0]), answer(&[1]), answer(&[0, 1]), answer(&[1, 1])];
    all.dedup();
    all
}

#[test]
fn of_several_reasons_each_may_be_answered() {
    let [no_node, exists, not_empty, no_auth, invalid] =
        [Error::NoNode, Error::NodeExists, Error::NotEmpty, Error::NoAuth, Error::InvalidAcl].map(Response::Error);
    let check = |operations: &[(u64, Operation)], expect: &[&Response]| {
        let found = answers(ZooKeeper::default(), operations);
        let agrees = |answer: &Response| expect.iter().any(|expect| answer.agrees_with(expect));
        assert!(expect.iter().all(|expect| found.iter().any(|answer| answer.agrees_with(expect))), "{found:?}");
        assert!(found.iter().all(agrees), "{operations:?}: {found:?}");
    };
    let delete = |path: &str| Operation::Delete { path: path.into(), version: None };
    let shut = (1, acl("/", Who::Session(Session(1)), Permissions::READ));
    check(&[(1, create("/a")), shut.clone(), (1, create("/a"))], &[&exists, &no_auth]);
    check(&[(1, create("/a")), (1, create("/a/b")), shut.clone(), (1, delete("/a"))], &[&not_empty, &no_auth]);
    check(&[shut.clone(), (1, delete("/a"))], &[&no_node, &no_auth]);
    check(&[shut.clone(), (1, create("/a"))], &[&no_auth]);
    check(&[shut.clone(), (1, create("/a/b"))], &[&no_node]);
    let list = Response::Acl(vec![Access { who: Who::Session(Session(1)), permissions: Permissions::READ }]);
    check(&[shut.clone(), (2, Operation::GetAcl { path: "/".into() })], &[&no_auth]);
    check(&[shut, (1, Operation::GetAcl { path: "/".into() })], &[&list]);
    check(&[(1, Operation::SetAcl { path: "/none".into(), acl: vec![], version: None })], &[&invalid]);
}

#[test]
fn stale_permissions_are_for_changes_alone() {
    let shut = [(1, create("/a")), (1, acl("/a", Who::Session(Session(1)), Permissions(0)))];
    let check = |last: Operation, expect: &[Response]| {
        let operations = [&shut[..], &[(1, last)]].concat();
        let plain = |tree| answers(tree, &operations).iter().map(|answer| answer.without_stat().clone()).collect();
        let (stale, right): (Vec<Response>, Vec<Response>) =
            (plain(ZooKeeper::with_stale_permissions()), plain(ZooKeeper::default()));
        assert_eq!(stale[..expect.len()], *expect);
        assert_eq!(right[..], expect[..1]);
    };
    let no_auth = Response::Error(Error::NoAuth);
    check(Operation::SetData { path: "/a".into(), data: None, version: None }, &[no_auth.clone(), Response::Done]);
    check(create("/a/b"), &[no_auth.clone(), Response::Created("/a/b".into())]);
    check(Operation::GetData { path: "/a".into() }, &[no_auth]);
}

#[test]
fn what_stands_twice_in_a_list_is_kept_once() {
    let access = Access { who: Who::Anyone, permissions: Permissions::READ };
    let twice = Operation::SetAcl { path: "/".into(), acl: vec![access, access], version: None };
    check(&[(1, twice), (1, Operation::GetAcl { path: "/".into() })], &Response::Acl(vec![access]));
}

#[test]
fn children_are_those_right_below() {
    let children = |path: &str| Operation::GetChildren { path: path.into() };
    let tree = [(1, create("/a")), (1, create("/a/b")), (1, create("/a/b/c")), (1, create("/ab"))];
    let with = |last: Operation| [tree.to_vec(), vec![(2, last)]].concat();
    check(&with(children("/")), &Response::Children(vec!["a".into(), "ab".into(), "zookeeper".into()]));
    check(&with(children("/a")), &Response::Children(vec!["b".into()]));
    check(&with(children("/ab")), &Response::Children(vec![]));
}

#[test]
fn versions_count_changes_and_are_expected() {
    let bad = Response::Error(Error::BadVersion);
    let set = |version| Operation::SetData { path: "/a".into(), data: Some("xy".into()), version };
    let delete = |path: &str, version| Operation::Delete { path: path.into(), version };
    let list = |version| Operation::SetAcl { path: "/a".into(), acl: Node::new(None).acl, version };
    let tree = [(1, create("/a")), (1, set(Some(0))), (1, list(Some(0))), (1, create("/a/b")), (1, create("/a/c"))];
    let with = |more: &[Operation]| [tree.to_vec(), more.iter().map(|one| (2, one.clone())).collect()].concat();
    for wrong in [set(Some(0)), set(Some(2)), list(Some(0)), delete("/a/b", Some(1))] {
        check(&with(&[wrong]), &bad);
    }
    let stat =
        Stat { version: 2, acl_version: 2, children_version: 3, children: 1, data_length: 2, owner: Owner::Nobody };
    let last = Response::Data(Some("xy".into())).with_stat(stat);
    let get = Operation::GetData { path: "/a".into() };
    check(&with(&[set(Some(1)), list(Some(1)), delete("/a/b", Some(0)), get]), &last);
    let both = answers(ZooKeeper::default(), &with(&[delete("/a", Some(0))]));
    assert_eq!(both[..2], [Response::Error(Error::NotEmpty), bad]);
}

#[test]
fn what_a_client_does_not_look_at_agrees() {
    let stat =
        Stat { version: 1, acl_version: 0, children_version: 0, children: 0, data_length: 0, owner: Owner::Nobody };
    let full = Response::Data(None).with_stat(stat);
    assert!(full.agrees_with(&full) && full.agrees_with(&Response::Data(None)));
    assert!(!Response::Data(None).agrees_with(&full));
    assert!(!full.agrees_with(&Response::Data(Some("x".into()))));
    assert!(!full.agrees_with(&Response::Data(None).with_stat(Stat { version: 2, ..stat })));
}

fn create_as(path: &str, mode: CreateMode) -> Operation {
    Operation::Create { path: path.into(), data: None, mode }
}

#[test]
fn sequential_nodes_are_numbered_by_the_children_that_their_parent_has_had() {
    use CreateMode::{EphemeralSequential, PersistentSequential};
    let tree = [(1, create_as("/x-", PersistentSequential)), (1, create("/a")), (1, create("/a/b"))];
    let with = |last: Operation| [tree.to_vec(), vec![(1, last)]].concat();
    // The root has had `/zookeeper`, `/x-0000000001` and `/a`.
    check(&tree[..1], &Response::Created("/x-0000000001".into()));
    check(&with(create_as("/x-", EphemeralSequential)), &Response::Created("/x-0000000003".into()));
    check(&with(create_as("/", EphemeralSequential)), &Response::Created("/0000000003".into()));
    check(&with(create_as("/a/", PersistentSequential)), &Response::Created("/a/0000000001".into()));
    let gone = with(Operation::Delete { path: "/a/b".into(), version: None });
    let again = [gone, vec![(1, create_as("/a/", PersistentSequential))]].concat();
    check(&again, &Response::Created("/a/0000000001".into()));
    check(&with(create_as("/none/", PersistentSequential)), &Response::Error(Error::NoNode));
}

#[test]
fn ephemeral_nodes_end_with_their_session() {
    let tree = [(1, create_as("/a", CreateMode::Ephemeral)), (2, create_as("/b", CreateMode::Ephemeral))];
    let with =
        |session, more: &[Operation]| [tree.to_vec(), more.iter().map(|one| (session, one.clone())).collect()].concat();
    check(&with(2, &[create("/a/b")]), &Response::Error(Error::NoChildrenForEphemerals));
    let exists = |path: &str| Operation::Exists { path: path.into() };
    let is = |owner| {
        let stat = Stat { version: 0, acl_version: 0, children_version: 0, children: 0, data_length: 0, owner };
        Response::Exists(true).with_stat(stat)
    };
    check(&with(1, &[exists("/a")]), &is(Owner::Caller));
    check(&with(1, &[exists("/b")]), &is(Owner::Other));
    check(&with(1, &[Operation::Close, exists("/a")]), &Response::Exists(false));
    check(&with(1, &[Operation::Close, exists("/b")]), &is(Owner::Other));
    check(&with(2, &[Operation::Close, exists("/a")]), &is(Owner::Other));
}

#[test]
fn all_parts_of_a_transaction_are_done_or_none() {
    let look = |version| Operation::Check { path: "/a".into(), version };
    let set = Operation::SetData { path: "/a".into(), data: Some("x".into()), version: None };
    let first = [create("/a"), set.clone(), look(Some(1)), create("/a/b")];
    let stat =
        Stat { version: 1, acl_version: 0, children_version: 0, children: 0, data_length: 1, owner: Owner::Nobody };
    let created = |path: &str| Response::Created(path.into());
    let done = vec![created("/a"), Response::Done.with_stat(stat), Response::Done, created("/a/b")];
    check(&[(1, Operation::Multi(first.to_vec()))], &Response::Parts(done));
    let errors = |errors: &[Error]| Response::Parts(errors.iter().copied().map(Response::Error).collect());
    let wrong = Operation::Multi(vec![create("/a"), look(Some(1)), set, create("/b")]);
    let [undone, after] = [Error::Undone, Error::RuntimeInconsistency];
    check(&[(1, wrong.clone())], &errors(&[undone, Error::BadVersion, after, after]));
    check(&[(1, wrong), (1, Operation::Exists { path: "/a".into() })], &Response::Exists(false));
    check(&[(1, Operation::Multi(vec![]))], &Response::Parts(vec![]));
    let shut = acl("/a", Who::Session(Session(1)), Permissions::READ);
    let looked = Operation::Multi(vec![look(None)]);
    check(&[(1, create("/a")), (1, shut.clone()), (2, looked.clone())], &errors(&[Error::NoAuth]));
    check(&[(1, create("/a")), (1, shut), (1, looked)], &Response::Parts(vec![Response::Done]));
    check(&[(1, Operation::Multi(vec![look(None)]))], &errors(&[Error::NoNode]));
    check(&[(1, Operation::Multi(vec![Operation::Close]))], &errors(&[Error::BadArguments]));
}

#[test]
fn reasons_are_words() {
    let mut tree = ZooKeeper::default();
    let data = Operation::SetData { path: "/a".into(), data: Some("x".into()), version: None };
    let mine = acl("/a", Who::Session(Session(1)), Permissions(5));
    let get = Operation::GetData { path: "/a".into() };
    let reason = |tree: &ZooKeeper, session| tree.reason(Session(session), &get, &Response::Done, &Response::Done);
    assert_eq!(reason(&tree, 2).as_deref(), Some("/a is not there"));
    for operation in [create("/a"), data.clone(), get.clone().and_watch(), mine] {
        tree.step(Session(1), &operation, &mut Open::first());
    }
    assert_eq!(
        reason(&tree, 2).as_deref(),
        Some(
            "/a is there with the data x and 0 children (version 1 of the data, 1 of permissions, 0 of children): \
             session 1 may read, create"
        )
    );
    assert_eq!(Permissions(0).to_string(), "do nothing");
    assert_eq!(
        Access { who: Who::Anyone, permissions: Permissions::ALL }.to_string(),
        "anyone may read, write, create, delete, administer"
    );
    let all = ["/a".into(), "/b".into(), "/c".into(), "/d".into()];
    let [made, gone, other, below] = all;
    let events =
        vec![Event::Created(made), Event::Deleted(gone), Event::DataChanged(other), Event::ChildrenChanged(below)];
    assert_eq!(
        Event::InAnyOrder(events).to_string(),
        "in any order: /a was created, /b was deleted, the data of /c changed, the children of /d changed"
    );
}

#[test]
fn calls_matter_to_each_other_where_one_changes_what_the_other_looks_at() {
    #[track_caller]
    fn check(one: &Operation, other: &Operation, expect: bool) {
        let of = |operation| ZooKeeper::footprint(operation, Some(&Response::Done));
        assert_eq!(of(one).conflicts(&of(other)), expect, "{one:?}, {other:?}");
        assert_eq!(of(other).conflicts(&of(one)), expect, "{other:?}, {one:?}");
    }
    let delete = |path: &str| Operation::Delete { path: path.into(), version: None };
    let set = |path: &str, version| Operation::SetData { path: path.into(), data: None, version };
    let exists = |path: &str| Operation::Exists { path: path.into() };
    let [data, children] = [Operation::GetData { path: "/a".into() }, Operation::GetChildren { path: "/a".into() }];
    let everyone = acl("/a", Who::Anyone, Permissions::ALL);
    // Children come and go in any order, unless somebody looks at them.
    check(&create("/a/b"), &create("/a/c"), false);
    check(&create("/a/b"), &delete("/a/c"), false);
    check(&create("/a/b"), &children, true);
    check(&create("/a/b"), &delete("/a"), true);
    check(&create("/a/b"), &create_as("/a/", CreateMode::PersistentSequential), true);
    check(&create("/a/b"), &create("/a/b"), true);
    check(&create("/a/b"), &create("/a"), true);
    check(&create("/a/b"), &exists("/a"), false);
    // Data are neither permissions nor children.
    check(&set("/a", None), &create("/a/b"), false);
    check(&set("/a", None), &exists("/a"), false);
    check(&set("/a", None), &everyone, true);
    check(&set("/a", None), &set("/a", None), true);
    check(&set("/a", None), &data, true);
    check(&set("/a", None), &delete("/a"), true);
    check(&everyone, &create("/a/b"), true);
    check(&everyone, &exists("/a"), false);
    let stat =
        Stat { version: 0, acl_version: 0, children_version: 0, children: 0, data_length: 0, owner: Owner::Nobody };
    let seen = ZooKeeper::footprint(&exists("/a"), Some(&Response::Exists(true).with_stat(stat)));
    for change in [create("/a/b"), set("/a", None), everyone, delete("/a")] {
        assert!(ZooKeeper::footprint(&change, Some(&Response::Done)).affects(&seen), "statistics show {change:?}");
    }
}
