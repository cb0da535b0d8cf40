//! Tests of the cache, and of what the resolver need not ask again.

use simutant_sim_core::VirtualTime;
use simutant_sim_core::trace::{Action, Trace};

use super::super::cache::{Cache, Known, Topic, Trust};
use super::*;

const A: RecordType = RecordType::A;

fn at(millis: u64) -> VirtualTime {
    VirtualTime::from_millis(millis)
}

fn host(ttl: u32, last: u8) -> Vec<Record> {
    records(&[&format!("x.edu. {ttl} IN A 198.18.1.{last}")])
}

/// Returns what is found of the addresses of `x.edu.`: the time that is left, and the last part of the first.
#[track_caller]
fn check(cache: &Cache, now: VirtualTime, expect: Option<(u32, u8)>) {
    let found = cache.find(&name("x.edu."), A, now);
    assert_eq!(found, expect.map(|(ttl, last)| Known::Records(host(ttl, last))), "at {now}");
}

#[test]
fn times_to_live_go_down_by_whole_seconds_and_nothing_is_found_after_them() {
    let mut cache = Cache::default();
    check(&cache, at(0), None);
    cache.insert(&name("x.edu."), Topic::Records(A), Trust::Answer, host(2, 1), at(500));
    check(&cache, at(500), Some((2, 1)));
    check(&cache, at(501), Some((1, 1)));
    check(&cache, at(1_500), Some((1, 1)));
    check(&cache, at(2_500), Some((0, 1)));
    check(&cache, VirtualTime::from_nanos(2_500_000_001), None);
    assert_eq!(cache.records("x.edu.", A, at(2_500)), host(2, 1));
    assert_eq!(cache.records("x.edu.", A, at(2_501)), []);
}

#[test]
fn what_may_not_be_kept_is_there_for_an_instant() {
    let mut cache = Cache::default();
    cache.insert(&name("x.edu."), Topic::Records(A), Trust::Answer, host(0, 1), at(500));
    check(&cache, at(500), Some((0, 1)));
    check(&cache, at(501), None);
}

#[test]
fn what_is_told_again_lives_no_longer_unless_it_is_trusted_more() {
    let x = name("x.edu.");
    let mut cache = Cache::default();
    cache.insert(&x, Topic::Records(A), Trust::Referral, host(2, 1), at(0));
    check(&cache, at(0), None);
    assert_eq!(cache.records("x.edu.", A, at(0)), host(2, 1));
    cache.insert(&x, Topic::Records(A), Trust::Answer, host(2, 2), at(1_000));
    check(&cache, at(1_000), Some((2, 2)));
    for trust in [Trust::Answer, Trust::Referral] {
        cache.insert(&x, Topic::Records(A), trust, host(9, 3), at(2_000));
        check(&cache, at(2_000), Some((1, 2)));
    }
    // After its time, anybody can tell.
    cache.insert(&x, Topic::Records(A), Trust::Referral, host(9, 3), at(3_001));
    assert_eq!(cache.records("x.edu.", A, at(4_000)), host(9, 3));
}

#[test]
fn what_is_not_there_is_remembered_by_type_or_for_all_types() {
    let soa = |ttl| records(&[&format!("edu. {ttl} IN SOA ns1. hostmaster.edu. 1 2 3 4 5")]);
    let mut cache = Cache::default();
    cache.insert(&name("x.edu."), Topic::NoData(RecordType::Mx), Trust::Answer, soa(5), at(0));
    assert_eq!(cache.find(&name("x.edu."), RecordType::Mx, at(1_000)), Some(Known::Nothing(Rcode::NoError, soa(4))));
    assert_eq!(cache.find(&name("x.edu."), A, at(1_000)), None);
    cache.insert(&name("y.edu."), Topic::NameError, Trust::Answer, soa(5), at(0));
    for record_type in RecordType::ALL {
        let expect = Known::Nothing(Rcode::NameError, soa(3));
        assert_eq!(cache.find(&name("y.edu."), record_type, at(2_000)), Some(expect));
    }
    assert_eq!(cache.find(&name("y.edu."), A, at(5_001)), None);
    assert_eq!(cache.find(&name("z.edu."), A, at(0)), None);
}

#[test]
fn an_alias_answers_every_type_but_its_own() {
    let alias = records(&["x.edu. 60 IN CNAME y.edu."]);
    let mut cache = Cache::default();
    cache.insert(&name("x.edu."), Topic::Records(RecordType::Cname), Trust::Answer, alias.clone(), at(0));
    let find = |record_type| cache.find(&name("x.edu."), record_type, at(0));
    assert_eq!(find(A), Some(Known::Alias(alias[0].clone(), name("y.edu."))));
    assert_eq!(find(RecordType::Cname), Some(Known::Records(alias)));
}

/// Returns what the resolver asked servers on the small name space, as `server-1 edu. MX`, for each of these queries of
/// one stub.
fn asked(queries: &[(u64, &str, RecordType)]) -> Vec<String> {
    let mut case = small_case();
    case.queries =
        queries.iter().map(|&(start_ms, owner, record_type)| query(1, start_ms, owner, record_type)).collect();
    let sent = trace(&case).into_iter().filter_map(|event| match event.action {
        Action::Sent(packet) if packet.kind == "QUERY" && packet.source.component == "resolver" => {
            let (_, question) = packet.message.split_once("question: Question { name: ").expect("it is a query");
            let (owner, rest) = question.split_once(", record_type: ").expect("it has a type");
            let (record_type, _) = rest.split_once(' ').expect("more follows");
            Some(format!("{} {owner} {}", packet.destination.component, record_type.to_uppercase()))
        }
        _ => None,
    });
    sent.collect()
}

fn trace(case: &TestCase) -> Trace {
    assert_eq!(case.validate(), Ok(()));
    let mut simulation = Dns::configure(case);
    simulation.record_trace();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    report.trace.expect("it was asked for")
}

#[test]
fn the_resolver_goes_down_from_the_root_and_asks_what_it_knows_no_more() {
    #[track_caller]
    fn check(queries: &[(u64, &str, RecordType)], expect: &[&str]) {
        assert_eq!(asked(queries), expect);
    }
    use RecordType::{Hinfo, Mx, Txt};
    let com = (0, "www.com.", Txt);
    // From the root to the zone, whose server is known then.
    check(&[com], &["server-1 www.com. TXT", "server-2 www.com. TXT"]);
    check(&[com, (0, "www.com.", Mx)], &["server-1 www.com. TXT", "server-2 www.com. TXT", "server-2 www.com. MX"]);
    // The answer lives for 5 s, the address of the server for 7 s, what is not there for 3 s.
    check(&[com, (4_900, "www.com.", Txt)], &["server-1 www.com. TXT", "server-2 www.com. TXT"]);
    let twice = ["server-1 www.com. TXT", "server-2 www.com. TXT", "server-2 www.com. TXT"];
    check(&[com, (5_200, "www.com.", Txt)], &twice);
    let from_root =
        ["server-1 www.com. TXT", "server-2 www.com. TXT", "server-1 www.com. TXT", "server-2 www.com. TXT"];
    check(&[com, (7_200, "www.com.", Txt)], &from_root);
    let nothing = (0, "no.com.", A);
    check(&[nothing, (2_900, "no.com.", Mx)], &["server-1 no.com. A", "server-2 no.com. A"]);
    check(&[nothing, (3_200, "no.com.", Mx)], &["server-1 no.com. A", "server-2 no.com. A", "server-2 no.com. MX"]);
    // The server of org. has its name in com., which is asked for its address.
    let org = ["server-1 www.org. HINFO", "server-1 deep.com. A", "server-2 deep.com. A", "server-2 www.org. HINFO"];
    check(&[(0, "www.org.", Hinfo)], &org);
    // A server of org. has no say in com., though it is the same one.
    let alias = [&org[..], &["server-2 alias.org. TXT", "server-2 www.com. TXT"]].concat();
    check(&[(0, "www.org.", Hinfo), (0, "alias.org.", Txt)], &alias);
    let both = [(0, "www.org.", Hinfo), (0, "alias.org.", Txt), (4_000, "www.com.", Txt), (4_000, "alias.org.", Txt)];
    check(&both, &alias);
}

#[test]
fn what_is_too_long_for_a_datagram_comes_by_stream() {
    let kinds = |queries: &[StubQuery]| -> Vec<String> {
        let case = TestCase { queries: queries.to_vec(), ..small_case() };
        let sent = trace(&case).into_iter().filter_map(|event| match event.action {
            Action::Sent(packet) if ["TRUNCATED", "SYN", "ANSWER"].contains(&&*packet.kind) => {
                Some(format!("{} {}", packet.source.component, packet.kind))
            }
            _ => None,
        });
        sent.collect()
    };
    let long = query(1, 0, "long.com.", RecordType::Txt);
    let again = query(2, 900, "long.com.", RecordType::Txt);
    let from_server = ["server-2 TRUNCATED", "resolver SYN", "server-2 ANSWER"];
    let to_stub = ["resolver TRUNCATED", "stub-1 SYN", "resolver ANSWER"];
    assert_eq!(kinds(std::slice::from_ref(&long)), [from_server, to_stub].concat());
    let to_other_stub = ["resolver TRUNCATED", "stub-2 SYN", "resolver ANSWER"];
    assert_eq!(kinds(&[long, again]), [from_server, to_stub, to_other_stub].concat());
}
