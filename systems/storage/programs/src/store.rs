//! The server's side of the protocol, free of sockets.

use super::behaviour::Behaviour;
use super::message::{Acknowledgement, Content, Reply, Request, Write};

/// What a server holds.
#[derive(Debug)]
pub(crate) struct Store {
    content: Content,
    behaviour: &'static dyn Behaviour,
}

impl Store {
    /// Returns the store whose log has these writes. The last one is the newest: the log has what was stored alone.
    pub(crate) fn recover(writes: impl IntoIterator<Item = Write>, behaviour: &'static dyn Behaviour) -> Self {
        Self { content: writes.into_iter().last().map(Content::from).unwrap_or_default(), behaviour }
    }

    /// Returns the answer to a request, and what is written to the log before it is sent.
    ///
    /// What is held already is acknowledged and not stored again: the client has sent it twice.
    pub(crate) fn answer(&mut self, request: Request) -> (Option<Write>, Reply) {
        let Request::Write(write) = request else { return (None, Reply::Content(self.content)) };
        let held = self.content.timestamp;
        let is_newer = self.behaviour.is_newer(write.timestamp, held);
        if is_newer {
            self.content = write.into();
        }
        let has_it = is_newer || write.timestamp == held;
        let acknowledgement = if has_it { Acknowledgement::Yes } else { Acknowledgement::No };
        (is_newer.then_some(write), Reply::Acknowledgement(acknowledgement))
    }
}

impl From<Write> for Content {
    fn from(write: Write) -> Self {
        Self { timestamp: write.timestamp, value: Some(write.value) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::super::faults;
    use super::*;

    /// Checks the answers of a server to requests, and which of these are in its log.
    #[track_caller]
    fn check(behaviour: &'static dyn Behaviour, requests_and_answers: &[(&str, &str)], log: &[&str]) {
        let mut store = Store::recover([], behaviour);
        let mut written = Vec::new();
        for (request, answer) in requests_and_answers {
            let (write, reply) = store.answer(request.parse().expect("a request"));
            written.extend(write);
            assert_eq!(reply.to_string(), *answer, "{request}");
        }
        assert_eq!(written.iter().map(Write::to_string).collect::<Vec<_>>(), log);
        assert_eq!(Store::recover(written, behaviour).content, store.content, "a crash changes nothing");
    }

    #[test]
    fn a_server_keeps_the_newest_and_says_no_to_what_is_older() {
        let both = [
            ("read", "value 0 0 none"),
            ("write 2 1 7", "ack yes"),
            ("write 1 2 8", "ack no"),
            ("write 2 1 7", "ack yes"),
            ("read", "value 2 1 7"),
            ("write 2 2 9", "ack yes"),
            ("write 2 1 7", "ack no"),
            ("read", "value 2 2 9"),
        ];
        check(&Correct, &both, &["write 2 1 7", "write 2 2 9"]);
    }

    #[test]
    fn a_server_that_ignores_writers_goes_back() {
        let back = [("write 2 2 9", "ack yes"), ("write 2 1 7", "ack yes"), ("read", "value 2 1 7")];
        check(faults::find("ignores-writers"), &back, &["write 2 2 9", "write 2 1 7"]);
    }
}
