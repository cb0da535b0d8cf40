use proptest::prelude::*;

use super::*;

/// The number of the session that reads.
const SESSION: i64 = 7;

const ASKED: [Asked; 8] = [
    Asked::Exists,
    Asked::Children,
    Asked::Data,
    Asked::Acl,
    Asked::Create,
    Asked::Change,
    Asked::Nothing,
    Asked::Multi,
];

/// Writes the body of an answer, as a server does.
fn body(response: &Response) -> (Asked, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut writer = Writer(&mut bytes);
    let (answer, stat) = match response {
        Response::WithStat { answer, stat } => (answer, stat),
        Response::Created(path) => {
            writer.text(path.as_str());
            return (Asked::Create, bytes);
        }
        Response::Parts(parts) => {
            parts.iter().for_each(|part| write_part(&mut writer, part));
            writer.part(kinds::ERROR, true);
            return (Asked::Multi, bytes);
        }
        _ => return (Asked::Nothing, bytes),
    };
    let asked = match &**answer {
        Response::Exists(_) => Asked::Exists,
        Response::Children(names) => {
            writer.length(names.len());
            names.iter().for_each(|name| writer.text(name.as_str()));
            Asked::Children
        }
        Response::Data(data) => {
            writer.data(data.as_ref().map(|data| data.as_str().as_bytes()));
            Asked::Data
        }
        Response::Acl(acl) => {
            writer.acl(acl);
            Asked::Acl
        }
        _ => Asked::Change,
    };
    write_stat(&mut writer, stat);
    (asked, bytes)
}

fn write_part(writer: &mut Writer<'_>, part: &Response) {
    match part {
        Response::Created(path) => {
            writer.part(kinds::CREATE, false);
            writer.text(path.as_str());
        }
        Response::WithStat { stat, .. } => {
            writer.part(kinds::SET_DATA, false);
            write_stat(writer, stat);
        }
        Response::Error(error) => {
            writer.part(kinds::ERROR, false);
            writer.int(match error {
                Error::Undone => 0,
                Error::RuntimeInconsistency => -2,
                _ => -103,
            });
        }
        _ => writer.part(kinds::DELETE, false),
    }
}

fn write_stat(writer: &mut Writer<'_>, stat: &Stat) {
    (1..=4).for_each(|number| writer.long(number));
    let int = |number: u32| i32::try_from(number).expect("it is small");
    writer.int(int(stat.version));
    writer.int(stat.children_version);
    writer.int(int(stat.acl_version));
    writer.long(match stat.owner {
        Owner::Nobody => 0,
        Owner::Caller => SESSION,
        Owner::Other => SESSION + 1,
    });
    writer.int(int(stat.data_length));
    writer.int(int(stat.children));
    writer.long(5);
}

fn stat_strategy() -> impl Strategy<Value = Stat> {
    let number = || 0..=i32::MAX.unsigned_abs();
    let owner = prop_oneof![Just(Owner::Nobody), Just(Owner::Caller), Just(Owner::Other)];
    let numbers = (number(), number(), any::<i32>(), number(), number(), owner);
    numbers.prop_map(|(version, acl_version, children_version, children, data_length, owner)| Stat {
        version,
        acl_version,
        children_version,
        children,
        data_length,
        owner,
    })
}

fn text() -> impl Strategy<Value = Text> {
    "[a-zé]{0,9}".prop_map(|text| Text::from(text.as_str()))
}

fn response_strategy() -> impl Strategy<Value = Response> {
    let who = prop_oneof![Just(Who::Anyone), any::<u64>().prop_map(|number| Who::Session(Session(number)))];
    let access = (who, 0..=31_u8);
    let access = access.prop_map(|(who, bits)| Access { who, permissions: Permissions(bits) });
    let children = prop::collection::btree_set(text(), 0..5);
    let answer = prop_oneof![
        Just(Response::Done),
        Just(Response::Exists(true)),
        children.prop_map(|names| Response::Children(names.into_iter().collect())),
        prop::option::of(text()).prop_map(Response::Data),
        prop::collection::vec(access, 0..5).prop_map(Response::Acl),
    ];
    let with_stat = (answer, stat_strategy()).prop_map(|(answer, stat)| answer.with_stat(stat));
    let part = prop_oneof![
        Just(Response::Done),
        text().prop_map(Response::Created),
        stat_strategy().prop_map(|stat| Response::Done.with_stat(stat)),
        prop::sample::select(&[Error::Undone, Error::RuntimeInconsistency, Error::BadVersion][..])
            .prop_map(Response::Error),
    ];
    let parts = prop::collection::vec(part, 0..4).prop_map(Response::Parts);
    prop_oneof![1 => Just(Response::Done), 3 => parts, 1 => text().prop_map(Response::Created), 9 => with_stat]
}

#[test]
fn digests_are_those_of_the_release() {
    // Printed by `DigestAuthenticationProvider.generateDigest` of ZooKeeper 3.8.0.
    assert_eq!(digest(Session(1)), "s1:rk5WQer/tNx5txUg7/KHz3zp3JI=");
}

#[test]
fn a_message_is_there_once_all_of_it_is() {
    let mut bytes = Vec::new();
    ping(&mut bytes);
    for length in 0..bytes.len() {
        assert_eq!(first_message(&bytes[..length]), Ok(None));
    }
    let message = first_message(&bytes).expect("it is short").expect("it is there");
    assert_eq!(whole(message), bytes.len());
    for length in [-1, i32::MAX, i32::try_from(LENGTH_MAX).expect("it fits") + 1] {
        assert_eq!(first_message(&length.to_be_bytes()), Err(Malformed::Length { what: "a message", length }));
    }
}

#[test]
fn notifications_are_events_of_nodes() {
    let written = |kind: i32| {
        let mut bytes = Vec::new();
        let mut writer = Writer(&mut bytes);
        writer.int(kind);
        writer.int(3); // The session is connected.
        writer.text("/a");
        bytes
    };
    let expect =
        [Event::Created("/a".into()), Event::Deleted("/a".into()), Event::DataChanged("/a".into())].into_iter();
    for (kind, expect) in (1..).zip(expect.chain([Event::ChildrenChanged("/a".into())])) {
        assert_eq!(event(&written(kind)), Ok(expect));
        assert!(event(&written(kind)[..9]).is_err());
    }
    assert_eq!(event(&written(-1)), Err(Malformed::Event(-1)));
}

#[test]
fn a_read_says_whether_it_leaves_a_watch_and_is_the_same_otherwise() {
    let reads = [Operation::Exists { path: "/a".into() }, Operation::GetChildren { path: "/a".into() }];
    for read in reads {
        let written = |operation: &Operation| {
            let mut bytes = Vec::new();
            call(&mut bytes, 1, operation, |operation| operation.path().expect("it has one").as_str().into());
            bytes
        };
        let (plain, watched) = (written(&read), written(&read.clone().and_watch()));
        let (end, begin) = watched.split_last().expect("it is not empty");
        assert_eq!((*end, begin), (1, &plain[..plain.len() - 1]));
        assert_eq!(plain.last(), Some(&0));
    }
}

proptest! {
    #[test]
    fn an_answer_is_read_as_it_was_written(expect in response_strategy()) {
        let (asked, bytes) = body(&expect);
        prop_assert_eq!(response(asked, SESSION, &bytes), Ok(expect));
    }

    #[test]
    fn an_answer_that_is_cut_or_longer_is_none(expect in response_strategy(), at in any::<prop::sample::Index>()) {
        let (asked, mut bytes) = body(&expect);
        if !bytes.is_empty() {
            prop_assert!(response(asked, SESSION, &bytes[..at.index(bytes.len())]).is_err());
        }
        bytes.push(0);
        prop_assert_eq!(response(asked, SESSION, &bytes), Err(Malformed::Long(1)));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (first_message(&bytes), granted(&bytes), header(&bytes), event(&bytes));
        for asked in ASKED {
            let _ = response(asked, SESSION, &bytes);
        }
    }

    /// Bytes that differ in one place from an answer come further than any bytes do.
    #[test]
    fn answers_with_a_wrong_byte_are_read_without_a_panic(
        right in response_strategy(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        asked in prop::sample::select(&ASKED[..]),
    ) {
        let (_, mut bytes) = body(&right);
        if !bytes.is_empty() {
            let place = at.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = response(asked, SESSION, &bytes);
    }
}
