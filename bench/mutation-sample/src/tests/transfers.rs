//! Tests of go-back-N. What the transfers over bad channels come to was computed by another program as well.

use crate::go_back_n::{Transfer, Transferred};

const PLAIN: Transfer = Transfer {
    window: 4,
    timeout: 50,
    latency_min: 10,
    latency_spread: 0,
    loss_percent: 0,
    damage_percent: 0,
    seed: 1,
};

const DATA: &[u8] = b"a sender goes back to the oldest frame";

pub(super) fn a_perfect_channel_needs_each_frame_once() {
    let Transferred { received, frames, damaged, timeouts, ended_at } = PLAIN.run(DATA);
    assert_eq!(received, DATA);
    assert_eq!((frames, damaged, timeouts), (38, 0, 0));
    assert_eq!(ended_at, 200, "ten windows, each of which takes a round trip of 20");
}

pub(super) fn a_larger_window_is_faster() {
    let ended_at = |window| Transfer { window, ..PLAIN.clone() }.run(&DATA[..18]).ended_at;
    assert_eq!([ended_at(1), ended_at(3), ended_at(6)], [360, 120, 60]);
}

pub(super) fn nothing_is_transferred_at_once() {
    for seed in 0..250 {
        let outcome = Transfer { seed, ..PLAIN }.run(&[]);
        assert_eq!(outcome, Transferred { received: Vec::new(), frames: 0, damaged: 0, timeouts: 0, ended_at: 0 });
        assert_eq!(Transfer { seed, window: 0, ..PLAIN }.run(b"x").frames, 0, "no window, no frame");
    }
}

pub(super) fn a_lossy_channel_delivers_all() {
    let outcome = Transfer { loss_percent: 20, seed: 9, ..PLAIN }.run(DATA);
    assert_eq!(outcome.received, DATA);
    assert_eq!((outcome.frames, outcome.damaged, outcome.timeouts), (68, 0, 8));
    assert_eq!(outcome.ended_at, 680);
}

pub(super) fn a_channel_that_damages_delivers_all() {
    let outcome = Transfer { damage_percent: 15, seed: 2, ..PLAIN }.run(DATA);
    assert_eq!(outcome.received, DATA);
    assert_eq!((outcome.frames, outcome.damaged, outcome.timeouts), (66, 15, 7));
    assert_eq!(outcome.ended_at, 630);
}

pub(super) fn frames_that_overtake_each_other_are_sent_again() {
    let outcome = Transfer { latency_spread: 20, seed: 8, ..PLAIN }.run(&DATA[..16]);
    assert_eq!(outcome.received, &DATA[..16]);
    assert_eq!((outcome.frames, outcome.timeouts), (48, 9));
    assert_eq!(outcome.ended_at, 847);
}

pub(super) fn an_early_timeout_sends_twice() {
    let outcome = Transfer { timeout: 15, window: 2, ..PLAIN }.run(&DATA[..30]);
    assert_eq!(outcome.received, &DATA[..30]);
    assert_eq!((outcome.frames, outcome.timeouts), (60, 15));
    assert_eq!(outcome.ended_at, 300);
}
