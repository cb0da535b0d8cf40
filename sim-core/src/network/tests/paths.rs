//! What happens where, when, and to whom: settings, topologies, partitions, rules, queues.

use super::*;
use crate::network::fate::Passage;
use crate::trace::DropReason;

fn setting(from: &str, to: &str, direction: Direction, latency_millis: u64) -> LinkSetting {
    let end = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    LinkSetting { from: end(from), to: end(to), direction, link: Link::constant(MILLI * latency_millis) }
}

#[test]
fn the_last_setting_that_matches_holds() {
    let links = vec![
        setting("a", "", Direction::Both, 2),
        setting("a", "b", Direction::Forward, 3),
        setting("", "c", Direction::Forward, 4),
        setting("d", "d", Direction::Both, 5),
    ];
    let mut run = Run::new(Network { links, ..Network::constant(MILLI) });
    for (way, expect) in
        [("ab", 3), ("ba", 2), ("ad", 2), ("da", 2), ("ac", 4), ("ca", 2), ("bc", 4), ("cb", 1), ("dd", 5), ("bd", 1)]
    {
        // The second packet finds what the first has left.
        assert_eq!([run.send_millis(way), run.send_millis(way)], [Some(expect); 2], "{way}");
    }
}

#[test]
fn a_block_of_one_direction_leaves_the_other() {
    let link = Link { drop: Probability::ONE.into(), ..Link::default() };
    let blocked = LinkSetting { link, ..setting("a", "b", Direction::Forward, 0) };
    let mut run = Run::new(Network { links: vec![blocked], ..Network::default() });
    assert_eq!([run.send_millis("ab"), run.send_millis("ba")], [None, Some(1)]);
}

#[test]
fn each_direction_of_each_link_has_bursts_of_its_own() {
    let certain = GilbertElliott {
        good_to_bad: Probability::ONE,
        bad_to_good: Probability::ONE,
        drop_good: Probability::ZERO,
        drop_bad: Probability::ONE,
    };
    let mut run = Run::new(Link { drop: Loss::GilbertElliott(certain), ..Link::default() });
    // Every other packet is lost, the first being so.
    let ways = ["ab", "ab", "ab", "ba", "cb", "ba", "ab"];
    assert_eq!(ways.map(|way| run.send_millis(way).is_some()), [false, true, false, false, false, true, true]);
}

fn topology(edges: &[(&str, u32)], forwarding: Forwarding) -> Option<Topology> {
    let edge = |(ends, cost): &(&str, u32)| Edge { cost: *cost, ..Edge::new(&ends[..1], &ends[1..]) };
    Some(Topology { forwarding, ..Topology::of_edges(edges.iter().map(edge)) })
}

#[test]
fn without_forwarding_only_neighbours_are_reached() {
    let topology = topology(&[("ab", 1), ("bc", 1)], Forwarding::None);
    let mut run = Run::new(Network { topology, ..Network::default() });
    assert_eq!(["ab", "ba", "cb", "aa", "ff"].map(|way| run.send_millis(way)), [Some(1); 5]);
    assert_eq!(run.send("ac", "DAT", 0), Fate::Dropped(DropReason::NoRoute));
    assert_eq!(run.send("fa", "DAT", 0), Fate::Dropped(DropReason::NoRoute));
}

#[test]
fn a_forwarded_packet_meets_every_link_of_the_cheapest_path() {
    let links = vec![setting("a", "b", Direction::Both, 10), setting("b", "c", Direction::Forward, 100)];
    let topology = topology(&[("ab", 1), ("bc", 1), ("ac", 3), ("cd", 1)], Forwarding::Cheapest);
    let mut run = Run::new(Network { links, topology, ..Network::constant(MILLI) });
    assert_eq!(["ac", "ca", "ad", "cd"].map(|way| run.send_millis(way)), [Some(110), Some(11), Some(111), Some(1)]);
    assert_eq!(run.send("ae", "DAT", 0), Fate::Dropped(DropReason::NoRoute));
}

#[test]
fn each_link_of_a_path_has_chances_of_its_own() {
    let link = Link {
        drop: probability(0.1).into(),
        duplicate: probability(0.2),
        corrupt: probability(0.3),
        ..Link::default()
    };
    let topology = topology(&[("ab", 1), ("bc", 1), ("cd", 1)], Forwarding::Cheapest);
    let mut run = Run::new(Network { topology, ..link.into() });
    let [mut lost, mut twice, mut corrupted] = [0.0; 3];
    for _ in 0..20_000 {
        let packet = run.packet("ad", "DAT", 0);
        let decision = run.state.decide(&packet);
        lost += f64::from(u8::from(decision.lost_on.is_some()));
        twice += f64::from(u8::from(decision.is_duplicated));
        corrupted += f64::from(u8::from(decision.copies[1].is_corrupted));
    }
    for (count, share_of_link) in [(lost, 0.1_f64), (twice, 0.2), (corrupted, 0.3)] {
        let expect = 1.0 - (1.0 - share_of_link).powi(3);
        let tolerance = 4.0 * (expect * (1.0 - expect) / 20_000.0).sqrt();
        assert!((count / 20_000.0 - expect).abs() < tolerance, "{count}, {expect}");
    }
}

#[test]
fn a_queue_is_that_of_one_direction_of_one_link() {
    // A byte takes a microsecond.
    let bandwidth = Some(Bandwidth { bits_per_second: 8_000_000, queue_packets_max: Some(1) });
    let mut run = Run::new(Link { bandwidth, ..Link::constant(MILLI) });
    let mut send = |way| match run.send(way, "DAT", 1_000) {
        Fate::Delivered(arrival) => Ok(arrival.after.as_nanos() / MILLI.as_nanos()),
        Fate::Dropped(reason) => Err(reason),
        Fate::Duplicated(..) => panic!("nothing is duplicated"),
    };
    assert_eq!(["ab", "ab", "ab"].map(&mut send), [Ok(2), Ok(3), Err(DropReason::QueueFull)]);
    assert_eq!(["ba", "cb", "ba", "ba"].map(&mut send), [Ok(2), Ok(2), Ok(3), Err(DropReason::QueueFull)]);
    run.now = VirtualTime::from_millis(1);
    assert_eq!(run.send_millis("ab"), Some(2), "of no bytes, but behind the second");
}

#[test]
fn a_forwarded_packet_queues_at_every_link() {
    let slow = Some(Bandwidth { bits_per_second: 8_000_000, queue_packets_max: None });
    let fast = Some(Bandwidth { bits_per_second: 80_000_000, queue_packets_max: None });
    let topology = topology(&[("ab", 1), ("bc", 1)], Forwarding::Cheapest);
    let last = Link { bandwidth: slow, ..Link::constant(MILLI) };
    let links = vec![LinkSetting { link: last, ..setting("b", "c", Direction::Both, 0) }];
    let first = Link { bandwidth: fast, ..Link::constant(MILLI) };
    let mut run = Run::new(Network { topology, links, ..first.into() });
    let mut after = |way| match run.send(way, "DAT", 1_000) {
        Fate::Delivered(arrival) => arrival.after.as_nanos() / 1_000,
        fate => panic!("{fate:?}"),
    };
    // Sent in 0.1 ms, there after 1 ms; sent in 1 ms, there after 1 ms.
    assert_eq!(after("ac"), 3_100);
    // At b 0.1 ms later, it waits until 2.1 ms for the first one to be sent.
    assert_eq!(after("ac"), 4_100);
    // This one is at b before both.
    assert_eq!(after("bc"), 2_000);
}

/// Checks when a packet reaches each link of a path of three, in milliseconds, if it is decided that the packet is on
/// its way for `decided_millis` in all. By the seed the links take 10, 20 and 40.
#[track_caller]
fn check_reached(decided_millis: u64, expect: [u64; 3]) {
    let topology = topology(&[("ab", 1), ("bc", 1), ("cd", 1)], Forwarding::Cheapest);
    // A byte takes a millisecond, and a packet without bytes tells when the link has sent the one before it.
    let bandwidth = Some(Bandwidth { bits_per_second: 8_000, queue_packets_max: None });
    let link = |from, to, millis| {
        let link = Link { bandwidth, ..Link::constant(MILLI * millis) };
        LinkSetting { link, ..setting(from, to, Direction::Both, 0) }
    };
    let links = vec![link("a", "b", 10), link("b", "c", 20), link("c", "d", 40)];
    let mut run = Run::new(Network { links, topology, ..Network::default() });
    let packet = run.packet("ad", "DAT", 1_000);
    let seeded = run.state.decide(&packet);
    let copy = Passage { latency: MILLI * decided_millis, ..seeded.copies[0] };
    let decision = Decision { copies: [copy, seeded.copies[1]], ..seeded };
    let Fate::Delivered(arrival) = run.state.apply(packet, decision) else { panic!("nothing is lost") };
    assert_eq!(arrival.after, MILLI * (decided_millis + 3_000), "three times a second to be sent");
    // Who comes while it is sent is sent a second after it came.
    let mut reached = |way, latency_millis, earliest| {
        let before = (earliest..earliest + 1_000).find(|&at| {
            run.now = VirtualTime::from_millis(at);
            let packet = run.packet(way, "DAT", 0);
            let Fate::Delivered(arrival) = run.state.clone().fate(packet) else { panic!("nothing is lost") };
            arrival.after > MILLI * latency_millis
        });
        let first_that_waits = before.expect("it is sent at some time");
        run.now = VirtualTime::ZERO;
        first_that_waits
    };
    // It is being sent from the moment at which it comes, and a packet that comes at that moment waits.
    assert_eq!([reached("ab", 10, 0), reached("bc", 20, 1_000), reached("cd", 40, 2_000)], expect);
}

#[test]
fn later_links_are_reached_when_it_is_decided() {
    check_reached(70, [0, 1_010, 2_030]);
    check_reached(75, [0, 1_015, 2_035]);
    check_reached(65, [0, 1_005, 2_025]);
    check_reached(45, [0, 1_000, 2_005]);
    check_reached(5, [0, 1_000, 2_000]);
}

#[test]
fn a_lost_packet_takes_its_time_on_the_link_that_loses_it_and_on_no_later_one() {
    let bandwidth = Some(Bandwidth { bits_per_second: 8_000_000, queue_packets_max: None });
    let lossy = Link { bandwidth, drop: Probability::ONE.into(), ..Link::constant(MILLI) };
    let good = Link { bandwidth, ..Link::constant(MILLI) };
    let topology = topology(&[("ab", 1), ("bc", 1)], Forwarding::Cheapest);
    let links = vec![LinkSetting { link: lossy, ..setting("a", "b", Direction::Forward, 0) }];
    let mut run = Run::new(Network { topology, links, ..good.into() });
    assert_eq!(run.send("ac", "DAT", 1_000), Fate::Dropped(DropReason::Loss));
    run.now = VirtualTime::from_millis(2);
    assert_eq!(run.send_millis("bc"), Some(1), "nothing is in its way");
    run.now = VirtualTime::ZERO;
    let packet = run.packet("ab", "DAT", 1_000);
    let decision = Decision { lost_on: None, ..run.state.decide(&packet) };
    let Fate::Delivered(arrival) = run.state.apply(packet, decision) else { panic!("it was decided otherwise") };
    assert_eq!(arrival.after, MILLI * 3);
}

fn partition(from_secs: u64, until_secs: Option<u64>, groups: &[&str]) -> ScheduledPartition {
    let group = |letters: &&str| letters.chars().map(String::from).collect();
    ScheduledPartition {
        from: VirtualTime::from_secs(from_secs),
        until: until_secs.map(VirtualTime::from_secs),
        groups: groups.iter().map(group).collect(),
    }
}

/// Checks who is separated, all pairs being written as `ab ac`.
#[track_caller]
fn check_separated(run: &mut Run, expect: &str) {
    let mut separated = Vec::new();
    for one in 'a'..='f' {
        for other in one..='f' {
            let way = format!("{one}{other}");
            let [source, destination] = Run::ends(&way);
            let is_separated = run.state.is_separated(source, destination);
            assert_eq!(is_separated, run.state.is_separated(destination, source), "{way}");
            assert_eq!(is_separated, run.send(&way, "DAT", 0) == Fate::Dropped(DropReason::Partition), "{way}");
            if is_separated {
                separated.push(way);
            }
        }
    }
    assert_eq!(separated.join(" "), expect);
}

#[test]
fn partitions_come_and_go_by_schedule() {
    let partitions =
        vec![partition(2, Some(5), &["ab", "c"]), partition(5, None, &["f"]), partition(1, Some(3), &["abcde"])];
    let network = Network { partitions, ..Network::default() };
    let mut run = Run::new(network.clone());
    let mut seen = Vec::new();
    check_separated(&mut run, "");
    for (time, change) in network.scheduled() {
        run.state.change_partition(change);
        seen.push((time.as_nanos() / 1_000_000_000, change));
        let groups = "ac ad ae af bc bd be bf cd ce cf";
        let expect = match seen.len() {
            1 => "af bf cf df ef",
            2 => &format!("{groups} df ef"),
            3 => groups,
            4 => "",
            _ => "af bf cf df ef",
        };
        check_separated(&mut run, expect);
    }
    use PartitionChange::{Begin, Heal};
    assert_eq!(seen, [(1, Begin(2)), (2, Begin(0)), (3, Heal(2)), (5, Heal(0)), (5, Begin(1))]);
}

#[test]
fn a_partition_cuts_the_links_of_a_path() {
    let topology = topology(&[("ab", 1), ("bc", 1), ("cd", 1)], Forwarding::Cheapest);
    let partitions = vec![partition(0, None, &["b"])];
    let mut run = Run::new(Network { topology, partitions, ..Network::default() });
    run.state.change_partition(PartitionChange::Begin(0));
    assert_eq!(run.send("ac", "DAT", 0), Fate::Dropped(DropReason::Partition), "b is between them");
    assert_eq!(run.send_millis("cd"), Some(1));
    assert_eq!(run.send("ae", "DAT", 0), Fate::Dropped(DropReason::NoRoute));
}

/// Checks the fates of packets, written as `ab:ACK`, in milliseconds; one is sent each millisecond. `x` is a packet
/// that a rule drops, `twice` and `corrupt` are as they say.
#[track_caller]
fn check_rules(rules: &[Rule], packets: &str, expect: &str) {
    let mut run = Run::new(Network { rules: rules.to_vec(), ..Network::default() });
    let mut fates = Vec::new();
    for packet in packets.split(' ') {
        let (way, kind) = packet.split_once(':').expect("a packet is a way and a kind");
        let kind = if kind == "ACK" { "ACK" } else { "DAT" };
        fates.push(match run.send(way, kind, 0) {
            Fate::Dropped(DropReason::Rule) => "x".to_owned(),
            Fate::Delivered(Arrival { is_corrupted: true, .. }) => "corrupt".to_owned(),
            Fate::Delivered(arrival) => (arrival.after.as_nanos() / 1_000_000).to_string(),
            Fate::Duplicated(..) => "twice".to_owned(),
            fate => panic!("{fate:?}"),
        });
        run.now += MILLI;
    }
    assert_eq!(fates.join(" "), expect);
}

#[test]
fn a_rule_applies_to_the_packets_that_it_describes() {
    let name = |name: &str| Some(name.to_owned());
    let from_a_to_b = Rule { from: name("a"), to: name("b"), kind: name("ACK"), ..Rule::of(Effect::Drop) };
    check_rules(std::slice::from_ref(&from_a_to_b), "ab:ACK ba:ACK ab:DAT ac:ACK ab:ACK", "x 1 1 1 x");
    let third = Rule { occurrences: Occurrences::Only(3), ..from_a_to_b.clone() };
    check_rules(&[third], "ab:ACK ba:ACK ab:ACK ab:DAT ab:ACK ab:ACK", "1 1 1 1 x 1");
    let first_two = Rule { occurrences: Occurrences::First(2), ..from_a_to_b };
    check_rules(&[first_two], "ab:ACK ba:ACK ab:ACK ab:ACK", "x 1 x 1");
    let for_a_time =
        Rule { since: VirtualTime::from_millis(1), until: Some(VirtualTime::from_millis(3)), ..Rule::of(Effect::Drop) };
    check_rules(&[for_a_time], "ab:ACK ab:ACK ab:ACK ab:ACK", "1 x x 1");
}

#[test]
fn rules_have_their_effects() {
    check_rules(&[Rule::of(Effect::Delay(MILLI * 9))], "ab:ACK", "10");
    let until = VirtualTime::from_millis(2);
    check_rules(&[Rule::of(Effect::HoldUntil(until))], "ab:ACK ab:ACK ab:ACK ab:ACK", "3 2 1 1");
    check_rules(&[Rule::of(Effect::Duplicate)], "ab:ACK", "twice");
    let mut run = Run::new(Network { rules: vec![Rule::of(Effect::Duplicate)], ..Network::default() });
    let arrival = Arrival { after: MILLI, is_corrupted: false };
    assert_eq!(run.send("ab", "ACK", 0), Fate::Duplicated(arrival, arrival));
    check_rules(&[Rule::of(Effect::Corrupt)], "ab:ACK", "corrupt");
}

#[test]
fn the_first_rule_that_applies_holds_and_every_rule_counts() {
    let only = |number, effect| Rule { occurrences: Occurrences::Only(number), ..Rule::of(effect) };
    let rules =
        [only(2, Effect::Drop), only(2, Effect::Delay(MILLI)), only(3, Effect::Duplicate), Rule::of(Effect::Corrupt)];
    check_rules(&rules, "ab:ACK ab:ACK ab:ACK ab:ACK", "corrupt x twice corrupt");
}

#[test]
fn a_held_packet_meets_what_the_link_does_when_it_goes() {
    let bandwidth = Some(Bandwidth { bits_per_second: 8_000_000, queue_packets_max: None });
    let held = Rule { occurrences: Occurrences::First(2), ..Rule::of(Effect::HoldUntil(VirtualTime::from_millis(5))) };
    let mut run = Run::new(Network { rules: vec![held], ..Link { bandwidth, ..Link::constant(MILLI) }.into() });
    let mut after = || match run.send("ab", "DAT", 1_000) {
        Fate::Delivered(arrival) => arrival.after.as_nanos() / 1_000_000,
        fate => panic!("{fate:?}"),
    };
    assert_eq!([after(), after(), after()], [7, 8, 2]);
}
