//! Tests of the election.

use crate::ring::{Election, elect, successor};

const ALIVE: [bool; 12] = [false; 12];
const NUMBERS: [u32; 12] = [3, 8, 1, 12, 5, 7, 2, 11, 4, 10, 6, 9];

#[track_caller]
fn check(numbers: &[u32], crashed: &[bool], initiators: &[usize], leader: u32, messages: u64) {
    let election = elect(numbers, crashed, initiators);
    for (index, &is_down) in crashed.iter().enumerate() {
        assert_eq!(election.leaders[index], (!is_down).then_some(leader), "the leader of process {index}");
    }
    assert_eq!(election.messages, messages, "how many messages it took");
}

pub(super) fn the_greatest_number_wins() {
    for initiator in 0..12 {
        for greatest in [3, 4, 11, 0] {
            let mut numbers = NUMBERS;
            numbers.rotate_right((greatest + 9) % 12);
            // To the greatest, once around, and once around to tell all.
            let to_greatest = (greatest as u64 + 12 - initiator as u64) % 12;
            check(&numbers, &ALIVE, &[initiator], 12, to_greatest + 24);
        }
    }
}

pub(super) fn several_may_begin() {
    for turn in 0..12 {
        let mut numbers = NUMBERS;
        numbers.rotate_right(turn);
        let turned = |index: usize| (index + turn) % 12;
        check(&numbers, &ALIVE, &[0, 6, 9].map(turned), 12, 42);
        check(&numbers, &ALIVE, &[3, 3, 3].map(turned), 12, 24);
        check(&numbers, &ALIVE, &[1, 2].map(turned), 12, 27);
    }
}

pub(super) fn the_worst_order_takes_a_square_of_messages() {
    let falling: Vec<u32> = (1..=32).rev().collect();
    let rising: Vec<u32> = (1..=32).collect();
    let all: Vec<usize> = (0..32).collect();
    // Candidate k passes k processes, and 32 messages tell of the leader.
    check(&falling, &[false; 32], &all, 32, 32 * 33 / 2 + 32);
    check(&rising, &[false; 32], &all, 32, 31 + 32 + 32);
}

pub(super) fn the_crashed_are_passed_over() {
    let mut crashed = ALIVE;
    for (down, leader) in [(3, 11), (7, 10), (9, 9), (11, 8)] {
        crashed[down] = true;
        for initiator in 0..9 {
            let election = elect(&NUMBERS, &crashed, &[0, initiator]);
            assert_eq!(election.leaders[0], Some(leader));
            assert_eq!(election.leaders[down], None);
        }
    }
}

pub(super) fn the_successor_is_the_next_that_lives() {
    for count in 1..24 {
        let mut crashed = vec![false; count];
        for index in 0..count {
            assert_eq!(successor(index, &crashed), (index + 1) % count);
        }
        crashed[count / 2] = true;
        for index in 0..count {
            let next = successor(index, &crashed);
            assert!(!crashed[next] || count == 1, "{next} is down");
        }
        let all = vec![true; count];
        assert_eq!(successor(0, &all), 0, "nobody else lives");
        let number = count as u32;
        assert_eq!(elect(&[number], &[false], &[0]), Election { leaders: vec![Some(number)], messages: 2 });
        assert_eq!(elect(&[number], &[true], &[0]), Election { leaders: vec![None], messages: 0 });
    }
}
