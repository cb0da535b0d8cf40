//! Containers that files of other tools are of.

use super::error::{HistoryError, Place};
use super::vocabulary::Vocabulary;

pub(super) const PRIORITY_QUEUE: &str = "priority-queue";
pub(super) const QUEUE: &str = "queue";
pub(super) const REGISTER: &str = "register";
pub(super) const SET: &str = "set";
pub(super) const STACK: &str = "stack";

/// Checks that a file of a container, which has these operations, is read for a specification of it. A specification
/// that says nothing of containers needs to know the operations.
pub(super) fn check<S: Vocabulary>(
    place: Place,
    container: &str,
    mut operations: impl Iterator<Item = &'static str>,
) -> Result<(), HistoryError> {
    let is_of_it = match S::CONTAINERS {
        [] => operations.all(|operation| S::OPERATIONS.contains(&operation)),
        containers => containers.contains(&container),
    };
    if is_of_it {
        return Ok(());
    }
    let message = format!("the history is of a {container}, and {} is asked for", S::NAME);
    Err(place.error(message, format!("choose the specification `{container}`")))
}
