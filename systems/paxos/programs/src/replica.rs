//! The replica's program: connections and threads around [`Desk`] and [`Proposer`].

use std::ffi::OsString;
use std::fmt::{Display, Formatter};
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use simutant_programs::quorum::{CallError, Configuration, Numbered, majority};
use simutant_programs::{
    Addresses, Damaged, Log, LogError, ProgramError, Sending, monotonic_nanos, read_checked_lines,
};

use super::acceptor::Acceptor;
use super::behaviour::Behaviour;
use super::desk::{Desk, Turn, lock};
use super::detector::Detector;
use super::message::{Entry, Number, Reply, Request};
use super::proposer::{Later, Proposer};

/// How long a phase of a leader may take, and at most how long it waits after it was refused.
const PHASE: Duration = Duration::from_millis(500);

/// How long a detector waits for one answer before it asks again. An answer that is late says that the time for suspicion was
/// too short, so this is much longer.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a connection may take nothing before it is given up.
const STALL: Duration = Duration::from_millis(100);

/// How long to wait when the system has no connection to give.
const SHORTAGE: Duration = Duration::from_millis(10);

/// What a replica is to do.
#[derive(Debug, Clone)]
pub struct Service {
    /// Where clients and replicas connect; port 0 stands for any that is free.
    pub listen: SocketAddr,
    /// Its number among the replicas, from 0 on.
    pub number: Number,
    /// Where it reaches all replicas, and itself.
    pub replicas: Addresses,
    /// How many values they decide on.
    pub decrees: NonZeroUsize,
    /// The file of the log.
    pub log: PathBuf,
    /// The file that says what it has learned; that of the log with `.learned` if there is none.
    pub learned: Option<PathBuf>,
}

/// No replica has this number, from 0 on.
#[derive(Debug)]
pub struct NoSuchReplica {
    /// The number.
    pub number: Number,
    /// How many replicas there are.
    pub replicas: usize,
}

impl std::error::Error for NoSuchReplica {}

impl Display for NoSuchReplica {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} replicas have no number {}", self.replicas, self.number)
    }
}

/// Prints its address and `ready`, and takes part until something fails.
///
/// # Errors
/// [`ProgramError`] if the number is none of a replica, or the logs, the address or standard output do not work. What clients
/// and other replicas do is no error.
pub fn serve(service: &Service, behaviour: &'static dyn Behaviour) -> Result<(), ProgramError<NoSuchReplica>> {
    let Addresses(replicas) = &service.replicas;
    if service.number >= replicas.len() {
        return Err(ProgramError::Other(NoSuchReplica { number: service.number, replicas: replicas.len() }));
    }
    let listener = TcpListener::bind(service.listen).map_err(ProgramError::Socket)?;
    let address = listener.local_addr().map_err(ProgramError::Socket)?;
    let (log, lines) = Log::open(&service.log, false)?;
    let sibling = || OsString::from_iter([service.log.as_os_str(), ".learned".as_ref()]).into();
    let (learned, _) = Log::open(&service.learned.clone().unwrap_or_else(sibling), false)?;
    let (mut acceptor, mut round) = (Acceptor::new(service.decrees.get()), 0);
    for line in &lines {
        let entry: Entry = line.parse().map_err(|_| log.no_line(line))?;
        acceptor.apply(entry);
        round = if let Entry::Round(round) = entry { round } else { round };
    }
    let proposer = Proposer::recover(service.number, replicas.len(), round);
    let desk = Desk::open(acceptor, Detector::new(service.number, replicas.len()), log, learned)?;
    let (sender, failures) = channel();
    let replicas = replicas.clone();
    let replica = Replica { replicas, behaviour, desk: Mutex::new(desk), changed: Condvar::new(), failures: sender };
    Arc::new(replica).start(service.number, listener, proposer);
    let mut output = io::stdout();
    write!(output, "{address}\nready\n").and_then(|()| output.flush()).map_err(ProgramError::Output)?;
    failures.recv().map_or(Ok(()), |error| Err(error.into()))
}

/// What all threads of a replica share.
#[derive(Debug)]
struct Replica {
    replicas: Vec<SocketAddr>,
    behaviour: &'static dyn Behaviour,
    desk: Mutex<Desk>,
    /// Somebody may lead now, or need not any more.
    changed: Condvar,
    failures: Sender<LogError>,
}

/// Why a leader did not finish its phases.
#[derive(Debug)]
enum PhaseError {
    /// An acceptor has promised a later round to another leader.
    Later,
    /// Too few have answered.
    Silence,
    /// The log does not work.
    Log(LogError),
}

impl From<Later> for PhaseError {
    fn from(_: Later) -> Self {
        Self::Later
    }
}

impl From<CallError> for PhaseError {
    fn from(_: CallError) -> Self {
        Self::Silence
    }
}

impl From<LogError> for PhaseError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl Replica {
    /// Starts all threads.
    fn start(self: Arc<Self>, number: Number, listener: TcpListener, proposer: Proposer) {
        self.spawn(move |replica| replica.accept(&listener));
        self.spawn(move |replica| replica.detect(number));
        self.spawn(move |replica| replica.propose(proposer));
    }

    /// Starts a thread whose failure is that of the replica.
    fn spawn(self: &Arc<Self>, work: impl FnOnce(&Arc<Self>) -> Result<(), LogError> + Send + 'static) {
        let replica = Arc::clone(self);
        thread::spawn(move || work(&replica).or_else(|error| replica.failures.send(error)));
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().expect("nobody panics who has it")
    }

    /// Accepts connections, and answers each on a thread of its own.
    fn accept(self: &Arc<Self>, listener: &TcpListener) -> Result<(), LogError> {
        for stream in listener.incoming() {
            match stream {
                Ok(stream) => self.spawn(move |replica| replica.attend(&stream)),
                Err(_) => thread::sleep(SHORTAGE),
            }
        }
        Ok(())
    }

    /// Answers a connection until it breaks, or says what nobody says to a replica.
    fn attend(&self, stream: &TcpStream) -> Result<(), LogError> {
        let prepared = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(STALL)));
        let Ok(sending) = prepared.and_then(|()| stream.try_clone()) else { return Ok(()) };
        let sending = Arc::new(Mutex::new(Sending::checked(sending)));
        let mut answered = Ok(());
        read_checked_lines(stream, Damaged::Refused, |lines: Vec<Numbered<Request>>| {
            let mut desk = self.desk();
            answered = lines.into_iter().try_for_each(|line| desk.answer(line, &sending, self.behaviour));
            drop(desk);
            self.changed.notify_all();
            answered.is_ok() && lock(&sending).flush().is_ok()
        });
        // Who waits on this connection asks again on another one. The connection closes with the last that holds it.
        self.desk().clients.retain(|client| !Arc::ptr_eq(&client.sending, &sending));
        answered
    }

    /// Asks all others, again and again, whether they are there, until this replica knows all decrees: who knows the next one
    /// says so.
    fn detect(self: &Arc<Self>, number: Number) -> Result<(), LogError> {
        let others = (0..self.replicas.len()).filter(|other| *other != number);
        let periods: Vec<SyncSender<()>> = others.map(|other| self.ask(other)).collect();
        let mut desk = self.desk();
        while !desk.acceptor.is_full() {
            let detects = self.behaviour.detects(desk.detector.leads());
            if detects {
                // Who has not answered yet is asked again once it has.
                periods.iter().for_each(|period| _ = period.try_send(()));
            }
            let delay = desk.detector.delay;
            let unknown = |desk: &mut Desk| !desk.acceptor.is_full();
            (desk, _) = self.changed.wait_timeout_while(desk, delay, unknown).expect("nobody panics who has it");
            if detects && desk.detector.end_period(self.behaviour) {
                if !self.behaviour.keeps_clients() {
                    desk.clients.clear();
                }
                self.changed.notify_all();
            }
        }
        Ok(())
    }

    /// Starts a thread that asks another replica whether it is there, in each period that it is told of.
    fn ask(self: &Arc<Self>, other: Number) -> SyncSender<()> {
        let (sender, periods) = sync_channel(1);
        self.spawn(move |replica| replica.ping(other, &periods));
        sender
    }

    fn ping(&self, other: Number, periods: &Receiver<()>) -> Result<(), LogError> {
        let mut configuration = Configuration::open(&self.replicas[other..=other]);
        let alive = |replies: &[Reply]| if let [Reply::Alive(decided)] = replies { Some(*decided) } else { None };
        for () in periods {
            let decree = self.desk().acceptor.decree();
            let request = Request::Ping(decree).to_string();
            let Ok(decided) = configuration.call(&request, Instant::now() + ANSWER, alive) else { continue };
            let mut desk = self.desk();
            desk.detector.answered(other);
            if let Some(value) = decided {
                desk.learn(decree, value, self.behaviour)?;
                self.changed.notify_all();
            }
        }
        Ok(())
    }

    /// Leads while this replica is the leader and has something to propose, until it knows all decrees.
    fn propose(&self, mut proposer: Proposer) -> Result<(), LogError> {
        let mut acceptors = Configuration::open(&self.replicas);
        let mut resumes = self.behaviour.resumes() && proposer.round() > 0;
        // Enough have promised the round, and nothing has failed since.
        let mut is_prepared = resumes;
        loop {
            let mut turn = None;
            let has_no_turn = |desk: &mut Desk| {
                is_prepared &= resumes || desk.detector.leads();
                turn = desk.turn(&proposer, is_prepared, resumes, self.behaviour);
                turn.is_none()
            };
            drop(self.changed.wait_while(self.desk(), has_no_turn).expect("nobody panics who has it"));
            resumes = false;
            let led = self.lead(&mut acceptors, &mut proposer, is_prepared, turn.expect("it was waited for"));
            is_prepared = led.is_ok();
            match led {
                Err(PhaseError::Log(error)) => return Err(error),
                // Two that lead at a time do not hinder each other for ever. The clock is as good as a die here.
                Err(PhaseError::Later) => {
                    let nanos = monotonic_nanos() % u64::try_from(PHASE.as_nanos()).expect("half a second");
                    thread::sleep(Duration::from_nanos(nanos));
                }
                Ok(()) | Err(PhaseError::Silence) => {}
            }
        }
    }

    /// Goes through the phases of a decree: the first one of a round, unless enough have promised it, and the others.
    fn lead(
        &self,
        acceptors: &mut Configuration,
        proposer: &mut Proposer,
        is_prepared: bool,
        Turn { decree, own }: Turn,
    ) -> Result<(), PhaseError> {
        let behaviour = self.behaviour;
        let deadline = || Instant::now() + PHASE;
        if !is_prepared {
            let mut desk = self.desk();
            let round = proposer.begin(desk.acceptor.promised(), behaviour);
            desk.write(Entry::Round(round), behaviour)?;
            drop(desk);
            let promised = |replies: &[Reply]| proposer.promised(replies, behaviour);
            acceptors.call(&Request::Prepare(round).to_string(), deadline(), promised)??;
        }
        let Some(vote) = proposer.vote(decree, own, behaviour) else { return Ok(()) };
        let accepted = |replies: &[Reply]| proposer.accepted(replies, behaviour);
        acceptors.call(&Request::Accept(vote).to_string(), deadline(), accepted)??;
        self.desk().learn(vote.decree, vote.value, behaviour)?;
        self.changed.notify_all();
        let enough = majority(self.replicas.len());
        let committed = |replies: &[Reply]| (replies.len() >= enough).then_some(());
        Ok(acceptors.call(&Request::Commit(vote.decree, vote.value).to_string(), deadline(), committed)?)
    }
}
