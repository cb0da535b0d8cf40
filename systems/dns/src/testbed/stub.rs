//! A stub: asks the resolver one thing after the other, at the times of the test case, and again if there is no answer.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::TestCase;
use domain::base::Message;

use super::message::{self, Query, Response, Unreadable};
use simutant_harness::is_shortage;

/// How long a stub waits before it asks once more: what is usual (resolv.conf(5)).
const TRY_PATIENCE: Duration = Duration::from_secs(5);

/// How long it pauses after it heard that the resolver could not find out.
const PAUSE: Duration = Duration::from_secs(1);

/// How long it goes on asking.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// How often to look whether the run is over.
const INTERVAL: Duration = Duration::from_millis(50);

/// The response code that says that the resolver could not find out.
const SERVER_FAILURE: u8 = 2;

/// What came of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// The response, `None` if none came but that the resolver could not find out.
    pub(super) response: Option<Result<Response, Unreadable>>,
    /// How often it was asked.
    pub(super) tries: u32,
    /// How often the resolver said that it could not find out.
    pub(super) refusals: u32,
    /// When it was asked first.
    pub(super) asked: Instant,
    /// When it was asked first after it said last that it could not find out: since then one question has been open.
    pub(super) open_since: Instant,
    /// When it was asked last.
    pub(super) tried: Instant,
    /// When it had the response, or gave up.
    pub(super) ended: Instant,
    /// The number of the error if the system had no socket for a try.
    pub(super) shortage: Option<i32>,
}

/// When to begin and to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments<'a> {
    pub(super) start: Instant,
    pub(super) deadline: Instant,
    pub(super) is_cut: &'a AtomicBool,
}

impl Reply {
    pub(super) fn new(start: Instant) -> Self {
        let (asked, open_since, tried, ended) = (start, start, start, start);
        Self { response: None, tries: 0, refusals: 0, asked, open_since, tried, ended, shortage: None }
    }

    /// Returns how long it took from the first try to the end.
    pub(super) fn waited(&self) -> Duration {
        self.ended.saturating_duration_since(self.asked)
    }
}

impl Moments<'_> {
    fn is_over(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Waits until `moment`, or until the run is over.
    fn sleep_until(&self, moment: Instant) {
        while !self.is_over() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(INTERVAL));
        }
    }
}

/// Asks all that one stub has to ask; returns whether it finished.
pub(super) fn run(
    case: &TestCase,
    stub: u8,
    resolver: SocketAddr,
    moments: &Moments<'_>,
    replies: &Mutex<Vec<Option<Reply>>>,
) -> bool {
    for (number, query) in case.queries.iter().enumerate().filter(|(_, query)| query.stub == stub) {
        moments.sleep_until(moments.start + Duration::from_millis(query.start_ms));
        // What is not easily guessed is of no use among friends.
        let question = message::query(number as u16 + 1, &query.question());
        let reply = ask(&question, resolver, moments);
        if moments.is_over() && reply.response.is_none() {
            return false;
        }
        replies.lock().expect("stubs have no way to panic")[number] = Some(reply);
    }
    true
}

fn ask(query: &Query, resolver: SocketAddr, moments: &Moments<'_>) -> Reply {
    let start = Instant::now();
    let mut reply = Reply::new(start);
    let mut is_new = true;
    while start.elapsed() < PATIENCE && !moments.is_over() {
        reply.tries += 1;
        reply.tried = Instant::now();
        if std::mem::take(&mut is_new) {
            reply.open_since = reply.tried;
        }
        match exchange(query, resolver, moments) {
            Ok(Some(Ok(Response { rcode: SERVER_FAILURE, .. }))) => {
                reply.refusals += 1;
                is_new = true;
                moments.sleep_until(Instant::now() + PAUSE);
            }
            Ok(Some(response)) => {
                reply.response = Some(response);
                break;
            }
            Err(error) if is_shortage(&error) => {
                reply.shortage = error.raw_os_error();
                break;
            }
            // Nobody listens yet, or any more; or the stream was closed.
            Ok(None) | Err(_) => moments.sleep_until(reply.tried + PAUSE),
        }
    }
    reply.ended = Instant::now();
    reply
}

/// Sends a query as a datagram, and returns the response, `None` if none comes in time. One that is truncated is asked
/// for again by a stream.
fn exchange(
    query: &Query,
    resolver: SocketAddr,
    moments: &Moments<'_>,
) -> io::Result<Option<Result<Response, Unreadable>>> {
    let socket = UdpSocket::bind((IpAddr::from(Ipv4Addr::LOCALHOST), 0))?;
    socket.connect(resolver)?;
    socket.set_read_timeout(Some(INTERVAL))?;
    socket.send(query.as_slice())?;
    let deadline = Instant::now() + TRY_PATIENCE;
    let mut buffer = vec![0; 65_535];
    while Instant::now() < deadline && !moments.is_over() {
        let length = match socket.recv(&mut buffer) {
            Ok(length) => length,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => continue,
            Err(error) => return Err(error),
        };
        let Ok(message) = Message::from_slice(&buffer[..length]) else {
            return Ok(Some(Err(Unreadable("less than the header of a message".into()))));
        };
        if message.header().tc() {
            return exchange_by_stream(query, resolver);
        }
        return Ok(Some(response_to(query, message)));
    }
    Ok(None)
}

fn exchange_by_stream(query: &Query, resolver: SocketAddr) -> io::Result<Option<Result<Response, Unreadable>>> {
    let mut stream = TcpStream::connect_timeout(&resolver, TRY_PATIENCE)?;
    stream.set_read_timeout(Some(TRY_PATIENCE))?;
    stream.write_all(&(query.as_slice().len() as u16).to_be_bytes())?;
    stream.write_all(query.as_slice())?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut buffer = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut buffer)?;
    Ok(Some(match Message::from_slice(&buffer) {
        Ok(message) => response_to(query, message),
        Err(_) => Err(Unreadable("less than the header of a message".into())),
    }))
}

fn response_to(query: &Query, message: &Message<[u8]>) -> Result<Response, Unreadable> {
    // Some servers answer a failure without the question.
    let is_bare_failure = message.header().rcode().to_int() == SERVER_FAILURE
        && message.header().id() == query.header().id()
        && message.header_counts().qdcount() == 0;
    if !message.is_answer(query) && !is_bare_failure {
        return Err(Unreadable("a message that does not answer the question".into()));
    }
    message::read(message)
}

#[cfg(test)]
mod tests {
    use crate::{Question, RecordType};

    use super::*;

    #[test]
    fn a_refusal_ends_what_is_open() {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        server.set_read_timeout(Some(PATIENCE)).expect("it is not 0");
        let resolver = server.local_addr().expect("a bound socket has an address");
        let question = Question { name: ".".parse().expect("it is a name"), record_type: RecordType::Soa };
        let query = message::query(7, &question);
        let moments = |is_cut| Moments { start: Instant::now(), deadline: Instant::now() + PATIENCE, is_cut };
        let is_cut = AtomicBool::new(false);
        let reply = std::thread::scope(|scope| {
            let asked = scope.spawn(|| ask(&query, resolver, &moments(&is_cut)));
            for code in [SERVER_FAILURE, 0] {
                let mut buffer = [0; 512];
                let (length, client) = server.recv_from(&mut buffer).expect("it is asked");
                // A response (RFC 1035, section 4.1.1) with nothing but the question.
                buffer[2] |= 0x80;
                buffer[3] = code;
                server.send_to(&buffer[..length], client).expect("loopback accepts");
            }
            asked.join().expect("a stub has no way to panic")
        });
        assert_eq!((reply.tries, reply.refusals), (2, 1));
        assert!(matches!(&reply.response, Some(Ok(response)) if response.rcode == 0), "{reply:?}");
        assert!(reply.waited() >= PAUSE, "{reply:?}");
        assert!(reply.asked + PAUSE <= reply.open_since && reply.open_since == reply.tried, "{reply:?}");
    }
}
