use simutant_oracle::Check;
use simutant_sim_core::trace::Action;
use simutant_system::universe;

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

#[test]
fn test_cases_bring_followers_back_that_missed_entries_or_logged_too_many() {
    let (mut were_sent_entries, mut forgot) = (0, 0);
    for index in 0..500 {
        let mut simulation = ZooKeeperEnsemble::configure(&universe::<ZooKeeperEnsemble>(1, index));
        simulation.record_trace();
        let trace = simulation.run().trace.expect("it was recorded");
        let is_sync = |text: &str| text.starts_with("Peer(Sync") && !text.contains("entries: []");
        let has = |is: &dyn Fn(&Action) -> bool| trace.iter().any(|event| is(&event.action));
        were_sent_entries +=
            i32::from(has(&|action| matches!(action, Action::Sent(packet) if is_sync(&packet.message))));
        forgot += i32::from(has(&|action| matches!(action, Action::Noted { text, .. } if text.starts_with("forgets"))));
    }
    assert!(were_sent_entries > 50 && forgot > 10, "{were_sent_entries} were sent entries, {forgot} forgot some");
}
