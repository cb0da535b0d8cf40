//! Quorum calls: a request goes to all servers of a group, and enough replies make one.
//!
//! After Gorums (Lea, Jehl and Meling, *Towards New Abstractions for Implementing Quorum-Based Systems*, ICDCS 2017). A
//! [`Configuration`] is a group of servers. After each reply to a [`Configuration::call`] a *quorum function* gets the
//! replies so far; it returns the combined reply, or `None` to wait for more. The caller sees no single reply.
//!
//! A request is a line of words, and so is a reply. The second word is the number of the call ([`Numbered`]): a reply
//! repeats it, and one that comes late is known by it. Connections break and come again, and a request without an
//! answer is sent again, so a server may get it twice: requests must be idempotent. A line ends in its checksum
//! ([`Checked`](crate::Checked)): a connection with a damaged one is closed, and opened again.
//!
//! This departs from Gorums in two points. It is lines instead of gRPC, and no request of `nil`: there, one led to code
//! that was not ready for it, and the client crashed (Wang, *Model-based Software Testing for Distributed Systems and
//! Protocols*, 2020, 3.5). Here a request of no words is an error.

mod call;
mod link;
mod numbered;

use std::fmt::{Display, Formatter};
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use call::{Call, Progress};
use link::{Link, News, Report};
pub use numbered::Numbered;

use crate::Damaged;

/// A group of servers with a connection to each, which is opened again and again after it breaks.
///
/// # Examples
/// ```
/// use std::io::{BufRead, BufReader, Write};
/// use std::net::TcpListener;
/// use std::time::{Duration, Instant};
///
/// use simutant_programs::quorum::{Configuration, majority};
///
/// // A server that answers one question.
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let servers = [listener.local_addr()?];
/// std::thread::spawn(move || {
///     let (mut stream, _) = listener.accept().expect("somebody connects");
///     let mut line = String::new();
///     BufReader::new(&stream).read_line(&mut line).expect("a question");
///     assert_eq!(line, "double 1 21 9a0630e4\n");
///     stream.write_all(b"42 1 bdb8a58c\n").expect("the client is there");
/// });
///
/// let mut configuration = Configuration::open(&servers);
/// let deadline = Instant::now() + Duration::from_secs(10);
/// let largest = |replies: &[u64]| {
///     (replies.len() >= majority(servers.len())).then(|| replies.iter().copied().max())
/// };
/// assert_eq!(configuration.call("double 21", deadline, largest), Ok(Some(42)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Configuration {
    links: Vec<Arc<Link>>,
    reports: Receiver<Report>,
    /// How many calls there were.
    calls: u64,
}

/// Why a call has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallError {
    /// No quorum is possible any more: all servers have answered, or time is over. The servers may have done what they
    /// were asked for.
    Incomplete {
        /// How many servers have answered.
        replies: usize,
        /// How many there are.
        servers: usize,
    },
    /// The configuration has no server.
    EmptyConfiguration,
    /// The request is no line: it has no word, or a line break.
    NoRequest,
}

impl std::error::Error for CallError {}

impl Display for CallError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Incomplete { replies, servers } => {
                write!(formatter, "{replies} of {servers} servers answered, and that makes no quorum")
            }
            Self::EmptyConfiguration => formatter.write_str("the configuration has no server"),
            Self::NoRequest => formatter.write_str("the request is no line of words"),
        }
    }
}

/// Returns the smallest number of servers that is more than half of so many.
pub fn majority(servers: usize) -> usize {
    servers / 2 + 1
}

impl Configuration {
    /// Returns the group of these servers, and begins to connect to each. No server has to be there yet.
    pub fn open(servers: &[SocketAddr]) -> Self {
        Self::open_with(servers, Damaged::Refused)
    }

    /// Returns such a group, and says what becomes of damaged replies.
    pub fn open_with(servers: &[SocketAddr], damaged: Damaged) -> Self {
        let (sender, reports) = channel();
        let open = |(server, &address): (usize, _)| Link::open(server, address, sender.clone(), damaged);
        let links = servers.iter().enumerate().map(open).collect();
        Self { links, reports, calls: 0 }
    }

    /// Sends a request to all servers, and returns what `quorum_function` makes of their replies.
    ///
    /// The function gets the replies so far after each new one, in the order of their arrival and one of each server. A
    /// server that is not there is sent the request when it is, until the call ends. A reply that is no `R` is ignored.
    ///
    /// # Errors
    /// [`CallError::Incomplete`] at `deadline`, or when all have answered and the function still returns `None`;
    /// [`CallError::EmptyConfiguration`] and [`CallError::NoRequest`] at once.
    pub fn call<R: FromStr, T>(
        &mut self,
        request: &str,
        deadline: Instant,
        quorum_function: impl FnMut(&[R]) -> Option<T>,
    ) -> Result<T, CallError> {
        let read = |news| match news {
            News::Sent => None,
            News::Reply(text) => text.parse().ok(),
        };
        self.gather(request, deadline, read, quorum_function)
    }

    /// Sends a request to all servers, and returns when so many connections have taken it. Nobody knows whether the
    /// servers get it: one that crashes may not.
    ///
    /// # Errors
    /// As those of [`Configuration::call`].
    pub fn multicast(&mut self, request: &str, deadline: Instant, enough: usize) -> Result<(), CallError> {
        let read = |news| matches!(news, News::Sent).then_some(());
        self.gather(request, deadline, read, |sent| (sent.len() >= enough).then_some(()))
    }

    /// Sends a request to all servers, and returns what `quorum_function` makes of what `read` takes from the news.
    fn gather<R, T>(
        &mut self,
        request: &str,
        deadline: Instant,
        read: impl Fn(News) -> Option<R>,
        mut quorum_function: impl FnMut(&[R]) -> Option<T>,
    ) -> Result<T, CallError> {
        if self.links.is_empty() {
            return Err(CallError::EmptyConfiguration);
        }
        if request.trim().is_empty() || request.contains('\n') {
            return Err(CallError::NoRequest);
        }
        self.calls += 1;
        let line = Numbered { call: self.calls, content: request.to_owned() };
        self.links.iter().for_each(|link| link.request(line.clone()));
        let mut call = Call::of(self.links.len());
        let quorum = loop {
            let time = deadline.checked_duration_since(Instant::now());
            let Some(report) = time.and_then(|time| self.reports.recv_timeout(time).ok()) else { break None };
            if report.call != self.calls {
                continue;
            }
            let Some(reply) = read(report.news) else { continue };
            self.links[report.server].forget();
            match call.take(report.server, reply, &mut quorum_function) {
                Progress::Quorum(quorum) => break Some(quorum),
                Progress::Impossible => break None,
                Progress::Waiting => {}
            }
        };
        self.links.iter().for_each(|link| link.forget());
        quorum.ok_or(CallError::Incomplete { replies: call.replies(), servers: self.links.len() })
    }
}

impl Drop for Configuration {
    fn drop(&mut self) {
        self.links.iter().for_each(|link| link.close());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::Checked;

    /// Enough for what ends by itself, on a busy machine too.
    const LONG: Duration = Duration::from_secs(20);

    /// For what does not.
    const SHORT: Duration = Duration::from_millis(50);

    /// Starts a server. `answer` gets the number of the connection and a line, and returns what is sent back, or `None`
    /// to close the connection.
    fn serve(answer: impl Fn(usize, Numbered<String>) -> Option<String> + Send + 'static) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let mut stream = stream.expect("somebody connects");
                for line in BufReader::new(stream.try_clone().expect("a connection")).lines().map_while(Result::ok) {
                    let line = line.parse().ok().and_then(Checked::intact).expect("a line with a number");
                    let Some(text) = answer(connection, line) else { break };
                    _ = stream.write_all(text.as_bytes());
                }
            }
        });
        address
    }

    /// Returns all replies, once there are so many.
    fn of(count: usize) -> impl Fn(&[u64]) -> Option<Vec<u64>> {
        move |replies| (replies.len() >= count).then(|| replies.to_vec())
    }

    fn echo(_: usize, line: Numbered<String>) -> Option<String> {
        Some(checked(&format!("7 {}", line.call)))
    }

    /// Returns a line with its checksum.
    fn checked(line: &str) -> String {
        format!("{}\n", Checked::new(line))
    }

    #[test]
    fn what_is_empty_is_an_error_at_once() {
        let deadline = Instant::now() + LONG;
        assert_eq!(Configuration::open(&[]).call("ask", deadline, of(0)), Err(CallError::EmptyConfiguration));
        let mut configuration = Configuration::open(&[serve(echo)]);
        for request in ["", " ", "one\ntwo"] {
            assert_eq!(configuration.call(request, deadline, of(0)), Err(CallError::NoRequest), "{request:?}");
            assert_eq!(configuration.multicast(request, deadline, 0), Err(CallError::NoRequest), "{request:?}");
        }
        assert_eq!(configuration.call("ask", deadline, of(1)), Ok(vec![7]));
    }

    #[test]
    fn a_call_ends_when_all_have_answered_or_time_is_over() {
        let mut configuration = Configuration::open(&[serve(echo), serve(echo)]);
        let incomplete = CallError::Incomplete { replies: 2, servers: 2 };
        assert_eq!(configuration.call("ask", Instant::now() + LONG, of(3)), Err(incomplete));
        let mut configuration = Configuration::open(&[serve(|_, _| Some(String::new())), serve(echo)]);
        assert_eq!(configuration.call("ask", Instant::now() + LONG, of(1)), Ok(vec![7]));
        let incomplete = CallError::Incomplete { replies: 1, servers: 2 };
        assert_eq!(configuration.call("ask", Instant::now() + SHORT * 10, of(2)), Err(incomplete));
        assert_eq!(configuration.multicast("ask", Instant::now() + LONG, 2), Ok(()));
    }

    #[test]
    fn a_request_is_sent_again_when_the_connection_breaks() {
        let breaks = |connection, line| if connection < 2 { None } else { echo(connection, line) };
        let mut configuration = Configuration::open(&[serve(breaks)]);
        assert_eq!(configuration.call("ask", Instant::now() + LONG, of(1)), Ok(vec![7]));
    }

    #[test]
    fn a_request_is_sent_again_when_the_reply_is_damaged() {
        let damages = |connection, line| {
            let text = echo(connection, line)?;
            Some(if connection < 2 { text.replacen('7', "6", 1) } else { text })
        };
        let mut configuration = Configuration::open(&[serve(damages)]);
        assert_eq!(configuration.call("ask", Instant::now() + LONG, of(1)), Ok(vec![7]));
    }

    #[test]
    fn late_replies_second_ones_and_those_of_another_kind_are_ignored() {
        let late = |_, line: Numbered<String>| {
            Some(if line.call == 1 { String::new() } else { ["1 1", "x 2", "2 2", "3 2"].map(checked).concat() })
        };
        let mut configuration = Configuration::open(&[serve(late), serve(|_, _| Some(String::new()))]);
        assert!(configuration.call("ask", Instant::now() + SHORT, of(1)).is_err());
        assert_eq!(configuration.call("ask", Instant::now() + LONG, of(1)), Ok(vec![2]));
        let incomplete = CallError::Incomplete { replies: 0, servers: 2 };
        assert_eq!(configuration.call("ask", Instant::now() + SHORT, of(1)), Err(incomplete), "they were for call 2");
    }

    #[test]
    fn a_server_that_comes_later_answers_within_the_time() {
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
        let mut configuration = Configuration::open(&[address]);
        assert!(configuration.call("ask", Instant::now() + SHORT, of(1)).is_err());
        assert!(configuration.multicast("ask", Instant::now() + SHORT, 1).is_err());
        thread::spawn(move || {
            thread::sleep(SHORT);
            let (mut stream, _) =
                TcpListener::bind(address).and_then(|listener| listener.accept()).expect("it is free");
            stream.write_all(checked("9 3").as_bytes()).expect("the client is there");
            thread::sleep(LONG);
        });
        assert_eq!(configuration.call("ask", Instant::now() + LONG, of(1)), Ok(vec![9]));
    }
}
