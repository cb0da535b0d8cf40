//! Tests of the whole system, and what other tests share.

mod caching;
mod name_space;
mod oracle;
mod servers;
mod sources;

use simutant_sim_core::trace::Action;
use simutant_sim_core::{Probability, Report};
use simutant_system::testing::check_reseeding;
use simutant_system::{BlackBoxCriterion, Coverage, InputSource, System, Universe, universe};

use super::*;

fn name(text: &str) -> Name {
    text.parse().expect("it is a name")
}

fn records(lines: &[&str]) -> Vec<Record> {
    lines.iter().map(|line| line.parse().expect("it is a record")).collect()
}

pub(super) fn query(stub: u8, start_ms: u64, owner: &str, record_type: RecordType) -> StubQuery {
    StubQuery { stub, start_ms, name: name(owner), record_type }
}

/// The root on one server, and two zones below it on another one, which has its names in the first of them.
pub(super) fn small_case() -> TestCase {
    let long = format!("long.com. 60 IN TXT \"{0}\" \"{0}\" \"{0}\"", "x".repeat(200));
    let zone = |apex: &str, lines: &[&str]| Zone { apex: name(apex), records: records(lines) };
    let root = [
        ". 3600 IN SOA ns. hostmaster. 1 3600 600 86400 3600",
        ". 3600 IN NS ns.",
        "ns. 3600 IN A 198.18.0.1",
        "com. 60 IN NS ns.com.",
        "ns.com. 7 IN A 198.18.0.2",
        "org. 60 IN NS deep.com.",
    ];
    let com = [
        "com. 60 IN SOA ns.com. hostmaster.com. 1 3600 600 86400 3",
        "com. 60 IN NS ns.com.",
        "ns.com. 7 IN A 198.18.0.2",
        "deep.com. 60 IN A 198.18.0.2",
        "www.com. 5 IN TXT \"a text\"",
        "www.com. 5 IN MX 10 two.com.",
        "two.com. 60 IN A 198.18.1.9",
        "two.com. 60 IN A 198.18.2.9",
        "a.b.com. 60 IN A 198.18.1.8",
        &long,
    ];
    let org = [
        "org. 60 IN SOA deep.com. hostmaster.org. 1 3600 600 86400 60",
        "org. 60 IN NS deep.com.",
        "www.org. 60 IN HINFO \"PDP-11\" \"UNIX\"",
        "alias.org. 60 IN CNAME www.com.",
    ];
    let server = |last, zones: &[&str]| AuthoritativeServer {
        address: std::net::Ipv4Addr::new(198, 18, 0, last),
        zones: zones.iter().map(|apex| name(apex)).collect(),
    };
    TestCase {
        name_space: NameSpace { zones: vec![zone(".", &root), zone("com.", &com), zone("org.", &org)] },
        servers: vec![server(1, &["."]), server(2, &["com.", "org."])],
        queries: vec![query(1, 0, "www.com.", RecordType::Txt)],
        drop: Probability::ZERO,
        duplicate: Probability::ZERO,
        seed: 1,
    }
}

/// Runs a case that must pass.
#[track_caller]
fn run(case: &TestCase) -> Report {
    assert_eq!(Dns::validate(case), Ok(()));
    let report = Dns::configure(case).run();
    let json = serde_json::to_string(case).expect("it is plain data");
    assert!(report.ended.passed(), "{}: {json}", report.ended);
    report
}

#[test]
fn sampled_cases_pass_and_so_they_do_with_other_seeds() {
    for index in 0..500 {
        let case = universe::<Dns>(42, index);
        run(&case);
        if index < 100 {
            (1..=3).for_each(|seed| drop(run(&TestCase { seed, ..case.clone() })));
        }
    }
}

#[test]
fn a_stub_that_asks_by_stream_waits_as_long_as_one_that_asks_by_datagram() {
    // What the resolver had found for the datagram may not be kept, and to find it again takes it more than ten
    // seconds.
    for (seed, index) in [(4, 1_927), (15, 1_665)] {
        run(&universe::<Dns>(seed, index));
    }
}

#[test]
fn cases_of_all_sources_pass() {
    for source in InputSource::ALL {
        let mut universe = Universe::<Dns>::new(source, 5, 20);
        for index in 0..20 {
            let case = universe.case(index);
            run(&case);
            let mut coverage = Coverage::default();
            for BlackBoxCriterion { name, covered, .. } in Dns::criteria() {
                covered(&case).iter().for_each(|requirement| coverage.insert(name, &requirement.to_string()));
            }
            universe.learn(&coverage);
        }
    }
}

#[test]
fn every_question_of_a_name_space_is_answered_without_loss() {
    for index in 0..20 {
        let case = universe::<Dns>(7, index);
        let mut names = case.name_space.names();
        names.push(name("unknown."));
        let questions = names.iter().flat_map(|owner| RecordType::ALL.map(|record_type| (owner.as_str(), record_type)));
        let queries: Vec<StubQuery> = questions.map(|(owner, record_type)| query(1, 0, owner, record_type)).collect();
        for queries in queries.chunks(12) {
            run(&TestCase { queries: queries.to_vec(), drop: Probability::ZERO, ..case.clone() });
        }
    }
}

#[test]
fn the_same_case_runs_the_same_and_the_seed_matters() {
    let digest = |seed| run(&TestCase { seed, ..small_case() }).digest;
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn only_packets_between_the_resolver_and_servers_are_lost_or_doubled() {
    let mut seen = [0, 0];
    for index in 0..50 {
        let mut simulation = Dns::configure(&universe::<Dns>(3, index));
        simulation.record_trace();
        for event in simulation.run().trace.expect("it was asked for") {
            let (packet, kind) = match event.action {
                Action::Dropped { packet, .. } => (packet, 0),
                Action::Duplicated(packet) => (packet, 1),
                _ => continue,
            };
            seen[kind] += 1;
            let ends =
                [&packet.source, &packet.destination].map(|end| end.component.split('-').next().map(str::to_owned));
            assert!(
                ends.contains(&Some("resolver".to_owned())) && ends.contains(&Some("server".to_owned())),
                "{packet:?}"
            );
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

#[test]
fn the_universe_has_what_it_is_to_vary() {
    let cases: Vec<TestCase> = (0..Dns::UNIVERSE).map(|index| universe::<Dns>(1, index)).collect();
    let share = |holds: &dyn Fn(&TestCase) -> bool| cases.iter().filter(|case| holds(case)).count();
    for count in 2..=5 {
        // Five standard deviations of a binomial(2000, 1/4) are 97.
        assert!(share(&|case| case.name_space.zones.len() == count).abs_diff(500) < 98);
    }
    for criterion in Dns::criteria() {
        for index in 0..criterion.requirements.len() {
            let count = share(&|case| (criterion.covered)(case).contains(&index));
            assert!((100..1_500).contains(&count), "{}: {count} cases", criterion.requirements[index]);
        }
    }
    let answers = |case: &TestCase| {
        case.queries.iter().map(|query| case.name_space.answer(&query.question())).collect::<Vec<_>>()
    };
    let bytes = |answer: &Answer| answer.section().map(Record::wire_bytes).sum::<usize>();
    let has = |holds: fn(&Answer) -> bool| share(&|case| answers(case).iter().any(holds));
    assert!(has(|answer| answer.chain.len() >= 2) > 100);
    assert!(has(|answer| !answer.chain.is_empty() && answer.kind() == AnswerKind::NameError) > 50);
    assert!(
        share(&|case| answers(case).iter().any(|answer| bytes(answer) > 1_232)) > 50,
        "that are long for streams alone"
    );
    let outside = |case: &TestCase| {
        let zones = &case.name_space.zones;
        let elsewhere = |zone: &Zone, host: &Name| case.name_space.zone_of(host).apex != zone.apex;
        zones
            .iter()
            .any(|zone| zone.servers().filter_map(|server| server.data.host()).all(|host| elsewhere(zone, host)))
    };
    assert!(share(&outside) > 500, "zones of which all servers have their names elsewhere");
}

#[test]
fn its_chance_is_its_seed() {
    check_reseeding::<Dns>(|case| case.seed = 0);
}
