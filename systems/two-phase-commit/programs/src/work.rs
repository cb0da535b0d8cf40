//! The worker's program: a connection and a log around [`Worker`].

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use simutant_programs::{Log, ProgramError, Sending, connect, read_lines};

use super::behaviour::Behaviour;
use super::message::{FromWorker, ToWorker, Votes};
use super::worker::{CommitWithoutVote, Record, Worker};

/// How long to wait before connecting again.
const RETRY: Duration = Duration::from_millis(10);

/// What a worker is to do.
#[derive(Debug, Clone)]
pub struct Work {
    /// Where the coordinator listens.
    pub coordinator: SocketAddr,
    /// Its number, from 1 on.
    pub number: usize,
    /// The file of the log.
    pub log: PathBuf,
    /// Whether the log survives a crash of the machine, and not of the program alone.
    pub is_synced: bool,
    /// Its votes on transactions.
    pub votes: Votes,
}

/// Prints `ready`, connects to the coordinator, again and again, and answers it.
///
/// # Errors
/// [`ProgramError`] if the log does not work, or the coordinator commits what this worker has not voted for. A coordinator
/// that is not there is no error.
pub fn work(work: &Work, behaviour: &'static dyn Behaviour) -> Result<(), ProgramError<CommitWithoutVote>> {
    let (mut log, lines) = Log::open(&work.log, work.is_synced)?;
    let records: Vec<Record> =
        lines.iter().map(|line| line.parse().map_err(|_| log.no_line(line))).collect::<Result<_, _>>()?;
    let mut worker = Worker::recover(work.votes.clone(), records, behaviour);
    let mut output = io::stdout();
    output.write_all(b"ready\n").and_then(|()| output.flush()).map_err(ProgramError::Output)?;
    loop {
        if let Ok(stream) = connect(work.coordinator) {
            serve(&stream, work.number, &mut worker, &mut log)?;
        }
        thread::sleep(RETRY);
    }
}

/// Answers the coordinator until the connection breaks.
fn serve(
    stream: &TcpStream,
    number: usize,
    worker: &mut Worker,
    log: &mut Log,
) -> Result<(), ProgramError<CommitWithoutVote>> {
    let Ok(sending) = stream.set_nodelay(true).and_then(|()| stream.try_clone()) else { return Ok(()) };
    let mut sending = Sending::new(sending);
    sending.add(FromWorker::Worker(number));
    if sending.flush().is_err() {
        return Ok(());
    }
    let mut served = Ok(());
    read_lines(stream, |lines: Vec<ToWorker>| {
        served = answer(&lines, worker, log, &mut sending);
        served.is_ok() && sending.flush().is_ok()
    });
    served
}

/// Adds the answers to lines of the coordinator to what is sent, once the log has what they depend on.
fn answer(
    lines: &[ToWorker],
    worker: &mut Worker,
    log: &mut Log,
    sending: &mut Sending,
) -> Result<(), ProgramError<CommitWithoutVote>> {
    for &line in lines {
        let (record, answer) = worker.answer(line).map_err(ProgramError::Other)?;
        if let Some(record) = record {
            log.add(record);
        }
        sending.add(answer);
    }
    Ok(log.flush()?)
}
