//! The last stage: the tree is changed or read, and the client is answered.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_oracle::Session;
use simutant_oracle::specifications::zookeeper::{Error, Operation, Permissions, Response};
use simutant_sim_core::{Context, FifoReceiver, VirtualDuration};

use super::messages::ZooKeeperMessage;
use super::server::{Prepared, State};
use super::tree::{Node, Tree};

/// Does what comes, one after the other, each of which takes some time.
pub(super) async fn apply(
    context: Context<ZooKeeperMessage>,
    mut logged: FifoReceiver<Prepared>,
    state: Rc<RefCell<State>>,
    takes: VirtualDuration,
) {
    while let Some(Prepared { session, operation, work, replies }) = logged.recv().await {
        context.pause(takes).await;
        let response = match work {
            Ok((change, transaction)) => {
                let State { tree, outstanding } = &mut *state.borrow_mut();
                tree.apply(&transaction);
                outstanding.done(change, &transaction);
                Response::Done
            }
            Err(Some(error)) => Response::Error(error),
            Err(None) => read(&state.borrow().tree, session, &operation).unwrap_or_else(Response::Error),
        };
        replies.send(response);
    }
}

/// Answers a request that changes nothing. What it needs is checked here.
fn read(tree: &Tree, session: Session, operation: &Operation) -> Result<Response, Error> {
    let path = operation.path();
    let node = tree.node(path).ok_or(Error::NoNode);
    match operation {
        Operation::Exists { .. } => Ok(Response::Exists(node.is_ok())),
        Operation::GetChildren { .. } => {
            readable(node?, session)?;
            Ok(Response::Children(tree.children(path)))
        }
        Operation::GetData { .. } => Ok(Response::Data(readable(node?, session)?.data.clone())),
        Operation::GetAcl { .. } => Ok(Response::Acl(node?.acl.clone())),
        Operation::Create { .. } | Operation::Delete { .. } | Operation::SetData { .. } | Operation::SetAcl { .. } => {
            unreachable!("a change is a transaction")
        }
    }
}

fn readable(node: &Node, session: Session) -> Result<&Node, Error> {
    if node.permits(session, Permissions::READ) { Ok(node) } else { Err(Error::NoAuth) }
}
