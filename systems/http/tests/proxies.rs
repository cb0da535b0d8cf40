//! Proxies between the tester's clients and its origins: the right one is never rejected, and each mistake is found.

#![expect(clippy::disallowed_methods, reason = "a real proxy has a thread for each connection")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use simutant_http::proxy::Proxy;
use simutant_http_tester::script::draw;
use simutant_http_tester::{Random, TestedScript, Tester};

/// A mistake of a proxy. The first four are of Li's proxies (figure 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    DropsResponseContent,
    DropsRequestContent,
    MisnamesField,
    SkipsWhatIsLong,
    SwapsAnswersOfTwoClients,
    SwapsPipelinedAnswers,
    RetriesPost,
    RetriesWhatWasAnswered,
    MakesWhole,
    ForwardsConnectionFields,
    RelaysConnectionFields,
    ForwardsHost,
    ForgetsVia,
    ForwardsZero,
    Stores,
    RelaysWhatNobodyAskedFor,
}

/// Each mistake, with the rule that it breaks.
const FAULTS: [(Fault, &str); 16] = [
    (Fault::DropsResponseContent, "response-content"),
    (Fault::DropsRequestContent, "request-content"),
    (Fault::MisnamesField, "response-fields"),
    (Fault::SkipsWhatIsLong, "response-content"),
    (Fault::SwapsAnswersOfTwoClients, "own-response"),
    (Fault::SwapsPipelinedAnswers, "own-response"),
    (Fault::RetriesPost, "retry"),
    (Fault::RetriesWhatWasAnswered, "once"),
    (Fault::MakesWhole, "incomplete"),
    (Fault::ForwardsConnectionFields, "request-connection"),
    (Fault::RelaysConnectionFields, "response-connection"),
    (Fault::ForwardsHost, "host"),
    (Fault::ForgetsVia, "request-via"),
    (Fault::ForwardsZero, "max-forwards-zero"),
    (Fault::Stores, "no-store"),
    (Fault::RelaysWhatNobodyAskedFor, "unasked"),
];

/// A message: its first line, its fields and its content.
#[derive(Debug, Clone, Default)]
struct Message {
    line: String,
    fields: Vec<(String, String)>,
    content: Vec<u8>,
    is_whole: bool,
    /// What comes after it.
    rest: Vec<u8>,
}

impl Message {
    /// Reads a message, whose content may end with the connection; `None` if there is none.
    fn read(from: &mut impl BufRead, has_content: bool, may_end: bool) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let mut message = Self { line: lines.first()?.clone(), is_whole: true, ..Self::default() };
        for line in &lines[1..] {
            let (name, value) = line.split_once(':')?;
            message.fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = message.field("content-length").and_then(|length| length.parse().ok());
        match length {
            _ if !has_content || message.line.contains(" 204 ") => {}
            _ if message.field("transfer-encoding").is_some() => {
                while let Some(chunk) = chunk(from, &mut message.is_whole) {
                    message.content.extend(chunk);
                }
            }
            Some(length) => {
                from.take(length).read_to_end(&mut message.content).ok()?;
                message.is_whole = message.content.len() as u64 == length;
            }
            None if may_end => _ = from.read_to_end(&mut message.content).ok()?,
            None => {}
        }
        Some(message)
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Removes what is for one connection, and adds who has forwarded it.
    fn forward(&mut self, keeps_named: bool, adds_via: bool) {
        let options = self.field("connection").unwrap_or_default().to_ascii_lowercase();
        let named: Vec<&str> = if keeps_named { Vec::new() } else { options.split(',').map(str::trim).collect() };
        let others = ["connection", "keep-alive", "proxy-connection", "te", "upgrade", "transfer-encoding"];
        self.fields.retain(|(name, _)| !named.contains(&name.as_str()) && !others.contains(&name.as_str()));
        if adds_via {
            let before = self.field("via").map(|via| format!("{via}, ")).unwrap_or_default();
            self.set("via", format!("{before}1.1 proxy"));
        }
    }

    fn set(&mut self, name: &str, value: String) {
        self.fields.retain(|(other, _)| other != name);
        self.fields.push((name.to_owned(), value));
    }

    fn write(&self, to: &mut TcpStream) -> std::io::Result<()> {
        let fields: String = self.fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("{}\r\n{fields}\r\n", self.line);
        to.write_all(&[head.as_bytes(), &self.content, &self.rest].concat())
    }
}

/// Reads a chunk; `None` at the end.
fn chunk(from: &mut impl BufRead, is_whole: &mut bool) -> Option<Vec<u8>> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let Ok(size) = u64::from_str_radix(line.trim(), 16) else {
        *is_whole = false;
        return None;
    };
    let mut chunk = Vec::new();
    from.take(size + 2).read_to_end(&mut chunk).ok()?;
    *is_whole &= chunk.len() as u64 == size + 2;
    chunk.truncate(size as usize);
    (size > 0).then_some(chunk)
}

/// What the connections of a proxy have in common.
#[derive(Default)]
struct Shared {
    stored: Mutex<BTreeMap<String, Message>>,
    /// An answer that waits for another one to be swapped with.
    waiting: Mutex<Option<Message>>,
    swapped: Condvar,
}

/// Starts a proxy.
fn start(fault: Fault) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it listens");
    let shared = Arc::new(Shared::default());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&shared);
            // A client that leaves ends its thread.
            std::thread::spawn(move || serve(stream, fault, &shared));
        }
    });
    address
}

fn serve(mut stream: TcpStream, fault: Fault, shared: &Shared) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut from = BufReader::new(stream.try_clone().ok()?);
    while let Some(request) = Message::read(&mut from, true, false) {
        let mut answers = vec![relayed(request, fault, shared)?];
        if fault == Fault::SwapsPipelinedAnswers && !from.buffer().is_empty() {
            answers.insert(0, relayed(Message::read(&mut from, true, false)?, fault, shared)?);
        }
        for answer in answers {
            answer.write(&mut stream).ok()?;
            if !answer.is_whole {
                return None;
            }
        }
    }
    None
}

/// Returns the answer to a request.
fn relayed(mut request: Message, fault: Fault, shared: &Shared) -> Option<Message> {
    let own = |status: &str| Message {
        line: format!("HTTP/1.1 {status} Own"),
        fields: vec![("content-length".to_owned(), "0".to_owned())],
        is_whole: true,
        ..Message::default()
    };
    let line = request.line.clone();
    let mut words = line.split(' ');
    let (method, url) = (words.next()?, words.next()?);
    let rest = url.strip_prefix("http://")?;
    let (authority, path) = rest.find('/').map_or((rest, "*"), |at| rest.split_at(at));
    if method == "OPTIONS"
        && let Some(max) = request.field("max-forwards").and_then(|max| max.parse::<u64>().ok())
    {
        if max == 0 && fault != Fault::ForwardsZero {
            return Some(own("200"));
        }
        request.set("max-forwards", max.saturating_sub(1).to_string());
    }
    if fault == Fault::Stores
        && method == "GET"
        && let Some(stored) = shared.stored.lock().ok()?.get(url)
    {
        return Some(stored.clone());
    }
    request.forward(fault == Fault::ForwardsConnectionFields, fault != Fault::ForgetsVia);
    request.line = format!("{method} {path} HTTP/1.1");
    if fault != Fault::ForwardsHost {
        request.set("host", authority.to_owned());
    }
    if fault == Fault::DropsRequestContent {
        request.content.clear();
    }
    if matches!(method, "PUT" | "POST") {
        request.set("content-length", request.content.len().to_string());
    }
    request.set("connection", "close".to_owned());
    let ask = || {
        let mut origin = TcpStream::connect(authority).ok()?;
        request.write(&mut origin).ok()?;
        let mut origin = BufReader::new(origin);
        let mut answer = Message::read(&mut origin, method != "HEAD", true)?;
        if fault == Fault::RelaysWhatNobodyAskedFor {
            origin.read_to_end(&mut answer.rest).ok()?;
        }
        Some(answer)
    };
    let mut answer = ask();
    let retries = match fault {
        Fault::RetriesPost => method == "POST" && answer.is_none(),
        Fault::RetriesWhatWasAnswered => method == "PUT",
        // The right one may do so.
        _ => method == "GET" && answer.is_none(),
    };
    if retries {
        answer = ask();
    }
    let Some(mut answer) = answer else { return Some(own("502")) };
    answer.forward(fault == Fault::RelaysConnectionFields, true);
    answer.set("date", "Mon, 01 Jan 1990 00:00:00 GMT".to_owned());
    match fault {
        Fault::DropsResponseContent => answer.content.clear(),
        Fault::SkipsWhatIsLong => answer.content.truncate(4_000),
        Fault::MisnamesField => {
            answer.fields.iter_mut().filter(|it| it.0 == "answer-number").for_each(|it| it.0.pop().map_or((), |_| ()));
        }
        _ => {}
    }
    let length = answer.content.len() + usize::from(!answer.is_whole && fault != Fault::MakesWhole);
    answer.is_whole |= fault == Fault::MakesWhole;
    if method != "HEAD" && !answer.line.contains(" 204 ") {
        answer.set("content-length", length.to_string());
    }
    if fault == Fault::Stores && method == "GET" && answer.is_whole {
        shared.stored.lock().ok()?.insert(url.to_owned(), answer.clone());
    }
    if fault == Fault::SwapsAnswersOfTwoClients && method == "GET" {
        return swapped(answer, shared);
    }
    Some(answer)
}

/// Returns the answer of another client, if one comes soon.
fn swapped(answer: Message, shared: &Shared) -> Option<Message> {
    let mut waiting = shared.waiting.lock().ok()?;
    if let Some(other) = waiting.replace(answer.clone()) {
        shared.swapped.notify_all();
        return Some(other);
    }
    let (mut waiting, wait) = shared.swapped.wait_timeout(waiting, Duration::from_millis(20)).ok()?;
    let other = waiting.take();
    if wait.timed_out() { Some(answer) } else { other.or(Some(answer)) }
}

/// Runs scripts of 20 requests until one fails, and returns what came of each.
fn run(address: SocketAddr, seed: u64, scripts: usize, connections: u8) -> Vec<TestedScript> {
    let tester = Tester::new(address, Proxy::default(), format!("s{seed}-"));
    let mut all = Vec::new();
    for number in 0..scripts {
        let mut random = Random::from_seed(seed).stream(&format!("script {number}"));
        all.push(tester.run(&draw::<Proxy>(20, connections, &mut random)));
        if all.last().is_some_and(|tested| tested.finding.is_some()) {
            break;
        }
    }
    all
}

#[test]
fn a_right_proxy_is_never_rejected() {
    let address = start(Fault::None);
    for connections in [1, 2, 4, 8] {
        let all = run(address, connections.into(), 125, connections);
        for tested in &all {
            assert_eq!((&tested.finding, &tested.inconclusive), (&None, &None), "{connections}");
        }
        let requests: usize = all.iter().map(|tested| tested.requests).sum();
        let responses: usize = all.iter().map(|tested| tested.responses).sum();
        assert!(requests == 125 * 20 && responses > requests * 9 / 10, "{requests} {responses}");
    }
}

#[test]
fn each_mistake_is_found_and_breaks_its_rule() {
    for (fault, rule) in FAULTS {
        let address = start(fault);
        let all = run(address, 1, 40, 4);
        let finding = all.iter().find_map(|tested| tested.finding.clone());
        let (finding, _) = finding.unwrap_or_else(|| panic!("{fault:?} is not found"));
        assert_eq!(finding.kind, rule, "{fault:?}: {}\n{:#}", finding.summary, finding.detail["commands"]);
    }
}
