//! The last stage: the tree is changed or read, and the client is answered.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_oracle::Session;
use simutant_sim_core::{Context, FifoReceiver, VirtualDuration};
use simutant_zookeeper_histories::{Error, Operation, Permissions, Response};

use super::messages::{Transaction, ZooKeeperMessage};
use super::server::{Prepared, State};
use super::tree::{Node, Tree};
use super::watches::{Replies, Watches};

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
                let State { tree, outstanding, watches } = &mut *state.borrow_mut();
                let response = carry_out(tree, watches, session, &transaction);
                outstanding.done(change, &transaction);
                response
            }
            Err(Some(refused)) => refused,
            Err(None) => {
                let State { tree, watches, .. } = &mut *state.borrow_mut();
                answer(tree, watches, session, &operation, &replies)
            }
        };
        replies.send(ZooKeeperMessage::Reply(response));
    }
}

/// Changes the tree, tells who watches what is changed, and answers.
pub(super) fn carry_out(
    tree: &mut Tree,
    watches: &mut Watches,
    session: Session,
    transaction: &Transaction,
) -> Response {
    if let Transaction::Multi(parts) = transaction {
        return Response::Parts(parts.iter().map(|part| carry_out(tree, watches, session, part)).collect());
    }
    watches.fire(tree, transaction);
    tree.apply(transaction);
    match transaction {
        Transaction::Create { path, .. } => Response::Created(path.clone()),
        Transaction::SetData { path, .. } | Transaction::SetAcl { path, .. } => match tree.stat(path, session) {
            Some(stat) => Response::Done.with_stat(stat),
            None => Response::Done,
        },
        Transaction::Delete { .. } | Transaction::Close { .. } | Transaction::Check | Transaction::Multi(_) => {
            Response::Done
        }
    }
}

/// Answers a request that changes nothing, and leaves the watch that it asks for, if it is not refused.
pub(super) fn answer(
    tree: &Tree,
    watches: &mut Watches,
    session: Session,
    operation: &Operation,
    replies: &Replies,
) -> Response {
    let asked = match operation {
        Operation::Watch(asked) => &**asked,
        other => other,
    };
    let response = read(tree, session, asked).unwrap_or_else(Response::Error);
    if matches!(operation, Operation::Watch(_)) && !response.is_error() {
        watches.watch(session, asked, replies);
    }
    response
}

/// Returns the answer to a request that changes nothing. What it needs is checked here.
fn read(tree: &Tree, session: Session, operation: &Operation) -> Result<Response, Error> {
    let path = operation.path().ok_or(Error::BadArguments)?;
    let Some((node, stat)) = tree.node(path).zip(tree.stat(path, session)) else {
        let is_asked = matches!(operation, Operation::Exists { .. });
        return if is_asked { Ok(Response::Exists(false)) } else { Err(Error::NoNode) };
    };
    let answer = match operation {
        Operation::Exists { .. } => Response::Exists(true),
        Operation::GetChildren { .. } => {
            needs(node, session, &[Permissions::READ])?;
            Response::Children(tree.children(path))
        }
        Operation::GetData { .. } => {
            needs(node, session, &[Permissions::READ])?;
            Response::Data(node.data.clone())
        }
        Operation::GetAcl { .. } => {
            needs(node, session, &[Permissions::READ, Permissions::ADMINISTER])?;
            Response::Acl(node.acl.clone())
        }
        Operation::Create { .. }
        | Operation::Delete { .. }
        | Operation::SetData { .. }
        | Operation::SetAcl { .. }
        | Operation::Check { .. }
        | Operation::Multi(_)
        | Operation::Expire
        | Operation::Close => unreachable!("a change is a transaction"),
        Operation::Watch(_) | Operation::Notice | Operation::Connect => {
            unreachable!("no server is asked for it, and a watch is no part of a read")
        }
    };
    Ok(answer.with_stat(stat))
}

/// Refuses a session that has none of some permissions.
fn needs(node: &Node, session: Session, permissions: &[Permissions]) -> Result<(), Error> {
    if permissions.iter().any(|one| node.permits(session, *one)) { Ok(()) } else { Err(Error::NoAuth) }
}
