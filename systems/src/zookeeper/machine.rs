//! What clients do: a state machine, for the simulated server and for real ones (after Artho et al., "Model-based API
//! testing of Apache ZooKeeper", ICST 2017, figure 3).

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use simutant_models::{Machine, Step, Stop, skip, transition};
use simutant_oracle::specifications::Text;
use simutant_oracle::specifications::zookeeper::{Access, CreateMode, Operation, Permissions, Response, Who};
use simutant_oracle::{CallId, Recorder, Session, Time};

/// The service, as a client has it: a connection to the simulated server, or to a real one.
pub trait Service: 'static {
    /// Connects, as the same session as before. What was sent before gets no reply any more.
    fn connect(&mut self) -> impl Future<Output = Result<(), Lost>>;

    /// Sends a request; others may be on their way.
    fn send(&mut self, operation: &Operation) -> impl Future<Output = Result<(), Lost>>;

    /// Returns the next reply: replies come in the order of the requests.
    fn receive(&mut self) -> impl Future<Output = Result<Response, Lost>>;

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
}

impl<S: Service> Client<S> {
    /// Returns a client of a service.
    pub fn new(service: S, session: Session, history: Recorder<Operation, Response>) -> Self {
        Self { service, session, history, waiting: VecDeque::new(), was_refused: false }
    }

    async fn connect(&mut self) -> Result<(), Stop> {
        self.waiting.clear();
        Ok(self.service.connect().await?)
    }

    /// Makes a call, and awaits its answer and those of all calls before it.
    async fn call(&mut self, operation: Operation) -> Result<(), Stop> {
        let call = self.history.invoke(self.session, operation.clone(), self.service.now());
        self.waiting.push_back(call);
        self.service.send(&operation).await?;
        self.await_replies().await
    }

    /// Makes a call, and does not await its answer.
    async fn call_asynchronously(&mut self, operation: Operation) -> Result<(), Stop> {
        let call = self.history.invoke_asynchronous(self.session, operation.clone(), self.service.now());
        self.waiting.push_back(call);
        self.was_refused = false;
        Ok(self.service.send(&operation).await?)
    }

    /// Awaits the replies to all calls.
    async fn await_replies(&mut self) -> Result<(), Stop> {
        while let Some(call) = self.waiting.pop_front() {
            let response = self.service.receive().await?;
            self.was_refused = response.is_error();
            self.history.returned(call, response, self.service.now())?;
        }
        Ok(())
    }
}

/// The nodes that calls are about.
const PATHS: [&str; 4] = ["/a", "/a/b", "/c", "/"];

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

fn exists(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::Exists { path: path(step) }
}

fn get_children(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::GetChildren { path: path(step) }
}

fn get_data(step: &mut Step<'_>, _: Session) -> Operation {
    Operation::GetData { path: path(step) }
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
    let close = async |client: &mut Client<S>, _: &mut Step<'_>| client.call(Operation::Close).await;
    transitions.push(transition("connected -> connected", await_replies).label("await replies").weight(3.0));
    transitions.push(transition("connected -> connected", pause).label("pause"));
    transitions.push(transition("connected -> closed", close).label("close").weight(0.5));
    let connect = async |client: &mut Client<S>, _: &mut Step<'_>| client.connect().await;
    transitions.push(transition("disconnected -> connected", connect).label("connect").weight(20.0));
    let transitions = transitions.into_iter().map(|transition| transition.catches("Lost", "disconnected", |Lost| true));
    let others = [skip("refused -> connected").label("go on"), skip("disconnected -> closed").label("give up")];
    Machine::new("client", ["disconnected", "connected", "refused", "closed"], transitions.chain(others))
        .unwrap_or_else(|mistake| panic!("{mistake}"))
        .teardown(async |client: &mut Client<S>| {
            // What was sent last is answered, too, so that the oracle knows more.
            let _ = client.await_replies().await;
        })
}
