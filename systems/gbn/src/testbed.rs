//! Test cases of go-back-n on real programs: a file is sent through a lossy proxy and must arrive whole.
//!
//! The harness of Rutherford, PhD thesis, section 4.1.1.2: a file of random bytes, a sender and a receiver with a
//! proxy between them. A test case passes if both end with exit code 0 and the received file equals the sent one.
//! Implementations of `gbn` run the test cases of `gbn-last-ack` and `gbn-thesis` as well: the inputs are the same.
//!
//! The proxy drops and duplicates as the simulated network does: it decides first whether a datagram is dropped, and only of
//! one that is not whether it is duplicated, with the probabilities of the test case. The simulated latency is not
//! reproduced: the proxy passes datagrams on at once, both copies one after the other, and does not reorder them. A mistake
//! that only shows when packets take long or overtake each other may show in the simulation and not here. Streams of random
//! numbers differ, so a seed does not lose the same packets here as there.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use simutant_harness::{
    Activity, Conclusion, Environment, HarnessError, InputContent, InvalidCase, Lease, Left, Placeholders, Process,
    ProxyCounts, RealNetwork, Role, Setup, Testbed, Testbeds, read_case,
};
use simutant_outcomes::{Finding, Verdict};
use simutant_sim_core::{Link, Probability, Random};
use simutant_system::System;

use crate::thesis::{self, GbnThesis};
use crate::{Gbn, GbnLastAck, TestCase};

/// How long lines of a text are, with their ends.
const LINE_BYTES: u64 = 80;

const RECEIVER: &str = "receiver";
const SENDER: &str = "sender";

const ROLES: [Role; 2] = [
    Role { name: RECEIVER, placeholders: &["listen", "host", "port", "output", "seed"], listens: true },
    Role { name: SENDER, placeholders: &["peer", "peer_host", "peer_port", "input", "seed"], listens: false },
];

/// What test cases of all systems of go-back-n have.
#[derive(Debug, Clone, Copy)]
struct Input {
    bytes: u64,
    drop: Probability,
    duplicate: Probability,
    seed: u64,
}

impl From<TestCase> for Input {
    fn from(TestCase { bytes, drop, duplicate, seed }: TestCase) -> Self {
        Self { bytes, drop, duplicate, seed }
    }
}

impl From<thesis::TestCase> for Input {
    fn from(thesis::TestCase { bytes, drop, duplicate, seed }: thesis::TestCase) -> Self {
        Self { bytes, drop, duplicate, seed }
    }
}

/// Runs test cases of a system of go-back-n.
///
/// All of them have the same inputs, and what is asked of programs is that the file arrives: so programs of `gbn` are
/// right for each of them, whatever their acknowledgements say, and however they open and end a transfer.
#[derive(Debug)]
struct GbnTestbed {
    system: &'static str,
    read: fn(&Value) -> Result<Input, InvalidCase>,
}

/// The testbeds of all systems of go-back-n.
pub const TESTBEDS: Testbeds =
    Testbeds::new(&[&GbnTestbed::of::<Gbn>(), &GbnTestbed::of::<GbnLastAck>(), &GbnTestbed::of::<GbnThesis>()]);

impl GbnTestbed {
    const fn of<S: System<TestCase: Into<Input>>>() -> Self {
        Self { system: S::NAME, read: read::<S> }
    }
}

/// Returns the input of a test case that is in the system's domain.
fn read<S: System<TestCase: Into<Input>>>(case: &Value) -> Result<Input, InvalidCase> {
    let case = read_case(case, S::validate)?;
    Ok(case.into())
}

impl Testbed for GbnTestbed {
    fn system(&self) -> &str {
        self.system
    }

    fn implemented_as(&self) -> &str {
        Gbn::NAME
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        (self.read)(case).map(drop)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let Setup { folder, input: content, .. } = *setup;
        let case = (self.read)(setup.case).expect("the case was checked");
        let random = setup.random(case.seed);
        let input = folder.join("input");
        write_input(&input, content, case.bytes, &mut random.stream("input"))
            .map_err(HarnessError::file("write the input file", &input))?;
        let lease = Lease::new()?;
        let receiver = SocketAddr::from((Ipv4Addr::LOCALHOST, lease.port()));
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        let link = Link { drop: case.drop.into(), duplicate: case.duplicate, ..Link::default() };
        let network = RealNetwork::between(any, receiver, &link.into(), random.stream("network").bits())?;
        let peer = network.entry("client", "server").expect("both are there");
        let output = folder.join("output");
        Ok(Box::new(Transfer { input, output, receiver, _lease: lease, network, peer, seed: case.seed }))
    }
}

/// The files and the network of one test case.
struct Transfer {
    input: PathBuf,
    output: PathBuf,
    receiver: SocketAddr,
    /// Keeps the receiver's port from other jobs.
    _lease: Lease,
    network: RealNetwork,
    /// Where the sender reaches the receiver.
    peer: SocketAddr,
    seed: u64,
}

impl Environment for Transfer {
    fn processes(&self, role: &str) -> Vec<Process> {
        let mut placeholders = Placeholders::from([("seed", self.seed.to_string().into())]);
        let port = if role == RECEIVER {
            placeholders.insert("listen", self.receiver.to_string().into());
            placeholders.insert("host", self.receiver.ip().to_string().into());
            placeholders.insert("port", self.receiver.port().to_string().into());
            placeholders.insert("output", self.output.clone().into());
            Some(self.receiver.port())
        } else {
            placeholders.insert("peer", self.peer.to_string().into());
            placeholders.insert("peer_host", self.peer.ip().to_string().into());
            placeholders.insert("peer_port", self.peer.port().to_string().into());
            placeholders.insert("input", self.input.clone().into());
            None
        };
        vec![Process { name: role.into(), placeholders, port, start: Duration::ZERO }]
    }

    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        self.network.check()?;
        Ok(self.network.counts())
    }

    fn activity(&self) -> Option<Activity> {
        self.network.activity()
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let input = File::open(&self.input).map_err(HarnessError::file("read", &self.input))?;
        let output = match File::open(&self.output) {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Verdict::Fail(Finding::wrong_result("no-output", "there is no output file")).into());
            }
            Err(error) => return Err(HarnessError::file("read", &self.output)(error)),
        };
        let difference = difference(BufReader::new(input), BufReader::new(output))
            .map_err(HarnessError::file("compare", &self.output))?;
        Ok(difference.map_or(Verdict::Pass, |difference| Verdict::Fail(difference.into())).into())
    }
}

/// How the received file differs from the sent one; its `Display` is a sentence without a full stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Difference {
    /// The offset of the first byte that differs or is there in one file only.
    offset: u64,
    /// How many bytes the sent file has.
    expected_bytes: u64,
    /// How many bytes the received file has.
    found_bytes: u64,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offset, expected_bytes, found_bytes } = *self;
        if offset == found_bytes {
            write!(formatter, "the output ends after {found_bytes} of {expected_bytes} bytes")
        } else if offset == expected_bytes {
            write!(formatter, "the output has {found_bytes} bytes, {} too many", found_bytes - expected_bytes)
        } else {
            write!(
                formatter,
                "the output differs from the input at byte {offset}; it has {found_bytes} bytes, the input {expected_bytes}"
            )
        }
    }
}

impl From<Difference> for Finding {
    fn from(difference: Difference) -> Self {
        Finding::wrong_result("output-differs", difference.to_string()).with_detail(difference)
    }
}

/// Fills a new file with `length` random bytes, or with a random text of so many.
fn write_input(path: &Path, content: InputContent, length: u64, random: &mut Random) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create_new(path)?);
    for at in 1..=length {
        let is_line_end = at == length || at % LINE_BYTES == 0;
        let byte = match content {
            InputContent::Bytes => random.uniform(0..=u8::MAX),
            InputContent::Text if is_line_end => b'\n',
            InputContent::Text => random.uniform(b' '..=b'~'),
        };
        file.write_all(&[byte])?;
    }
    file.flush()
}

/// Returns how `found` differs from `expected`, or `None` if it does not.
fn difference(expected: impl BufRead, found: impl BufRead) -> io::Result<Option<Difference>> {
    let (mut expected, mut found) = (expected.bytes(), found.bytes());
    let mut offset = 0;
    loop {
        let pair = (expected.next().transpose()?, found.next().transpose()?);
        match pair {
            (None, None) => return Ok(None),
            (Some(left), Some(right)) if left == right => offset += 1,
            (left, right) => {
                let expected_bytes = offset + u64::from(left.is_some()) + expected.count() as u64;
                let found_bytes = offset + u64::from(right.is_some()) + found.count() as u64;
                return Ok(Some(Difference { offset, expected_bytes, found_bytes }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_difference(expected: &[u8], found: &[u8], expect: Option<(u64, u64, u64)>) {
        let expect =
            expect.map(|(offset, expected_bytes, found_bytes)| Difference { offset, expected_bytes, found_bytes });
        assert_eq!(difference(expected, found).expect("memory can be read"), expect);
    }

    #[test]
    fn the_first_difference_is_found() {
        check_difference(b"", b"", None);
        check_difference(b"abc", b"abc", None);
        check_difference(b"abc", b"axc", Some((1, 3, 3)));
        check_difference(b"abc", b"ab", Some((2, 3, 2)));
        check_difference(b"abc", b"", Some((0, 3, 0)));
        check_difference(b"abc", b"abcde", Some((3, 3, 5)));
        check_difference(b"abcd", b"xb", Some((0, 4, 2)));
    }

    #[test]
    fn the_input_file_depends_on_the_seeds_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, seed| {
            let path = folder.path().join(name);
            let random = &mut Random::from_seed(seed);
            write_input(&path, InputContent::Bytes, 10_000, random).expect("the folder can be written");
            std::fs::read(path).expect("it was written")
        };
        let one = write("one", 1);
        assert_eq!(one.len(), 10_000);
        assert_eq!(one, write("again", 1));
        assert_ne!(one, write("two", 2));
        assert!((0..=255).all(|byte| one.contains(&byte)), "every byte occurs in so many");
    }

    #[test]
    fn a_text_has_lines_of_printable_characters_and_as_many_bytes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for length in [0, 1, 79, 80, 81, 1_000] {
            let path = folder.path().join(length.to_string());
            write_input(&path, InputContent::Text, length, &mut Random::from_seed(1)).expect("room");
            let text = std::fs::read_to_string(path).expect("it is ASCII");
            assert_eq!(text.len() as u64, length);
            assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
            assert!(text.lines().all(|line| line.len() < 80 && line.bytes().all(|byte| (b' '..=b'~').contains(&byte))));
        }
    }

    #[track_caller]
    fn check_words(offset: u64, expected_bytes: u64, found_bytes: u64, expect: &str) {
        let finding = Finding::from(Difference { offset, expected_bytes, found_bytes });
        assert_eq!((finding.summary.as_str(), &finding.detail["offset"]), (expect, &offset.into()));
    }

    #[test]
    fn a_difference_says_whether_the_output_is_short_long_or_wrong() {
        check_words(10, 20, 10, "the output ends after 10 of 20 bytes");
        check_words(20, 20, 30, "the output has 30 bytes, 10 too many");
        check_words(5, 20, 20, "the output differs from the input at byte 5; it has 20 bytes, the input 20");
    }

    #[track_caller]
    fn check_invalid(case: Value, expect: &str) {
        for harness in [GbnTestbed::of::<Gbn>(), GbnTestbed::of::<GbnLastAck>(), GbnTestbed::of::<GbnThesis>()] {
            let message = harness.check(&case).expect_err("the case is not one").to_string();
            assert!(message.contains(expect), "{}: {message}", harness.system());
        }
    }

    #[test]
    fn a_case_that_is_not_one_is_named() {
        let good = serde_json::json!({ "bytes": 1, "drop": 0.2, "duplicate": 0.0, "seed": 1 });
        GbnTestbed::of::<Gbn>().check(&good).expect("a good case");
        check_invalid(serde_json::json!({ "drop": 0.2, "duplicate": 0.0, "seed": 1 }), "bytes");
        check_invalid(serde_json::json!({ "bytes": 0, "drop": 0.2, "duplicate": 0.0, "seed": 1 }), "bytes");
        check_invalid(serde_json::json!({ "bytes": 1, "drop": 0.9, "duplicate": 0.0, "seed": 1 }), "drop");
    }
}
