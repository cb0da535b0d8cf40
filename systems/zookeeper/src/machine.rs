//! What clients do: a state machine, for the simulated server and for real ones (after Artho et al., "Model-based API
//! testing of Apache ZooKeeper", ICST 2017, figure 3).

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use simutant_models::{Machine, Shape, Step, Stop, skip, transition};
use simutant_oracle::specifications::Text;
use simutant_oracle::{CallId, Recorder, Session, Time};
use simutant_zookeeper_histories::{Access, CreateMode, Event, Operation, Permissions, Response, Who};

/// The service, as a client has it: a connection to the simulated server, or to a real one.
pub trait Service: 'static {
    /// Connects, as the same session as before. What was sent before gets no reply any more.
    fn connect(&mut self) -> impl Future<Output = Result<(), Lost>>;

    /// Sends a request; others may be on their way.
    fn send(&mut self, operation: &Operation) -> impl Future<Output = Result<(), Lost>>;

    /// Returns the next reply, [after](Response::after) the events that came since the one before: replies come in the order
    /// of the requests.
    fn receive(&mut self) -> impl Future<Output = Result<Response, Lost>>;

    /// Takes the events that came after the last reply.
    fn events(&mut self) -> Vec<Event>;

    /// After how long [silence](Service::fall_silent) the service may end the session.
    fn timeout(&self) -> Duration;

    /// Connects anew, says nothing for some halves of the [timeout](Service::timeout), and returns whether the session has
    /// ended then. All that it asks for is refused then, until it connects again: as a new session.
    fn fall_silent(&mut self, halves: u32) -> impl Future<Output = Result<bool, Lost>>;

    /// Returns what time it is, by one clock for all clients.
    fn now(&self) -> Time;
}

/// The connection is lost: nobody knows what became of requests without a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the connection is lost")
    }
}

impl std::error::Error for Lost {}

/// What a client knows.
#[derive(Debug)]
pub struct Client<S> {
    service: S,
    session: Session,
    /// What all clients have seen.
    history: Recorder<Operation, Response>,
    /// The requests without a reply, in their order.
    waiting: VecDeque<CallId>,
    /// Whether the last reply was an error.
    was_refused: bool,
    /// Whether it has a connection, as far as it knows.
    is_connected: bool,
    /// Whether it matters if the session has another connection, as it has watches on this one, or may have expired.
    minds_connections: bool,
    /// Whether it knows that the session has expired.
    is_expired: bool,
    /// The ephemeral node that it made before it fell silent.
    left_behind: Option<Text>,
}

impl<S: Service> Client<S> {
    /// Returns a client of a service.
    pub fn new(service: S, session: Session, history: Recorder<Operation, Response>) -> Self {
        Self {
            service,
            session,
            history,
            waiting: VecDeque::new(),
            was_refused: false,
            is_connected: false,
            minds_connections: false,
            is_expired: false,
            left_behind: None,
        }
    }

    async fn connect(&mut self) -> Result<(), Stop> {
        self.waiting.clear();
        let begin = self.service.now();
        self.service.connect().await?;
        self.note_connection(begin)?;
        (self.is_connected, self.is_expired) = (true, false);
        Ok(())
    }

    /// Records that there is a new connection, with what came on the old one.
    fn note_connection(&mut self, begin: Time) -> Result<(), Stop> {
        if std::mem::take(&mut self.minds_connections) {
            let call = self.history.invoke(self.session, Operation::Connect, begin);
            self.history.returned(call, Response::Events(self.service.events()), self.service.now())?;
        }
        Ok(())
    }

    /// Says nothing for a while, so that the session may expire.
    async fn fall_silent(&mut self, halves: u32) -> Result<(), Stop> {
        self.await_replies().await?;
        let begin = self.service.now();
        let is_expired = self.service.fall_silent(halves).await;
        self.is_connected = is_expired.is_ok();
        self.note_connection(begin)?;
        let nanos = u64::try_from(self.service.timeout().as_nanos()).unwrap_or(u64::MAX);
        let earliest = Time::from_nanos(begin.as_nanos().saturating_add(nanos));
        match is_expired {
            Ok(false) => return Ok(()),
            Ok(true) => {
                let call = self.history.invoke(self.session, Operation::Expire, earliest);
                self.history.returned(call, Response::Done, self.service.now())?;
                self.is_expired = true;
            }
            // Nobody knows.
            Err(Lost) if self.service.now() > earliest => {
                self.history.invoke(self.session, Operation::Expire, earliest);
            }
            Err(Lost) => {}
        }
        self.minds_connections = true;
        is_expired?;
        Ok(())
    }

    /// Connects as a new session after the old one has expired, and looks for what that has left.
    async fn begin_anew(&mut self) -> Result<(), Stop> {
        self.connect().await?;
        match self.left_behind.take() {
            Some(path) => self.call(Operation::Exists { path }).await,
            None => Ok(()),
        }
    }

    /// Sees what is left to see, so that the oracle knows more: the answers to what was sent last, and the events before
    /// one more answer.
    async fn finish(&mut self) -> Result<(), Stop> {
        self.await_replies().await?;
        if self.is_connected && self.minds_connections && !self.is_expired {
            self.call(Operation::Exists { path: "/".into() }).await?;
        }
        Ok(())
    }

    /// Records the events that came after the last answer: no other one comes.
    fn note_events(&mut self) -> Result<(), Stop> {
        let events = self.service.events();
        if !events.is_empty() {
            let call = self.history.invoke(self.session, Operation::Notice, self.service.now());
            // Calls that were not answered may be taken later, and come before it.
            self.history.returned(call, Response::Events(events), Time::MAX)?;
        }
        Ok(())
    }

    /// Ends the session.
    async fn close(&mut self) -> Result<(), Stop> {
        self.call(Operation::Close).await?;
        self.minds_connections = false;
        Ok(())
    }

    /// Makes a call, and awaits its answer and those of all calls before it.
    async fn call(&mut self, operation: Operation) -> Result<(), Stop> {
        let call = self.history.invoke(self.session, operation.clone(), self.service.now());
        self.waiting.push_back(call);
        self.minds_connections |= matches!(operation, Operation::Watch(_));
        self.send(&operation).await?;
        self.await_replies().await
    }

    /// Makes a call, and does not await its answer.
    async fn call_asynchronously(&mut self, operation: Operation) -> Result<(), Stop> {
        let call = self.history.invoke_asynchronous(self.session, operation.clone(), self.service.now());
        self.waiting.push_back(call);
        self.minds_connections |= matches!(operation, Operation::Watch(_));
        self.was_refused = false;
        self.send(&operation).await
    }

    async fn send(&mut self, operation: &Operation) -> Result<(), Stop> {
        let sent = self.service.send(operation).await;
        self.is_connected &= sent.is_ok();
        Ok(sent?)
    }

    /// Awaits the replies to all calls.
    async fn await_replies(&mut self) -> Result<(), Stop> {
        while let Some(call) = self.waiting.pop_front() {
            let response = self.service.receive().await;
            self.is_connected &= response.is_ok();
            let response = response?;
            self.was_refused = response.is_error();
            self.history.returned(call, response, self.service.now())?;
        }
        Ok(())
    }
}

/// The nodes that calls are about.
const PATHS: [&str; 4] = ["/a", "/a/b", "/c", "/"];

/// The nodes that clients make before they fall silent.
const LEFT_BEHIND: [&str; 2] = ["/a", "/c"];

/// What data there is.
const DATA: [Option<&str>; 3] = [None, Some("x"), Some("y")];

/// Which kinds of nodes are created.
const MODES: [CreateMode; 6] = [
    CreateMode::Persistent,
    CreateMode::Persistent,
    CreateMode::Persistent,
    CreateMode::Ephemeral,
    CreateMode::PersistentSequential,
    CreateMode::EphemeralSequential,
];

/// Which versions are expected.
const VERSIONS: [Option<u32>; 5] = [None, None, None, Some(0), Some(1)];

/// The kinds of calls, and how often each is made.
const CALLS: [(&str, Ask, f64); 9] = [
    ("create", create, 4.0),
    ("delete", delete, 2.0),
    ("exists", exists, 1.0),
    ("get children", get_children, 1.0),
    ("get data", get_data, 2.0),
    ("set data", set_data, 3.0),
    ("get acl", get_acl, 1.0),
    ("set acl", set_acl, 3.0),
    ("multi", multi, 2.0),
];

/// Chooses what a call asks for.
type Ask = fn(&mut Step<'_>, Session) -> Operation;

fn path(step: &mut Step<'_>) -> Text {
    (*step.one_of(&PATHS)).into()
}

fn data(step: &mut Step<'_>) -> Option<Text> {
    step.one_of(&DATA).map(Text::from)
}

/// Chooses the version that a change expects: mostly any, and else one that a node may have.
fn version(step: &mut Step<'_>) -> Option<u32> {
    *step.one_of(&VERSIONS)
}

fn create(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::Create { path: path(step), data: data(step), mode: *step.one_of(&MODES) }
}

fn delete(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::Delete { path: path(step), version: version(step) }
}

/// Chooses whether a read leaves a watch.
fn maybe_watched(step: &mut Step<'_>, read: Operation) -> Operation {
    if step.choose(0..=1) == 1 { read.and_watch() } else { read }
}

fn exists(step: &mut Step<'_>, _: Session) -> Operation {
    let read = Operation::Exists { path: path(step) };
    maybe_watched(step, read)
}

fn get_children(step: &mut Step<'_>, _: Session) -> Operation {
    let read = Operation::GetChildren { path: path(step) };
    maybe_watched(step, read)
}

fn get_data(step: &mut Step<'_>, _: Session) -> Operation {
    let read = Operation::GetData { path: path(step) };
    maybe_watched(step, read)
}

fn set_data(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::SetData { path: path(step), data: data(step), version: version(step) }
}

fn get_acl(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::GetAcl { path: path(step) }
}

fn set_acl(step: &mut Step<'_>, session: Session) -> Operation {
    let everybody = |permissions| Access { who: Who::Anyone, permissions };
    let own = |permissions| Access { who: Who::Session(session), permissions };
    let mut lists = [
        vec![everybody(Permissions::ALL)],
        vec![everybody(Permissions::READ)],
        vec![own(Permissions::ALL)],
        vec![own(Permissions::READ)],
        vec![everybody(Permissions::READ), own(Permissions(Permissions::ALL.0 - Permissions::DELETE.0))],
    ];
    let path = path(step);
    let chosen = step.choose(0..=lists.len() as u32 - 1);
    Operation::SetAcl { path, acl: std::mem::take(&mut lists[chosen as usize]), version: version(step) }
}

/// Chooses a transaction of two parts.
fn multi(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::Multi(vec![part(step), part(step)])
}

fn part(step: &mut Step<'_>) -> Operation {
    let (kind, path) = (step.choose(0..=3), path(step));
    match kind {
        0 => Operation::Check { path, version: version(step) },
        1 => Operation::Create { path, data: None, mode: *step.one_of(&MODES) },
        2 => Operation::Delete { path, version: version(step) },
        _ => Operation::SetData { path, data: Some("z".into()), version: version(step) },
    }
}

/// Returns the states and transitions of the machine of a client.
pub fn shape() -> Shape {
    client::<super::client::Connection>().shape().clone()
}

/// The machine of a client.
pub fn client<S: Service>() -> Machine<Client<S>> {
    let mut transitions = Vec::new();
    for (name, ask, weight) in CALLS {
        let call = async move |client: &mut Client<S>, step: &mut Step<'_>| {
            let operation = ask(step, client.session);
            client.call(operation).await
        };
        let send = async move |client: &mut Client<S>, step: &mut Step<'_>| {
            let operation = ask(step, client.session);
            client.call_asynchronously(operation).await
        };
        transitions.push(
            transition("connected -> connected", call)
                .label(name)
                .weight(weight)
                .next_if("refused", |client| client.was_refused),
        );
        transitions.push(transition("connected -> connected", send).label(&format!("send {name}")).weight(weight));
    }
    let await_replies = async |client: &mut Client<S>, step: &mut Step<'_>| {
        step.require(!client.waiting.is_empty())?;
        client.await_replies().await
    };
    let pause = async |_: &mut Client<S>, step: &mut Step<'_>| {
        let milliseconds = step.choose(1..=10);
        step.stay(Duration::from_millis(u64::from(milliseconds)));
        Ok(())
    };
    let close = async |client: &mut Client<S>, _: &mut Step<'_>| client.close().await;
    let fall_silent = async |client: &mut Client<S>, step: &mut Step<'_>| {
        let (halves, path): (_, Text) = (step.choose(1..=4), (*step.one_of(&LEFT_BEHIND)).into());
        client.call(Operation::Create { path: path.clone(), data: None, mode: CreateMode::Ephemeral }).await?;
        client.left_behind = Some(path);
        client.fall_silent(halves).await
    };
    let ask_in_vain = async |client: &mut Client<S>, step: &mut Step<'_>| {
        let operation = exists(step, client.session);
        client.call(operation).await
    };
    transitions.push(transition("connected -> connected", await_replies).label("await replies").weight(3.0));
    transitions.push(transition("connected -> connected", pause).label("pause"));
    transitions.push(transition("connected -> closed", close).label("close").weight(0.5));
    transitions.push(
        transition("connected -> connected", fall_silent)
            .label("fall silent")
            .weight(0.15)
            .next_if("expired", |client| client.is_expired),
    );
    transitions.push(transition("expired -> expired", ask_in_vain).label("ask in vain"));
    let begin_anew = async |client: &mut Client<S>, _: &mut Step<'_>| client.begin_anew().await;
    transitions.push(transition("expired -> connected", begin_anew).label("begin anew").weight(2.0));
    let connect = async |client: &mut Client<S>, _: &mut Step<'_>| client.connect().await;
    transitions.push(transition("disconnected -> connected", connect).label("connect").weight(20.0));
    let transitions = transitions.into_iter().map(|transition| transition.catches("Lost", "disconnected", |Lost| true));
    let others = [skip("refused -> connected").label("go on"), skip("disconnected -> closed").label("give up")];
    Machine::new("client", ["disconnected", "connected", "refused", "expired", "closed"], transitions.chain(others))
        .unwrap_or_else(|mistake| panic!("{mistake}"))
        .teardown(async |client: &mut Client<S>| {
            let _ = client.finish().await;
            let _ = client.note_events();
        })
}
