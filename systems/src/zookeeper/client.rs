//! A connection to the simulated server, as clients have it.

use std::rc::Rc;

use simutant_oracle::specifications::zookeeper::{Operation, Response};
use simutant_oracle::{Session, Time};
use simutant_sim_core::{Address, Context, Either2, Stream, VirtualDuration, select};
use simutant_system::history_time;

use super::machine::{Lost, Service};
use super::messages::ZooKeeperMessage;

/// How long a client waits for a reply before it takes the connection for lost.
const TIMEOUT: VirtualDuration = VirtualDuration::from_secs(4);

/// A connection.
pub(super) struct Connection {
    context: Rc<Context<ZooKeeperMessage>>,
    stream: Stream<ZooKeeperMessage>,
}

impl Connection {
    /// Connects as a session.
    pub(super) async fn open(
        context: Rc<Context<ZooKeeperMessage>>,
        server: Address,
        session: Session,
    ) -> Result<Self, Lost> {
        let mut stream = context.connect(server, TIMEOUT).await.map_err(|_| Lost)?;
        stream.send(ZooKeeperMessage::Open(session)).await.map_err(|_| Lost)?;
        Ok(Self { context, stream })
    }
}

impl Service for Connection {
    async fn send(&mut self, operation: &Operation) -> Result<(), Lost> {
        self.stream.send(ZooKeeperMessage::Request(operation.clone())).await.map_err(|_| Lost)
    }

    async fn receive(&mut self) -> Result<Response, Lost> {
        match select((self.stream.recv(), self.context.sleep(TIMEOUT))).await {
            Either2::First(Ok(Some(ZooKeeperMessage::Reply(response)))) => Ok(response),
            Either2::First(_) | Either2::Second(()) => Err(Lost),
        }
    }

    fn now(&self) -> Time {
        history_time(self.context.now())
    }
}
