//! What the threads of a replica share, one at a time: what it knows, its logs, and the clients that wait.

use std::sync::{Arc, Mutex, MutexGuard};

use simutant_programs::quorum::Numbered;
use simutant_programs::{Log, LogError, Sending, monotonic_nanos};

use super::acceptor::Acceptor;
use super::behaviour::Behaviour;
use super::detector::Detector;
use super::message::{Decree, Entry, Request, Value};
use super::proposer::Proposer;

/// What one thread at a time has. None sends an answer before the log has what the answer depends on, also where another
/// thread wrote it.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) acceptor: Acceptor,
    pub(crate) detector: Detector,
    log: Log,
    learned: Log,
    /// How many decrees the file of what was learned has since the start.
    reported: usize,
    /// What clients have proposed and is not decided, in the order in which it came.
    proposed: Vec<Value>,
    /// Who waits for a decision.
    pub(crate) clients: Vec<Client>,
    /// How many requests of clients have come.
    requests: usize,
}

/// What a leader is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The first decree that it does not know.
    pub(crate) decree: Decree,
    /// What a client has proposed.
    pub(crate) own: Option<Value>,
}

/// A client's call that has no answer.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) sending: Arc<Mutex<Sending>>,
    call: u64,
    value: Value,
}

impl Desk {
    /// Returns what a replica begins with, and says what it has learned before.
    ///
    /// # Errors
    /// [`LogError`] if that cannot be written.
    pub(crate) fn open(acceptor: Acceptor, detector: Detector, log: Log, learned: Log) -> Result<Self, LogError> {
        let (proposed, clients) = (Vec::new(), Vec::new());
        let mut desk = Self { acceptor, detector, log, learned, reported: 0, proposed, clients, requests: 0 };
        desk.report()?;
        Ok(desk)
    }

    /// Adds the answer to a line, once the log has what it depends on.
    ///
    /// # Errors
    /// [`LogError`] if the logs cannot be written.
    pub(crate) fn answer(
        &mut self,
        line: Numbered<Request>,
        sending: &Arc<Mutex<Sending>>,
        behaviour: &dyn Behaviour,
    ) -> Result<(), LogError> {
        let Numbered { call, content: request } = line;
        if let Request::Propose(value) = request {
            self.requests += 1;
            if !behaviour.takes_request(self.requests - 1) {
                return Ok(());
            }
            if !self.proposed.contains(&value) && !self.acceptor.knows(value) {
                self.proposed.push(value);
            }
        }
        let (entry, reply) = self.acceptor.answer(request, behaviour);
        entry.map_or(Ok(()), |entry| self.write(entry, behaviour))?;
        match (reply, request) {
            (Some(reply), _) => lock(sending).add(Numbered { call, content: reply }),
            (None, Request::Propose(value)) => {
                self.clients.push(Client { sending: Arc::clone(sending), call, value });
            }
            (None, _) => {}
        }
        Ok(())
    }

    /// Notes what a decree is.
    ///
    /// # Errors
    /// [`LogError`] if the logs cannot be written.
    pub(crate) fn learn(&mut self, decree: Decree, value: Value, behaviour: &dyn Behaviour) -> Result<(), LogError> {
        let (entry, _) = self.acceptor.answer(Request::Commit(decree, value), behaviour);
        entry.map_or(Ok(()), |entry| self.write(entry, behaviour))
    }

    /// Writes to the log, and tells who waits if it is a decision.
    ///
    /// # Errors
    /// [`LogError`] if the logs cannot be written.
    pub(crate) fn write(&mut self, entry: Entry, behaviour: &dyn Behaviour) -> Result<(), LogError> {
        self.log.add(entry);
        if matches!(entry, Entry::Promise(_) | Entry::Vote(_)) && !behaviour.writes_first() {
            return Ok(());
        }
        self.log.flush()?;
        let Entry::Decided(decree, value) = entry else { return Ok(()) };
        if behaviour.crosses_off(self.detector.leads()) {
            self.proposed.retain(|proposed| *proposed != value);
        }
        // Where a decree was another value before, that is for the reader to see.
        self.reported = self.reported.min(decree.saturating_sub(1));
        self.report()
    }

    /// Says what is decided, as far as it is known: in the file of what was learned, and to the clients that wait for it.
    fn report(&mut self) -> Result<(), LogError> {
        let log = self.acceptor.log();
        for (place, value) in log.iter().enumerate().skip(self.reported) {
            self.learned.add(format_args!("{} learn {} {value}", monotonic_nanos(), place + 1));
        }
        self.reported = log.len();
        self.learned.flush()?;
        self.clients.retain(|Client { sending, call, value }| {
            let Some(reply) = self.acceptor.answer_to_client(*value) else { return true };
            let mut sending = lock(sending);
            sending.add(Numbered { call: *call, content: reply });
            // Who is not there any more asks again when it is.
            _ = sending.flush();
            false
        });
        Ok(())
    }

    /// Returns what this replica is to do as a leader, if it is one and has something to propose: a client's value or, if enough
    /// have promised its round, what they have accepted. One that `resumes` does not look whether it leads.
    pub(crate) fn turn(
        &self,
        proposer: &Proposer,
        is_prepared: bool,
        resumes: bool,
        behaviour: &dyn Behaviour,
    ) -> Option<Turn> {
        let (decree, own) = (self.acceptor.decree(), self.proposed.first().copied());
        let leads = resumes || self.detector.leads() && !self.acceptor.is_full();
        let has_value = own.is_some() || is_prepared && proposer.vote(decree, None, behaviour).is_some();
        (leads && has_value).then_some(Turn { decree, own })
    }
}

/// Returns the connection, which no other thread uses then.
pub(crate) fn lock(sending: &Mutex<Sending>) -> MutexGuard<'_, Sending> {
    sending.lock().expect("nobody panics who has it")
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::super::behaviour::Correct;
    use super::super::faults;
    use super::*;

    #[test]
    fn a_value_that_is_decided_is_reported_and_not_proposed_again_but_with_a_fault() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let connect = || TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        for (behaviour, expect) in [(&Correct as &dyn Behaviour, 8), (faults::find("repeats-values"), 7)] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let open = |name: &str| Log::open(&folder.path().join(name), false).expect("a new file").0;
            let (acceptor, detector) = (Acceptor::new(2), Detector::new(1, 3));
            let mut desk = Desk::open(acceptor, detector, open("log"), open("learned")).expect("room");
            let sending = Arc::new(Mutex::new(Sending::new(connect())));
            for content in ["propose 7", "commit 1 7", "propose 7", "propose 8"] {
                let line = Numbered { call: 1, content: content.parse().expect("a request") };
                desk.answer(line, &sending, behaviour).expect("room");
            }
            let turn = desk.turn(&Proposer::recover(1, 3, 0), false, true, behaviour);
            assert_eq!(turn, Some(Turn { decree: 2, own: Some(expect) }));
            desk.learn(1, 9, behaviour).expect("room");
            let learned = std::fs::read_to_string(folder.path().join("learned")).expect("it was made");
            assert!(learned.contains("learn 1 7\n") && learned.ends_with("learn 1 9\n"), "{learned}");
        }
    }
}
