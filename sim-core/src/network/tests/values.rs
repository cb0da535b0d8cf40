//! Networks as values: what serde writes it reads, and what cannot be is refused.

use proptest::prelude::*;

use super::*;

fn any_probability() -> impl Strategy<Value = Probability> {
    (0.0..=1.0).prop_map(probability)
}

fn any_duration() -> impl Strategy<Value = VirtualDuration> {
    any::<u64>().prop_map(VirtualDuration::from_nanos)
}

fn any_time() -> impl Strategy<Value = VirtualTime> {
    any::<u64>().prop_map(VirtualTime::from_nanos)
}

fn any_name() -> impl Strategy<Value = String> {
    "[a-z\"]{0,3}"
}

fn any_latency() -> impl Strategy<Value = Latency> {
    let max = || proptest::option::of(any_duration());
    prop_oneof![
        any_duration().prop_map(Latency::Constant),
        (any_duration(), any_duration()).prop_map(|(min, max)| Latency::Uniform { min, max }),
        (any_duration(), max()).prop_map(|(mean, max)| Latency::Exponential { mean, max }),
        (any_duration(), any_duration(), max()).prop_map(|(mean, standard_deviation, max)| Latency::Normal {
            mean,
            standard_deviation,
            max
        }),
        (any_duration(), 0.0..100.0, max()).prop_map(|(min, shape, max)| Latency::Pareto { min, shape, max }),
        proptest::collection::vec(any_duration(), 0..4).prop_map(Latency::Empirical),
    ]
}

fn any_loss() -> impl Strategy<Value = Loss> {
    let chain = (any_probability(), any_probability(), any_probability(), any_probability());
    prop_oneof![
        any_probability().prop_map(Loss::from),
        chain.prop_map(|(good_to_bad, bad_to_good, drop_good, drop_bad)| {
            Loss::GilbertElliott(GilbertElliott { good_to_bad, bad_to_good, drop_good, drop_bad })
        }),
    ]
}

fn any_link() -> impl Strategy<Value = Link> {
    let jitter = proptest::option::of(any_latency());
    let reorder = (any_probability(), any_latency()).prop_map(|(probability, hold)| Reorder { probability, hold });
    let bandwidth = (any::<u64>(), any::<Option<u32>>())
        .prop_map(|(bits_per_second, queue_packets_max)| Bandwidth { bits_per_second, queue_packets_max });
    let faults = (any_loss(), any_probability(), proptest::option::of(reorder), any_probability());
    (any_latency(), jitter, faults, proptest::option::of(bandwidth)).prop_map(|(latency, jitter, faults, bandwidth)| {
        let (drop, duplicate, reorder, corrupt) = faults;
        Link { latency, jitter, drop, duplicate, reorder, corrupt, bandwidth }
    })
}

fn any_setting() -> impl Strategy<Value = LinkSetting> {
    let end = || proptest::option::of(any_name());
    let direction = prop_oneof![Just(Direction::Both), Just(Direction::Forward)];
    (end(), end(), direction, any_link()).prop_map(|(from, to, direction, link)| LinkSetting {
        from,
        to,
        direction,
        link,
    })
}

fn any_topology() -> impl Strategy<Value = Topology> {
    let edge = (any_name(), any_name(), any::<u32>()).prop_map(|(one, other, cost)| Edge { ends: [one, other], cost });
    let random = (any_probability(), any::<u32>(), any::<u64>());
    let shape = prop_oneof![
        Just(Shape::Full),
        Just(Shape::Line),
        Just(Shape::Ring),
        Just(Shape::Star),
        any::<u32>().prop_map(|columns| Shape::Mesh { columns }),
        random.prop_map(|(edge_probability, cost_max, seed)| Shape::Random { edge_probability, cost_max, seed }),
        proptest::collection::vec(edge, 0..4).prop_map(Shape::Edges),
    ];
    let components = proptest::option::of(proptest::collection::vec(any_name(), 0..4));
    let forwarding = prop_oneof![Just(Forwarding::None), Just(Forwarding::Cheapest)];
    (shape, components, forwarding).prop_map(|(shape, components, forwarding)| Topology {
        shape,
        components,
        forwarding,
    })
}

fn any_partition() -> impl Strategy<Value = ScheduledPartition> {
    let groups = proptest::collection::vec(proptest::collection::vec(any_name(), 0..3), 0..3);
    (any_time(), proptest::option::of(any_time()), groups).prop_map(|(from, until, groups)| ScheduledPartition {
        from,
        until,
        groups,
    })
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let name = || proptest::option::of(any_name());
    let occurrences = prop_oneof![
        Just(Occurrences::All),
        any::<u64>().prop_map(Occurrences::First),
        any::<u64>().prop_map(Occurrences::Only)
    ];
    let effect = prop_oneof![
        Just(Effect::Drop),
        any_duration().prop_map(Effect::Delay),
        any_time().prop_map(Effect::HoldUntil),
        Just(Effect::Duplicate),
        Just(Effect::Corrupt),
    ];
    let until = proptest::option::of(any_time());
    (name(), name(), name(), any_time(), until, occurrences, effect).prop_map(
        |(from, to, kind, since, until, occurrences, effect)| Rule {
            from,
            to,
            kind,
            since,
            until,
            occurrences,
            effect,
        },
    )
}

fn any_network() -> impl Strategy<Value = Network> {
    let links = proptest::collection::vec(any_setting(), 0..3);
    let partitions = proptest::collection::vec(any_partition(), 0..3);
    let rules = proptest::collection::vec(any_rule(), 0..3);
    (any_link(), links, proptest::option::of(any_topology()), partitions, rules, any::<u32>()).prop_map(
        |(link, links, topology, partitions, rules, message_bytes_max)| Network {
            link,
            links,
            topology,
            partitions,
            rules,
            message_bytes_max,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(network in any_network()) {
        let json = serde_json::to_string(&network).expect("it can be written");
        prop_assert_eq!(&serde_json::from_str::<Network>(&json).expect("it can be read"), &network);
        // By way of a tree, as part of a larger value is.
        let tree = serde_json::to_value(&network).expect("it can be written");
        prop_assert_eq!(&serde_json::from_value::<Network>(tree).expect("it can be read"), &network);
    }

    #[test]
    fn a_valid_network_runs_and_no_other(network in any_network()) {
        let names: Vec<String> = network.links.iter().flat_map(|setting| [&setting.from, &setting.to])
            .chain(network.rules.iter().flat_map(|rule| [&rule.from, &rule.to]))
            .flatten()
            .chain(network.partitions.iter().flat_map(|partition| partition.groups.iter().flatten()))
            .cloned()
            .chain(["a", "b"].map(str::to_owned))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let network = Network { topology: None, ..network };
        let state = NetworkState::new(&network, &names, 1);
        prop_assert_eq!(state.err(), network.validate().err());
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let network = Network::read(&mut serde_json::Deserializer::from_str("{}")).expect("it is a network");
    assert_eq!(network, Network::default());
    assert_eq!(network.message_bytes_max, 65_507);
    let json = r#"{"link": {"drop": 0.1}, "topology": {"shape": {"random": {"edge_probability": 0.2, "seed": 1}}}}"#;
    let network = Network::read(&mut serde_json::Deserializer::from_str(json)).expect("it is a network");
    assert_eq!(network.link, Link { drop: probability(0.1).into(), ..Link::default() });
    let shape = Shape::Random { edge_probability: probability(0.2), cost_max: 1, seed: 1 };
    assert_eq!(network.topology, Some(shape.into()));
}

/// Checks why the network of a JSON text is refused, for components `a`, `b` and `c`.
#[track_caller]
fn check_refused(json: &str, expect: &str) {
    let error = Network::read(&mut serde_json::Deserializer::from_str(json)).and_then(|network| {
        let names = ["a", "b", "c"].map(str::to_owned);
        NetworkState::new(&network, &names, 1).map(|_| ())
    });
    assert_eq!(error.expect_err("it is no network").to_string(), expect);
}

#[test]
fn what_cannot_be_read_is_refused_with_the_name_of_the_field() {
    check_refused(
        r#"{"link": {"drop": 1.5}}"#,
        "link.drop: 1.5 is not a probability: give a number from 0 to 1 at line 1 column 21",
    );
    check_refused(
        r#"{"links": [{"link": {}}, {"link": {"drop": {"gilbert_elliott": {"good_to_bad": 0, "bad_to_good": 2}}}}]}"#,
        "links[1].link.drop.gilbert_elliott.bad_to_good: \
         2 is not a probability: give a number from 0 to 1 at line 1 column 99",
    );
    check_refused(
        r#"{"link": {"latency": {"constant_ns": -5}}}"#,
        "link.latency.constant_ns: invalid value: integer `-5`, expected u64 at line 1 column 39",
    );
    check_refused(
        r#"{"link": {"latency": {"pareto": {"min_ns": 1, "shape": 1e400}}}}"#,
        "link.latency.pareto.shape: number out of range at line 1 column 60",
    );
    check_refused(
        r#"{"link": {"lose": 0.1}}"#,
        "link.lose: unknown field `lose`, expected one of `latency`, `jitter`, `drop`, `duplicate`, `reorder`, `corrupt`, \
         `bandwidth` at line 1 column 16",
    );
    check_refused(
        r#"{"rules": [{"effect": "lose"}]}"#,
        "rules[0].effect: unknown variant `lose`, expected one of `drop`, `delay_ns`, `hold_until_ns`, `duplicate`, \
         `corrupt` at line 1 column 28",
    );
}

#[test]
fn what_cannot_be_is_refused_with_the_name_of_the_field() {
    check_refused(
        r#"{"link": {"latency": {"uniform": {"min_ns": 2, "max_ns": 1}}}}"#,
        "link.latency.uniform.min_ns is 2: it must be at most max_ns, which is 1",
    );
    check_refused(
        r#"{"link": {"latency": {"constant_ns": 18446744073709551615}}}"#,
        "link.latency.constant_ns is 18446744073709551615: it must be below 18446744073709551615, which stands for infinity",
    );
    check_refused(
        r#"{"link": {"jitter": {"pareto": {"min_ns": 0, "shape": 1}}}}"#,
        "link.jitter.pareto.min_ns is 0: it must be at least 1",
    );
    check_refused(
        r#"{"link": {"jitter": {"pareto": {"min_ns": 1, "shape": -0.5}}}}"#,
        "link.jitter.pareto.shape is -0.5: it must be a finite number above 0",
    );
    check_refused(
        r#"{"link": {"latency": {"pareto": {"min_ns": 9, "shape": 1, "max_ns": 8}}}}"#,
        "link.latency.pareto.min_ns is 9: it must be at most max_ns, which is 8",
    );
    check_refused(
        r#"{"link": {"reorder": {"probability": 0.1, "hold": {"empirical_ns": []}}}}"#,
        "link.reorder.hold.empirical_ns is []: it must be a list of at least one latency",
    );
    check_refused(
        r#"{"links": [{"link": {"bandwidth": {"bits_per_second": 0}}}]}"#,
        "links[0].link.bandwidth.bits_per_second is 0: it must be at least 1",
    );
    check_refused(
        r#"{"links": [{"from": "d", "link": {}}]}"#,
        r#"links[0].from is "d": it must be the name of a component: one of a, b, c"#,
    );
    check_refused(
        r#"{"partitions": [{"from_ns": 5, "until_ns": 5, "groups": [["a"]]}]}"#,
        "partitions[0].until_ns is 5: it must be above from_ns, which is 5",
    );
    check_refused(
        r#"{"partitions": [{"from_ns": 5, "groups": []}]}"#,
        "partitions[0].groups is []: it must be a list of at least one group",
    );
    check_refused(
        r#"{"partitions": [{"from_ns": 5, "groups": [["a"], []]}]}"#,
        "partitions[0].groups[1] is []: it must be a list of at least one component",
    );
    check_refused(
        r#"{"partitions": [{"from_ns": 5, "groups": [["a"], ["b", "a"]]}]}"#,
        r#"partitions[0].groups[1] is a group with "a": it must be without who was named before"#,
    );
    check_refused(
        r#"{"partitions": [{"from_ns": 5, "groups": [["a"], ["b", "x"]]}]}"#,
        r#"partitions[0].groups[1][1] is "x": it must be the name of a component: one of a, b, c"#,
    );
    check_refused(
        r#"{"rules": [{"effect": "drop", "occurrences": {"only": 0}}]}"#,
        "rules[0].occurrences.only is 0: it must be at least 1",
    );
    check_refused(
        r#"{"rules": [{"effect": "drop", "occurrences": {"first": 0}}]}"#,
        "rules[0].occurrences.first is 0: it must be at least 1",
    );
    check_refused(
        r#"{"rules": [{"effect": "drop", "since_ns": 3, "until_ns": 2}]}"#,
        "rules[0].until_ns is 2: it must be above since_ns, which is 3",
    );
    check_refused(
        r#"{"rules": [{"effect": "drop"}, {"to": "x", "effect": "drop"}]}"#,
        r#"rules[1].to is "x": it must be the name of a component: one of a, b, c"#,
    );
}

#[test]
fn a_topology_that_cannot_be_is_refused_with_the_name_of_the_field() {
    let check = |topology: &str, expect: &str| check_refused(&format!(r#"{{"topology": {topology}}}"#), expect);
    check(r#"{"shape": {"mesh": {"columns": 0}}}"#, "topology.shape.mesh.columns is 0: it must be at least 1");
    check(
        r#"{"shape": {"random": {"edge_probability": 0.5, "cost_max": 0, "seed": 1}}}"#,
        "topology.shape.random.cost_max is 0: it must be at least 1",
    );
    check(
        r#"{"shape": {"edges": [{"ends": ["a", "a"]}]}}"#,
        r#"topology.shape.edges[0].ends is ["a", "a"]: it must be two components"#,
    );
    check(
        r#"{"shape": {"edges": [{"ends": ["a", "b"]}, {"ends": ["b", "a"]}]}}"#,
        r#"topology.shape.edges[1].ends is ["b", "a"]: it must be in the list once, for either direction"#,
    );
    check(
        r#"{"shape": {"edges": [{"ends": ["a", "b"], "cost": 0}]}}"#,
        "topology.shape.edges[0].cost is 0: it must be at least 1",
    );
    check(
        r#"{"shape": {"edges": [{"ends": ["a", "x"]}]}}"#,
        r#"topology.shape.edges[0].ends[1] is "x": it must be the name of a component: one of a, b, c"#,
    );
    check(
        r#"{"shape": {"edges": []}, "components": ["a"]}"#,
        r#"topology.components is ["a"]: it must be left out, for edges name their components"#,
    );
    check(
        r#"{"shape": "ring", "components": ["a", "b", "a"]}"#,
        r#"topology.components[2] is "a": it must be in the list once"#,
    );
    check(
        r#"{"shape": "ring", "components": ["a", "x"]}"#,
        r#"topology.components[1] is "x": it must be the name of a component: one of a, b, c"#,
    );
}
