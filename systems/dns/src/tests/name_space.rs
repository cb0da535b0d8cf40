//! Tests of the name space, of the right answers, and of which test cases are in the domain.

use std::net::Ipv4Addr;

use simutant_sim_core::{Probability, Random};

use super::*;

/// A root, a zone below it that is served with it, and a zone below that with servers in two zones.
fn sample_case() -> TestCase {
    let json = r#"{
        "zones": [
            {"apex": ".", "records": [
                ". 60 IN SOA ns1. hostmaster. 1 3600 600 86400 30",
                ". 3600 IN NS ns1.",
                "ns1. 3600 IN A 198.18.0.1",
                "edu. 3600 IN NS ns1.",
                "2.1.18.198.in-addr.arpa. 60 IN PTR venera.isi.edu."
            ]},
            {"apex": "edu.", "records": [
                "edu. 60 IN SOA ns1. hostmaster.edu. 1 3600 600 86400 300",
                "edu. 3600 IN NS ns1.",
                "isi.edu. 120 IN NS ns2.isi.edu.",
                "isi.edu. 120 IN NS ns1.",
                "ns2.isi.edu. 300 IN A 198.18.0.2",
                "usc.edu. 5 IN CNAME isi.edu.",
                "www.usc.edu. 5 IN CNAME usc.edu.",
                "ghost.edu. 5 IN CNAME nobody.isi.edu.",
                "a.b.edu. 5 IN TXT \"deep\""
            ]},
            {"apex": "isi.edu.", "records": [
                "isi.edu. 300 IN SOA ns2.isi.edu. action.isi.edu. 20 7200 600 86400 60",
                "isi.edu. 120 IN NS ns2.isi.edu.",
                "isi.edu. 120 IN NS ns1.",
                "ns2.isi.edu. 300 IN A 198.18.0.2",
                "isi.edu. 60 IN MX 10 venera.isi.edu.",
                "isi.edu. 60 IN MX 20 vaxa.isi.edu.",
                "venera.isi.edu. 30 IN A 198.18.1.2",
                "venera.isi.edu. 30 IN A 198.18.2.2",
                "vaxa.isi.edu. 30 IN A 198.18.1.3",
                "vaxa.isi.edu. 30 IN HINFO \"VAX-11/780\" \"UNIX\"",
                "_http._tcp.isi.edu. 30 IN SRV 0 5 80 vaxa.isi.edu."
            ]}
        ],
        "servers": [
            {"address": "198.18.0.1", "zones": [".", "edu.", "isi.edu."]},
            {"address": "198.18.0.2", "zones": ["isi.edu."]}
        ],
        "queries": [{"stub": 1, "start_ms": 0, "name": "usc.edu.", "type": "MX"}],
        "drop": 0.0,
        "duplicate": 0.0,
        "seed": 1
    }"#;
    serde_json::from_str(json).expect("it is a test case")
}

#[test]
fn the_right_answer_follows_from_the_name_space_alone() {
    #[track_caller]
    fn check(question: (&str, RecordType), rcode: Rcode, chain: &[&str], of_type: &[&str], soa: Option<&str>) {
        let question = Question { name: name(question.0), record_type: question.1 };
        let expect = Answer {
            rcode,
            chain: records(chain),
            records: records(of_type),
            soa: soa.map(|line| line.parse().expect("it is a record")),
        };
        assert_eq!(sample_case().name_space.answer(&question), expect);
    }
    use Rcode::{NameError, NoError};
    use RecordType::{A, Aaaa, Cname, Mx, Ns, Txt};
    // A zone's negative answers last as long as the shorter of its SOA record and what that says.
    let root = Some(". 30 IN SOA ns1. hostmaster. 1 3600 600 86400 30");
    let edu = Some("edu. 60 IN SOA ns1. hostmaster.edu. 1 3600 600 86400 300");
    let isi = Some("isi.edu. 60 IN SOA ns2.isi.edu. action.isi.edu. 20 7200 600 86400 60");
    let mx = ["isi.edu. 60 IN MX 10 venera.isi.edu.", "isi.edu. 60 IN MX 20 vaxa.isi.edu."];
    let usc = "usc.edu. 5 IN CNAME isi.edu.";
    check(("isi.edu.", Mx), NoError, &[], &mx, None);
    check(("usc.edu.", Mx), NoError, &[usc], &mx, None);
    check(("www.usc.edu.", Mx), NoError, &["www.usc.edu. 5 IN CNAME usc.edu.", usc], &mx, None);
    check(("usc.edu.", Cname), NoError, &[], &[usc], None);
    check(("usc.edu.", Aaaa), NoError, &[usc], &[], isi);
    check(("ghost.edu.", A), NameError, &["ghost.edu. 5 IN CNAME nobody.isi.edu."], &[], isi);
    check(("isi.edu.", Ns), NoError, &[], &["isi.edu. 120 IN NS ns2.isi.edu.", "isi.edu. 120 IN NS ns1."], None);
    check(("ns1.", A), NoError, &[], &["ns1. 3600 IN A 198.18.0.1"], None);
    check(("nobody.", A), NameError, &[], &[], root);
    check(("nobody.edu.", Txt), NameError, &[], &[], edu);
    // Names between others exist without records, and names below others need not exist.
    check(("b.edu.", Txt), NoError, &[], &[], edu);
    check(("1.18.198.in-addr.arpa.", A), NoError, &[], &[], root);
    check(("x.a.b.edu.", Txt), NameError, &[], &[], edu);
    check(("x.venera.isi.edu.", A), NameError, &[], &[], isi);
}

#[test]
fn a_zone_is_a_zone_file_and_the_root_has_hints() {
    let case = sample_case();
    let file = case.name_space.zones[0].to_string();
    let lines: Vec<&str> = file.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0], ". 60 IN SOA ns1. hostmaster. 1 3600 600 86400 30");
    assert_eq!(case.name_space.root_hints(), records(&[". 3600 IN NS ns1.", "ns1. 3600 IN A 198.18.0.1"]));
    assert_eq!(case.servers_of(&case.name_space.zones[2]).count(), 2);
    let names: Vec<String> = case.name_space.names().iter().map(Name::to_string).collect();
    assert_eq!(names.len(), 20, "{names:?}");
}

#[test]
fn servers_can_be_put_elsewhere() {
    let case = sample_case();
    let moved = case.with_server_addresses(|address| Ipv4Addr::new(127, 9, 0, address.octets()[3]));
    assert_eq!(moved.validate(), Ok(()));
    assert_eq!(moved.servers[1].address, Ipv4Addr::new(127, 9, 0, 2));
    let question = |host| Question { name: name(host), record_type: RecordType::A };
    assert_eq!(
        moved.name_space.answer(&question("ns2.isi.edu.")).records,
        records(&["ns2.isi.edu. 300 IN A 127.9.0.2"])
    );
    assert_eq!(moved.name_space.answer(&question("vaxa.isi.edu.")), case.name_space.answer(&question("vaxa.isi.edu.")));
}

#[test]
fn sampled_cases_are_valid_and_json_and_back() {
    for seed in 0..300 {
        let case = TestCase::sample(&mut Random::from_seed(seed));
        let json = serde_json::to_string_pretty(&case).expect("it is plain data");
        assert_eq!(case.validate(), Ok(()), "{json}");
        assert_eq!(serde_json::from_str::<TestCase>(&json).expect("it is a test case"), case);
    }
}

#[test]
fn test_cases_outside_the_domain_are_refused_by_name() {
    #[track_caller]
    fn check(change: impl Fn(&mut TestCase), expect: &str) {
        let mut case = sample_case();
        assert_eq!(case.validate(), Ok(()));
        change(&mut case);
        assert_eq!(case.validate().expect_err("it is outside").to_string(), expect);
    }
    #[track_caller]
    fn check_added(zone: usize, line: &str, expect: &str) {
        let last = sample_case().name_space.zones[zone].records.len();
        let add = |case: &mut TestCase| case.name_space.zones[zone].records.push(line.parse().expect("it is a record"));
        check(add, &format!("zones[{zone}].records[{last}] is {line}: it must be {expect}"));
    }
    #[track_caller]
    fn check_removed(zone: usize, line: &str, expect: &str) {
        let line: Record = line.parse().expect("it is a record");
        check(|case| case.name_space.zones[zone].records.retain(|record| *record != line), expect);
    }
    check(|case| case.name_space.zones.truncate(1), "zones is a list of 1: it must be a list of 2 to 5");
    check(
        |case| case.name_space.zones.swap(0, 1),
        "zones[0].apex is edu.: it must be ., since the first zone is the root's",
    );
    let soa = "zones[1].records is a list with 0 SOA records of the apex: it must be one with one";
    check_removed(1, "edu. 60 IN SOA ns1. hostmaster.edu. 1 3600 600 86400 300", soa);
    let delegation =
        "zones[1].records is a list without isi.edu. 120 IN NS ns1.: it must be one with it, to delegate isi.edu.";
    check_removed(1, "isi.edu. 120 IN NS ns1.", delegation);
    let glue = "zones[1].records is a list without ns2.isi.edu. 300 IN A 198.18.0.2: it must be one with it, to delegate isi.edu.";
    check_removed(1, "ns2.isi.edu. 300 IN A 198.18.0.2", glue);
    check_added(
        1,
        "x.isi.edu. 5 IN A 1.2.3.4",
        "in the zone isi.edu., or be a copy of the NS records of its apex, or of their addresses below it",
    );
    check_added(1, "x.com. 5 IN A 1.2.3.4", "one of a name at or below edu.");
    check_added(1, "usc.edu. 5 IN A 1.2.3.4", "one of another name, since an alias has nothing else (RFC 1034, 3.6.2)");
    check_added(2, "isi.edu. 5 IN CNAME x.", "one of another name, since an alias has nothing else (RFC 1034, 3.6.2)");
    check_added(
        2,
        "vaxa.isi.edu. 31 IN A 1.2.3.4",
        "one with a time to live of 30, like the others of its name and type (RFC 2181, 5.2)",
    );
    check_added(2, "vaxa.isi.edu. 30 IN A 198.18.1.3", "another one than those before");
    check_added(
        2,
        "isi.edu. 60 IN MX 5 usc.edu.",
        "one that points to a host with an A record, and to no alias (RFC 2181, 10.3)",
    );
    check_added(
        2,
        "isi.edu. 60 IN MX 0 .",
        "one that points to another host than the root, which stands for none (RFC 2782, RFC 7505)",
    );
    check_added(2, "x.isi.edu. 60 IN NS venera.isi.edu.", "one of a name at which another zone begins");
    check_added(2, "_x.isi.edu. 60 IN A 1.2.3.4", "one of a host, whose name has no underscore");
    check_added(2, "x.isi.edu. 604801 IN A 1.2.3.4", "one with a time to live of at most 604800");
    check_added(2, "x.isi.edu. 5 IN CNAME x.isi.edu.", "one from which at most 7 aliases lead to another name");
    let servers = "zones[2].records is a list with NS records to {198.18.0.1, 198.18.0.2}: \
                   it must be those of the servers of the zone, which are {198.18.0.1}";
    check(|case| case.servers.truncate(1), servers);
    check(
        |case| case.servers[1].zones = vec![name("com.")],
        "servers[1].zones[0] is com.: it must be the apex of a zone, once",
    );
    check(
        |case| case.servers[1].address = case.servers[0].address,
        "servers[1].address is 198.18.0.1: it must be another one than those before",
    );
    check(|case| case.queries.clear(), "queries is a list of 0: it must be a list of 1 to 12");
    check(|case| case.queries[0].stub = 4, "queries[0].stub is 4: it must be from 1 to 3");
    check(
        |case| case.queries[0].start_ms = 60_001,
        "queries[0].start_ms is 60001: it must be from 0 to 60000, and none before those before it",
    );
    let drop = Probability::new(0.21).expect("it is one");
    check(|case| case.drop = drop, "drop is 0.21: it must be from 0 to 0.2");
}

#[test]
fn servers_that_lead_to_each_other_alone_are_refused() {
    let zone = |apex: &str, lines: &[&str]| Zone { apex: name(apex), records: records(lines) };
    let delegations = ["a. 60 IN NS ns.b.", "b. 60 IN NS ns.a."];
    let root = [
        ". 60 IN SOA ns. hostmaster. 1 2 3 4 5",
        ". 60 IN NS ns.",
        "ns. 60 IN A 198.18.0.1",
        delegations[0],
        delegations[1],
    ];
    let a = ["a. 60 IN SOA ns.b. hostmaster.a. 1 2 3 4 5", delegations[0], "ns.a. 60 IN A 198.18.0.1"];
    let b = ["b. 60 IN SOA ns.a. hostmaster.b. 1 2 3 4 5", delegations[1], "ns.b. 60 IN A 198.18.0.1"];
    let name_space = NameSpace { zones: vec![zone(".", &root), zone("a.", &a), zone("b.", &b)] };
    let server =
        AuthoritativeServer { address: Ipv4Addr::new(198, 18, 0, 1), zones: vec![name("."), name("a."), name("b.")] };
    let case = TestCase { name_space, servers: vec![server], ..sample_case() };
    let expect = "zones[1].records is a list of which NS records lead in a circle: \
                  it must be one whose hosts are in the zone itself, or in zones that can be reached without it";
    assert_eq!(case.validate().expect_err("they lead in a circle").to_string(), expect);
}
