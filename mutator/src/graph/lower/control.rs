//! Where control is while a function is lowered: in a block, or on its way out of several.

use crate::graph::blocks::BlockId;
use crate::graph::events::EventId;

/// Where control is.
#[derive(Debug)]
pub(super) enum Control {
    /// Inside a block that goes on.
    In(BlockId),
    /// On its way out of these; on no way at all where it cannot be.
    On(Vec<Exit>),
}

impl Control {
    pub(super) fn into_exits(self) -> Vec<Exit> {
        match self {
            Self::In(block) => vec![Exit::of(block)],
            Self::On(exits) => exits,
        }
    }
}

/// An edge whose target is not known yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    pub(super) from: BlockId,
    pub(super) branch: Option<usize>,
    /// What patterns bind on the way.
    pub(super) binding: Option<usize>,
}

impl Exit {
    pub(super) fn of(from: BlockId) -> Self {
        Self { from, branch: None, binding: None }
    }

    pub(super) fn by(from: BlockId, branch: usize) -> Self {
        Self { from, branch: Some(branch), binding: None }
    }
}

/// What a condition leads to.
#[derive(Debug, Default)]
pub(super) struct Decision {
    pub(super) if_true: Vec<Exit>,
    pub(super) if_false: Vec<Exit>,
    /// What its patterns bind if it holds, and no probe has noted yet.
    pub(super) bound_if_true: Vec<EventId>,
    /// Branches that no probe at the condition can note: they are noted where the `true` side begins ...
    pub(super) noted_if_true: Vec<usize>,
    /// ... and where the `false` side begins.
    pub(super) noted_if_false: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Loop {
    pub(super) label: Option<String>,
    /// Where `continue` goes; `None` for a labelled block.
    pub(super) head: Option<BlockId>,
    pub(super) breaks: Vec<Exit>,
}
