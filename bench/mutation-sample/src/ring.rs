//! Leader election in a ring, by Chang and Roberts: a candidate passes those that are weaker.

use std::collections::VecDeque;

/// A message on its way to the process at an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    Candidate(u32),
    Elected(u32),
}

/// What an election came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Election {
    /// Whom each process takes for the leader; `None` if it crashed.
    pub leaders: Vec<Option<u32>>,
    /// How many messages were sent.
    pub messages: u64,
}

/// Returns the index of the first process after `index` that has not crashed.
pub fn successor(index: usize, crashed: &[bool]) -> usize {
    let mut next = (index + 1) % crashed.len();
    while crashed[next] && next != index {
        next = (next + 1) % crashed.len();
    }
    next
}

/// Elects the process with the greatest number; `initiators` are the indices of those that begin.
///
/// Numbers differ, and an initiator that has crashed does nothing.
pub fn elect(numbers: &[u32], crashed: &[bool], initiators: &[usize]) -> Election {
    let mut leaders = vec![None; numbers.len()];
    let mut takes_part = vec![false; numbers.len()];
    let mut on_their_way: VecDeque<(usize, Message)> = VecDeque::new();
    let mut messages = 0;
    for &index in initiators {
        if !crashed[index] && !takes_part[index] {
            takes_part[index] = true;
            on_their_way.push_back((successor(index, crashed), Message::Candidate(numbers[index])));
        }
    }
    while let Some((index, message)) = on_their_way.pop_front() {
        messages += 1;
        let own = numbers[index];
        let answer = match message {
            Message::Candidate(number) if number > own => {
                takes_part[index] = true;
                Some(message)
            }
            Message::Candidate(number) if number < own => {
                if takes_part[index] {
                    None
                } else {
                    takes_part[index] = true;
                    Some(Message::Candidate(own))
                }
            }
            Message::Candidate(_) => {
                leaders[index] = Some(own);
                Some(Message::Elected(own))
            }
            Message::Elected(number) if number == own => None,
            Message::Elected(number) => {
                leaders[index] = Some(number);
                takes_part[index] = false;
                Some(message)
            }
        };
        if let Some(answer) = answer {
            on_their_way.push_back((successor(index, crashed), answer));
        }
    }
    Election { leaders, messages }
}
