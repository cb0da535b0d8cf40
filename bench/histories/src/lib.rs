//! Histories as clients of ZooKeeper see them, made by a simulation of one server.

use simutant_oracle::specifications::Text;
use simutant_oracle::{Call, End, History, Mode, Moment, Open, Session, Specification, Time};
use simutant_random::Random;
use simutant_zookeeper_histories::{Access, CreateMode, Operation, Permissions, Response, Who, ZooKeeper};

/// What clients ask of ZooKeeper and are answered.
pub type ZooKeeperHistory = History<Operation, Response>;

/// The nodes that clients know, children after their parents.
const PATHS: [&str; 5] = ["/a", "/a/b", "/a/c", "/d", "/d/e"];

/// Returns a history of `sessions` clients with `calls` calls each, as the tests of Banzai (2018, 2.3) make them: one
/// client acts at a time; a synchronous call lets nobody act until it is answered, an asynchronous one is answered later.
/// The server takes the calls of a session in their order, and those of several sessions in any.
pub fn history(sessions: u64, calls: u64, seed: u64) -> ZooKeeperHistory {
    let mut run = Run {
        random: Random::from_seed(seed),
        time: 0,
        tree: ZooKeeper::default(),
        calls: Vec::new(),
        waiting: vec![Vec::new(); sessions as usize],
    };
    let mut left = vec![calls; sessions as usize];
    while let Some(session) = run.one_of((0..left.len()).filter(|&session| left[session] > 0)) {
        left[session] -= 1;
        run.invoke(session);
    }
    while run.answer_any() {}
    History::from_calls(run.calls).expect("calls are answered after they are made")
}

struct Run {
    random: Random,
    time: u64,
    tree: ZooKeeper,
    calls: Vec<Call<Operation, Response>>,
    /// By session, the calls that the server has not taken yet, as places in `calls`.
    waiting: Vec<Vec<usize>>,
}

impl Run {
    fn one_of(&mut self, options: impl Iterator<Item = usize>) -> Option<usize> {
        let options: Vec<usize> = options.collect();
        let last = options.len().checked_sub(1)?;
        Some(options[self.random.uniform(0..=last as u64) as usize])
    }

    fn moment(&mut self) -> Moment {
        self.time += 1;
        Moment { time: Time::from_nanos(self.time), event: None }
    }

    fn invoke(&mut self, session: usize) {
        let is_synchronous = self.random.uniform(0..=1_u64) == 0;
        let mode = if is_synchronous { Mode::Synchronous } else { Mode::Asynchronous };
        let (operation, invoked) = (self.operation(Session(session as u64)), self.moment());
        let call = Call { mode, ..Call::new(Session(session as u64), operation, invoked, End::Unknown) };
        self.waiting[session].push(self.calls.len());
        self.calls.push(call);
        while is_synchronous && !self.waiting[session].is_empty() {
            // The server is as likely to be busy with others.
            if self.random.uniform(0..=1_u64) == 0 {
                self.answer(session)
            } else {
                self.answer_any();
            }
        }
    }

    /// Answers the first call of a session that has one waiting, and returns whether there is one.
    fn answer_any(&mut self) -> bool {
        let waiting: Vec<usize> =
            (0..self.waiting.len()).filter(|&session| !self.waiting[session].is_empty()).collect();
        let session = self.one_of(waiting.into_iter());
        session.into_iter().for_each(|session| self.answer(session));
        session.is_some()
    }

    fn answer(&mut self, session: usize) {
        let place = self.waiting[session].remove(0);
        let at = self.moment();
        let call = &mut self.calls[place];
        let response = self.tree.step(call.session, &call.operation, &mut Open::first());
        call.end = End::Returned { at, response };
    }

    fn operation(&mut self, session: Session) -> Operation {
        let mut below = |end: u64| self.random.uniform(0..=end - 1);
        let path: Text = PATHS[below(PATHS.len() as u64) as usize].into();
        let data = |number: u64| (number > 0).then(|| Text::from(["x", "y"][number as usize - 1]));
        match below(8) {
            0 => Operation::Create { path, data: data(below(3)), mode: CreateMode::Persistent },
            1 => Operation::Delete { path, version: None },
            2 => Operation::Exists { path },
            3 => Operation::GetChildren { path },
            4 => Operation::GetData { path },
            5 => Operation::SetData { path, data: data(below(3)), version: None },
            6 => Operation::GetAcl { path },
            _ => {
                let who = if below(2) == 0 { Who::Anyone } else { Who::Session(session) };
                Operation::SetAcl {
                    path,
                    acl: vec![Access { who, permissions: Permissions(below(32) as u8) }],
                    version: None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use simutant_oracle::{Check, Order};

    use super::*;

    #[test]
    fn histories_have_all_calls_and_are_possible() {
        for seed in 0..50 {
            let history = history(4, 5, seed);
            assert_eq!(history.calls().len(), 20);
            assert!(history.calls().iter().all(|call| call.end.response().is_some()));
            let check = Check { order: Order::ordered_sequential(), ..Check::default() };
            assert!(check.run(&history, &ZooKeeper::default()).is_possible(), "seed {seed}");
        }
    }
}
