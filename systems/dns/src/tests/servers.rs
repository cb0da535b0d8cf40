//! Tests of what servers answer: the examples of RFC 1034, section 6.2, from its zone of the root.

use super::super::lookup::{Found, look_up, nearest_zone};
use super::super::server::{fit, respond};
use super::*;

/// The zone of the root in RFC 1034, section 6.1, with the mailbox of its SOA record, and with lower case.
fn root_zone() -> Zone {
    let lines = [
        ". 86400 IN SOA sri-nic.arpa. hostmaster.sri-nic.arpa. 870611 1800 300 604800 86400",
        ". 86400 IN NS a.isi.edu.",
        ". 86400 IN NS c.isi.edu.",
        ". 86400 IN NS sri-nic.arpa.",
        "mil. 86400 IN NS sri-nic.arpa.",
        "mil. 86400 IN NS a.isi.edu.",
        "edu. 86400 IN NS sri-nic.arpa.",
        "edu. 86400 IN NS c.isi.edu.",
        "sri-nic.arpa. 86400 IN A 26.0.0.73",
        "sri-nic.arpa. 86400 IN A 10.0.0.51",
        "sri-nic.arpa. 86400 IN MX 0 sri-nic.arpa.",
        "sri-nic.arpa. 86400 IN HINFO \"DEC-2060\" \"TOPS20\"",
        "acc.arpa. 86400 IN A 26.6.0.65",
        "acc.arpa. 86400 IN HINFO \"PDP-11/70\" \"UNIX\"",
        "acc.arpa. 86400 IN MX 10 acc.arpa.",
        "usc-isic.arpa. 86400 IN CNAME c.isi.edu.",
        "73.0.0.26.in-addr.arpa. 86400 IN PTR sri-nic.arpa.",
        "65.0.6.26.in-addr.arpa. 86400 IN PTR acc.arpa.",
        "a.isi.edu. 86400 IN A 26.3.0.103",
        "c.isi.edu. 86400 IN A 10.0.0.52",
    ];
    Zone { apex: Name::root(), records: records(&lines) }
}

/// The zone of RFC 1034, section 6.1, that EDU delegates, without most of its hosts.
fn isi_zone() -> Zone {
    let lines = [
        "isi.edu. 600 IN SOA a.isi.edu. action.isi.edu. 20 7200 600 3600000 60",
        "isi.edu. 86400 IN NS a.isi.edu.",
        "a.isi.edu. 86400 IN A 26.3.0.103",
        "c.isi.edu. 86400 IN A 10.0.0.52",
    ];
    Zone { apex: name("isi.edu."), records: records(&lines) }
}

fn query(owner: &str, record_type: RecordType) -> DnsMessage {
    DnsMessage::query(7, Question { name: name(owner), record_type })
}

const ROOT_SOA: &str = ". 86400 IN SOA sri-nic.arpa. hostmaster.sri-nic.arpa. 870611 1800 300 604800 86400";
const SRI_NIC: [&str; 2] = ["sri-nic.arpa. 86400 IN A 26.0.0.73", "sri-nic.arpa. 86400 IN A 10.0.0.51"];
const USC_ISIC: &str = "usc-isic.arpa. 86400 IN CNAME c.isi.edu.";

#[test]
fn a_server_answers_as_in_rfc_1034() {
    #[track_caller]
    fn check(question: (&str, RecordType), authoritative: bool, rcode: Rcode, sections: [&[&str]; 3]) {
        let query = query(question.0, question.1);
        let response = respond(&[root_zone()], &query);
        let expect = DnsMessage {
            is_response: true,
            is_authoritative: authoritative,
            rcode,
            answer: records(sections[0]),
            authority: records(sections[1]),
            additional: records(sections[2]),
            ..query
        };
        assert_eq!(response, expect);
    }
    use Rcode::{NameError, NoError};
    use RecordType::{A, Cname, Mx, Ns, Ptr};
    // 6.2.1 and 6.2.3.
    check(("sri-nic.arpa.", A), true, NoError, [&SRI_NIC, &[], &[]]);
    check(("sri-nic.arpa.", Mx), true, NoError, [&["sri-nic.arpa. 86400 IN MX 0 sri-nic.arpa."], &[], &SRI_NIC]);
    // 6.2.4 and 6.2.5, where RFC 2308 adds the SOA record to the former.
    check(("sri-nic.arpa.", Ns), true, NoError, [&[], &[ROOT_SOA], &[]]);
    check(("sir-nic.arpa.", A), true, NameError, [&[], &[ROOT_SOA], &[]]);
    // 6.2.6.
    let mil = ["mil. 86400 IN NS sri-nic.arpa.", "mil. 86400 IN NS a.isi.edu."];
    let additional = [SRI_NIC[0], SRI_NIC[1], "a.isi.edu. 86400 IN A 26.3.0.103"];
    check(("brl.mil.", A), false, NoError, [&[], &mil, &additional]);
    // 6.2.7 leaves the way on out, since it is told by a server that is not asked for it again.
    let edu = ["edu. 86400 IN NS sri-nic.arpa.", "edu. 86400 IN NS c.isi.edu."];
    let additional = [SRI_NIC[0], SRI_NIC[1], "c.isi.edu. 86400 IN A 10.0.0.52"];
    check(("usc-isic.arpa.", A), true, NoError, [&[USC_ISIC], &edu, &additional]);
    // 6.2.8, and the last of 6.3.
    check(("usc-isic.arpa.", Cname), true, NoError, [&[USC_ISIC], &[], &[]]);
    let pointer = "65.0.6.26.in-addr.arpa. 86400 IN PTR acc.arpa.";
    check(("65.0.6.26.in-addr.arpa.", Ptr), true, NoError, [&[pointer], &[], &[]]);
    check(("6.26.in-addr.arpa.", Ptr), true, NoError, [&[], &[ROOT_SOA], &[]]);
}

#[test]
fn a_server_of_both_zones_follows_the_alias() {
    let zones = [root_zone(), isi_zone()];
    let response = respond(&zones, &query("usc-isic.arpa.", RecordType::A));
    assert!(response.is_authoritative);
    assert_eq!(response.answer, records(&[USC_ISIC, "c.isi.edu. 86400 IN A 10.0.0.52"]));
    let response = respond(&zones, &query("usc-isic.arpa.", RecordType::Mx));
    assert_eq!((response.rcode, response.answer), (Rcode::NoError, records(&[USC_ISIC])));
    // It lives for as long as the SOA record says, and not for as long as that record.
    let soa = "isi.edu. 60 IN SOA a.isi.edu. action.isi.edu. 20 7200 600 3600000 60";
    assert_eq!(response.authority, records(&[soa]));
}

#[test]
fn a_server_refuses_what_it_has_no_authority_over() {
    let response = respond(&[isi_zone()], &query("acc.arpa.", RecordType::A));
    assert_eq!((response.rcode, response.is_authoritative), (Rcode::Refused, false));
}

#[test]
fn the_nearest_zone_is_the_one_with_the_longest_name() {
    #[track_caller]
    fn check(owner: &str, expect: Option<&str>) {
        for zones in [[root_zone(), isi_zone()], [isi_zone(), root_zone()]] {
            assert_eq!(nearest_zone(&zones, &name(owner)).map(|zone| zone.apex.as_str()), expect);
        }
        assert_eq!(nearest_zone(&[], &name(owner)), None);
    }
    check(".", Some("."));
    check("edu.", Some("."));
    check("isi.edu.", Some("isi.edu."));
    check("a.b.isi.edu.", Some("isi.edu."));
    check("lisi.edu.", Some("."));
}

#[test]
fn a_zone_has_records_aliases_delegations_or_nothing() {
    #[track_caller]
    fn check(owner: &str, record_type: RecordType, expect: Found) {
        assert_eq!(look_up(&root_zone(), &name(owner), record_type), expect);
    }
    let edu = records(&["edu. 86400 IN NS sri-nic.arpa.", "edu. 86400 IN NS c.isi.edu."]);
    check("sri-nic.arpa.", RecordType::A, Found::Records(records(&SRI_NIC)));
    check("usc-isic.arpa.", RecordType::A, Found::Alias(records(&[USC_ISIC]).remove(0), name("c.isi.edu.")));
    check("usc-isic.arpa.", RecordType::Cname, Found::Records(records(&[USC_ISIC])));
    check("edu.", RecordType::Ns, Found::Delegation(edu.clone()));
    // Glue is not what is asked for.
    check("c.isi.edu.", RecordType::A, Found::Delegation(edu));
    check("arpa.", RecordType::A, Found::NoData);
    check("x.usc-isic.arpa.", RecordType::A, Found::NameError);
    let servers = root_zone().servers().cloned().collect();
    check(".", RecordType::Ns, Found::Records(servers));
}

#[test]
fn what_is_too_long_loses_first_what_is_of_use_and_then_all() {
    let text = |bytes: usize| Record {
        name: name("acc.arpa."),
        ttl: 60,
        data: RecordData::Txt(vec!["x".repeat(bytes - 1)].into()),
    };
    // The header, the question, and of each record the name and ten bytes.
    let room = DATAGRAM_BYTES_MAX - 12 - 14 - 20;
    let with = |bytes: [usize; 2]| {
        let query = query("acc.arpa.", RecordType::Txt);
        let answer = vec![text(bytes[0]), text(bytes[1])];
        DnsMessage { answer, additional: records(&SRI_NIC), ..query.response() }
    };
    let response = with([room / 2 - 10, room / 2 - 10]);
    assert_eq!(fit(response.clone()), DnsMessage { additional: Vec::new(), ..response });
    let response = with([room / 2 - 10, room - room / 2 - 10]);
    assert_eq!(DnsMessage { additional: Vec::new(), ..response.clone() }.wire_bytes(), DATAGRAM_BYTES_MAX);
    assert_eq!(fit(response.clone()), DnsMessage { additional: Vec::new(), ..response });
    let response = with([room / 2 - 10, room - room / 2 - 9]);
    let truncated = fit(response.clone());
    assert_eq!(truncated, DnsMessage { is_truncated: true, answer: Vec::new(), additional: Vec::new(), ..response });
    let short =
        DnsMessage { answer: records(&SRI_NIC), additional: records(&SRI_NIC), ..query("acc.arpa.", RecordType::A) };
    assert_eq!(fit(short.clone()), short);
}
