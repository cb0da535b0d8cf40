//! A connection to the simulated server, as clients have it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use simutant_oracle::{Session, Time};
use simutant_sim_core::{Address, ConnectError, Context, Either2, Stream, VirtualDuration, select};
use simutant_system::history_time;
use simutant_zookeeper_histories::{Error, Event, Operation, Response};

use super::machine::{Lost, Service};
use super::messages::ZooKeeperMessage;

/// How long a client waits for a connection and for a reply before it takes them for lost.
const TIMEOUT: VirtualDuration = VirtualDuration::from_secs(4);

/// How long a client waits before it asks a server again that refuses.
const AGAIN: VirtualDuration = VirtualDuration::from_millis(10);

/// After how long a silent client's session ends.
pub(super) const SILENCE: VirtualDuration = VirtualDuration::from_millis(20);

/// A connection of a session, or none.
pub(super) struct Connection {
    context: Rc<Context<ZooKeeperMessage>>,
    server: Address,
    session: Session,
    stream: Option<Stream<ZooKeeperMessage>>,
    /// What has come since the last reply.
    events: Vec<Event>,
    /// When any client began last to ask for a connection that was not made.
    failed: Rc<Cell<Option<Time>>>,
}

impl Connection {
    /// Returns none.
    pub(super) fn new(
        context: Rc<Context<ZooKeeperMessage>>,
        server: Address,
        session: Session,
        failed: Rc<Cell<Option<Time>>>,
    ) -> Self {
        Self { context, server, session, stream: None, events: Vec::new(), failed }
    }

    fn stream(&mut self) -> Result<&mut Stream<ZooKeeperMessage>, Lost> {
        self.stream.as_mut().ok_or(Lost)
    }

    async fn open(&mut self, timeout: Option<VirtualDuration>) -> Result<(), Lost> {
        // The old one is gone, so nothing of it is received any more.
        self.stream = None;
        let (begin, deadline) = (self.now(), self.context.now() + TIMEOUT);
        let mut stream = loop {
            match self.context.connect(self.server, TIMEOUT).await {
                Ok(stream) => break stream,
                // A server that has no leader does not listen.
                Err(ConnectError::Refused) if self.context.now() < deadline => self.context.pause(AGAIN).await,
                Err(_) => {
                    self.failed.set(self.failed.get().max(Some(begin)));
                    return Err(Lost);
                }
            }
        };
        stream.send(ZooKeeperMessage::Open { session: self.session, timeout }).await.map_err(|_| Lost)?;
        self.stream = Some(stream);
        Ok(())
    }
}

impl Service for Connection {
    async fn connect(&mut self) -> Result<(), Lost> {
        self.open(None).await
    }

    async fn send(&mut self, operation: &Operation) -> Result<(), Lost> {
        self.stream()?.send(ZooKeeperMessage::Request(operation.clone())).await.map_err(|_| Lost)
    }

    async fn receive(&mut self) -> Result<Response, Lost> {
        let context = self.context.clone();
        loop {
            match select((self.stream()?.recv(), context.sleep(TIMEOUT))).await {
                Either2::First(Ok(Some(ZooKeeperMessage::Reply(response)))) => {
                    return Ok(response.after(std::mem::take(&mut self.events)));
                }
                Either2::First(Ok(Some(ZooKeeperMessage::Event(event)))) => self.events.push(event),
                Either2::First(_) | Either2::Second(()) => return Err(Lost),
            }
        }
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn timeout(&self) -> Duration {
        Duration::from_nanos(SILENCE.as_nanos())
    }

    async fn fall_silent(&mut self, halves: u32) -> Result<bool, Lost> {
        self.open(Some(SILENCE)).await?;
        self.context.sleep(VirtualDuration::from_nanos(SILENCE.as_nanos() / 2 * u64::from(halves))).await;
        self.stream()?.send(ZooKeeperMessage::Ping).await.map_err(|_| Lost)?;
        Ok(self.receive().await? == Response::Error(Error::SessionExpired))
    }

    fn now(&self) -> Time {
        history_time(self.context.now())
    }
}
