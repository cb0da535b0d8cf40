use std::collections::BTreeSet;

use simutant_oracle::Check;
use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_system::{Separation, universe};

use super::*;

#[test]
fn sampled_cases_are_valid_and_pass() {
    for index in 0..500 {
        let case = universe::<ZooKeeperEnsemble>(1, index);
        assert_eq!(ZooKeeperEnsemble::validate(&case), Ok(()));
        let ended = ZooKeeperEnsemble::configure(&case).run().ended;
        assert!(ended.passed(), "{}: {ended}", serde_json::to_string(&case).expect("it is plain data"));
    }
}

#[test]
fn followers_may_be_behind_others() {
    let is_behind = |index: &usize| {
        let case = universe::<ZooKeeperEnsemble>(1, *index);
        !configuration::configure(&case, |_| Check::default()).run().ended.passed()
    };
    let behind = (0..1_000).filter(is_behind).count();
    assert!((2..200).contains(&behind), "{behind} of 1,000 runs are not linearizable");
}

/// Runs a test case, which passes, and returns what happened.
fn trace_of(case: &EnsembleTestCase) -> Vec<TraceEvent> {
    let mut simulation = ZooKeeperEnsemble::configure(case);
    simulation.record_trace();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    report.trace.expect("it was recorded")
}

/// Returns what a server sends to another one, of some kind, at least once.
fn sent<'a>(trace: &'a [TraceEvent], server: &str, kind: &str) -> BTreeSet<&'a str> {
    let message = |event: &'a TraceEvent| match &event.action {
        Action::Sent(packet) if packet.source.component == server && packet.kind == kind => Some(&*packet.message),
        _ => None,
    };
    trace.iter().filter_map(message).collect()
}

fn is_phase(action: &Action, server: &str, begun: &str) -> bool {
    matches!(action, Action::PhaseBegan { component, phase } if component == server && phase == begun)
}

/// Returns a test case of near servers without faults. The last server leads.
fn undisturbed(index: usize) -> EnsembleTestCase {
    let case = universe::<ZooKeeperEnsemble>(2, index);
    EnsembleTestCase { latency_us: 500, far_us: 500, crashes: Vec::new(), partitions: Vec::new(), ..case }
}

#[test]
fn a_crash_of_the_leader_leads_to_another_one_that_goes_on() {
    let (mut proposed, mut answered) = (0, 0);
    for index in 0..40 {
        let crash = ServerCrash { server: 3, at_ms: 2, for_ms: 100 };
        let trace = trace_of(&EnsembleTestCase { crashes: vec![crash], ..undisturbed(index) });
        let place = |is: &dyn Fn(&Action) -> bool| trace.iter().position(|event| is(&event.action));
        let leads = |action: &Action, server| is_phase(action, server, "leading");
        let crashed = place(&|action| matches!(action, Action::Crashed { .. })).expect("it was scheduled");
        assert!(place(&|action| leads(action, "server-3")).is_some_and(|first| first < crashed));
        let Some(next) = place(&|action| leads(action, "server-2")) else { continue };
        assert!(next > crashed);
        proposed += sent(&trace[next..], "server-2", "PROPOSE").len();
        answered += sent(&trace[next..], "server-2", "COMMIT").len();
    }
    assert!(proposed > 50 && answered > 50, "{proposed} were proposed, {answered} answered");
}

#[test]
fn a_leader_that_is_cut_off_commits_nothing_and_steps_down() {
    let (mut proposed, mut other_leads) = (0, 0);
    for index in 0..40 {
        let cut = Separation { components: [3].into(), at_ms: 2, for_ms: 300 };
        let trace = trace_of(&EnsembleTestCase { partitions: vec![cut], ..undisturbed(index) });
        let is_cut = |event: &TraceEvent| matches!(event.action, Action::Partitioned { .. });
        let is_healed = |event: &TraceEvent| matches!(event.action, Action::Healed { .. });
        let cut = trace.iter().position(is_cut).expect("it was scheduled");
        let healed = trace.iter().position(is_healed).unwrap_or(trace.len());
        let (before, meanwhile) = (&trace[..cut], &trace[cut..healed]);
        let new = |kind| sent(meanwhile, "server-3", kind).difference(&sent(before, "server-3", kind)).count();
        assert_eq!(new("COMMIT"), 0, "test case {index}");
        proposed += new("PROPOSE");
        if !sent(meanwhile, "server-2", "PROPOSE").is_empty() {
            other_leads += 1;
            let looks = meanwhile.iter().filter(|event| is_phase(&event.action, "server-3", "looking"));
            assert_eq!(looks.count(), 1, "test case {index}");
        }
    }
    assert!(proposed > 5 && other_leads > 5, "{proposed} were proposed in vain, {other_leads} elected another leader");
}

#[test]
fn the_server_of_the_latest_epoch_wins_the_next_election() {
    let mut won = 0;
    for index in 0..40 {
        // The second server leads without the third one, which is back when the second one is cut off.
        let cut = |server, at_ms| Separation { components: [server].into(), at_ms, for_ms: 250 };
        let trace = trace_of(&EnsembleTestCase { partitions: vec![cut(3, 2), cut(2, 240)], ..undisturbed(index) });
        let leaders: Vec<_> = trace
            .iter()
            .filter_map(|event| match &event.action {
                Action::PhaseBegan { component, phase } if phase == "leading" => Some(&**component),
                _ => None,
            })
            .collect();
        if leaders.len() > 2 {
            assert_eq!(leaders[..3], ["server-3", "server-2", "server-1"], "test case {index}");
            won += 1;
        }
    }
    assert!(won > 5, "there were {won} such elections");
}

#[test]
fn who_began_to_lead_follows_no_older_leader_after_a_crash() {
    let mut refused = 0;
    for index in 0..40 {
        // The second server begins to lead without the third one, crashes, and finds that one back, which still leads.
        let cut = Separation { components: [3].into(), at_ms: 2, for_ms: 42 };
        let crash = |server, at_ms, for_ms| ServerCrash { server, at_ms, for_ms };
        let crashes = vec![crash(2, 44, 1), crash(3, 74, 200)];
        let trace = trace_of(&EnsembleTestCase { crashes, partitions: vec![cut], ..undisturbed(index) });
        let is_crash = |event: &TraceEvent| matches!(event.action, Action::Crashed { .. });
        let (before, after) = trace.split_at(trace.iter().position(is_crash).expect("it was scheduled"));
        let ends = |event: &TraceEvent| is_crash(event) || is_phase(&event.action, "server-3", "looking");
        let end = 1 + after[1..].iter().position(ends).expect("it crashes, too");
        let began = !sent(before, "server-2", "SYNC").is_empty();
        let led = before.iter().any(|event| is_phase(&event.action, "server-2", "leading"));
        if began && !led && !sent(&after[..end], "server-2", "FOLLOW").is_empty() {
            refused += 1;
            let committed = sent(before, "server-3", "COMMIT");
            assert!(sent(&after[..end], "server-3", "COMMIT").is_subset(&committed), "test case {index}");
        }
    }
    assert!(refused > 5, "{refused} servers were refused");
}

#[test]
fn a_leader_steps_down_for_a_later_promise() {
    for index in [139, 230, 297] {
        // The second server votes for the first one, which begins to lead, but then finds that the third one still leads.
        let first = Separation { components: [2].into(), at_ms: 6, for_ms: 70 };
        let second = Separation { components: [2, 3].into(), at_ms: 61, for_ms: 69 };
        let partitions = vec![first, second];
        let case = EnsembleTestCase { latency_us: 1_671, far_us: 14_003, partitions, ..undisturbed(index) };
        let trace = trace_of(&case);
        let is_later = |message: &&str| message.contains("promised: 4, epoch: 3");
        assert!(sent(&trace, "server-1", "FOLLOW").iter().any(is_later), "test case {index}");
        let leads = |event: &&TraceEvent| is_phase(&event.action, "server-3", "leading");
        assert!(trace.iter().filter(leads).count() > 1, "test case {index}");
    }
}

#[test]
fn test_cases_bring_followers_back_that_missed_entries_or_logged_too_many() {
    let (mut were_sent_entries, mut forgot) = (0, 0);
    for index in 0..500 {
        let trace = trace_of(&universe::<ZooKeeperEnsemble>(1, index));
        let is_sync = |text: &str| text.starts_with("Peer(Sync") && !text.contains("entries: []");
        let has = |is: &dyn Fn(&Action) -> bool| trace.iter().any(|event| is(&event.action));
        were_sent_entries +=
            i32::from(has(&|action| matches!(action, Action::Sent(packet) if is_sync(&packet.message))));
        forgot += i32::from(has(&|action| matches!(action, Action::Noted { text, .. } if text.starts_with("forgets"))));
    }
    assert!(were_sent_entries > 50 && forgot > 2, "{were_sent_entries} were sent entries, {forgot} forgot some");
}

#[test]
fn no_two_leaders_have_the_same_epoch() {
    // The second server leads while the first and the third one crash one after the other, and those two find each other
    // while it is cut off.
    let crash = |server, at_ms, for_ms| ServerCrash { server, at_ms, for_ms };
    let cut =
        |servers: &[usize], at_ms, for_ms| Separation { components: servers.iter().copied().collect(), at_ms, for_ms };
    let case = EnsembleTestCase {
        far_us: 1_684,
        crashes: vec![crash(1, 32, 52), crash(3, 48, 57)],
        partitions: vec![cut(&[1, 3], 48, 6), cut(&[2], 106, 93)],
        ..undisturbed(181)
    };
    let trace = trace_of(&case);
    let epochs = ["server-1", "server-2", "server-3"].map(|server| {
        let epoch = |message: &str| {
            message.strip_prefix("Peer(Sync { epoch: ").and_then(|rest| rest.split(',').next().map(str::to_owned))
        };
        sent(&trace, server, "SYNC").into_iter().filter_map(epoch).collect::<BTreeSet<_>>()
    });
    let all: BTreeSet<&String> = epochs.iter().flatten().collect();
    assert!(all.len() > 2 && all.len() == epochs.iter().map(BTreeSet::len).sum::<usize>(), "{epochs:?}");
}
