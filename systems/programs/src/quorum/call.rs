//! What has come of a call, free of sockets and clocks.

/// The replies to a call so far.
#[derive(Debug)]
pub(super) struct Call<R> {
    has_answered: Vec<bool>,
    replies: Vec<R>,
}

/// What a reply makes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress<T> {
    /// The replies are enough.
    Quorum(T),
    /// More may come.
    Waiting,
    /// All servers have answered, and it is not enough.
    Impossible,
}

impl<R> Call<R> {
    /// Returns the call of so many servers, none of which has answered.
    pub(super) fn of(servers: usize) -> Self {
        Self { has_answered: vec![false; servers], replies: Vec::new() }
    }

    /// Notes the reply of a server, and returns what the quorum function makes of all. A second reply of a server,
    /// which was sent the request twice, changes nothing.
    pub(super) fn take<T>(
        &mut self,
        server: usize,
        reply: R,
        quorum_function: impl FnOnce(&[R]) -> Option<T>,
    ) -> Progress<T> {
        if std::mem::replace(&mut self.has_answered[server], true) {
            return Progress::Waiting;
        }
        self.replies.push(reply);
        match quorum_function(&self.replies) {
            Some(quorum) => Progress::Quorum(quorum),
            None if self.replies.len() == self.has_answered.len() => Progress::Impossible,
            None => Progress::Waiting,
        }
    }

    /// Returns how many servers have answered.
    pub(super) fn replies(&self) -> usize {
        self.replies.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::majority;
    use super::*;

    /// Returns all orders in which some of so many servers, or all, answer.
    fn orders(servers: usize) -> Vec<Vec<usize>> {
        let mut orders = vec![Vec::new()];
        for length in 0..servers {
            let shorter = orders.iter().filter(|order: &&Vec<usize>| order.len() == length);
            let longer = shorter.flat_map(|order| {
                let others = (0..servers).filter(|server| !order.contains(server));
                others.map(|server| [&order[..], &[server]].concat()).collect::<Vec<_>>()
            });
            orders.extend(longer.collect::<Vec<_>>());
        }
        orders
    }

    #[test]
    fn the_function_gets_each_reply_once_in_the_order_of_arrival() {
        for (servers, count) in [(1, 2), (2, 5), (3, 16), (4, 65), (5, 326)] {
            let orders = orders(servers);
            assert_eq!(orders.len(), count);
            for order in orders {
                let mut call = Call::of(servers);
                for (place, &server) in order.iter().enumerate() {
                    let seen = |replies: &[usize]| {
                        assert_eq!(replies, &order[..=place]);
                        (replies.len() >= majority(servers)).then(|| replies.to_vec())
                    };
                    let expect = match place + 1 < majority(servers) {
                        true => Progress::Waiting,
                        false => Progress::Quorum(order[..=place].to_vec()),
                    };
                    assert_eq!(call.take(server, server, seen), expect, "{order:?}");
                    let again = call.take(server, server, |_| -> Option<Vec<usize>> { panic!("it has answered") });
                    assert_eq!(again, Progress::Waiting);
                }
                assert_eq!(call.replies(), order.len());
            }
        }
    }

    #[test]
    fn a_call_is_impossible_when_all_have_answered_and_no_sooner() {
        for servers in 1..=5 {
            for order in orders(servers).iter().filter(|order| order.len() == servers) {
                for noes in 0..1 << servers {
                    let says_yes = |server: usize| noes >> server & 1 == 0;
                    let mut call = Call::of(servers);
                    let mut yes = 0;
                    for (place, &server) in order.iter().enumerate() {
                        yes += usize::from(says_yes(server));
                        let enough = |replies: &[bool]| {
                            (replies.iter().filter(|yes| **yes).count() >= majority(servers)).then_some(())
                        };
                        let expect = match (yes >= majority(servers), place + 1 == servers) {
                            (true, _) => Progress::Quorum(()),
                            (false, true) => Progress::Impossible,
                            (false, false) => Progress::Waiting,
                        };
                        assert_eq!(call.take(server, says_yes(server), enough), expect, "{order:?} {noes:b}");
                    }
                }
            }
        }
    }

    #[test]
    fn two_majorities_have_a_server_in_common() {
        let majorities: Vec<usize> = (1..=5).map(majority).collect();
        assert_eq!(majorities, [1, 2, 2, 3, 3]);
        assert!((1..100).all(|servers| 2 * majority(servers) > servers && 2 * (majority(servers) - 1) <= servers));
    }
}
