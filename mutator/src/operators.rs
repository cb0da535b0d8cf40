//! The mutation operators. Each stands in a file of its own, with its definition and its source.
//!
//! An operator looks at one place in a function and proposes changes. It needs no types: what does not type-check is
//! rejected by the compiler later. What it may know beside the place is in the [`Context`]: the signature, what the
//! package declares, and what names are for. A new operator is one file, its `mod` line and one line in [`ALL`].
//! Two make no changes at a place: HOM takes those of others, and CVR, which is about constants, shows at many places.
//!
//! Operators of tier A are those of the literature on adequacy. Those of tier B make the faults that distributed
//! systems have, where the names of a specification show what code is for. Those of tier C are made when they are asked
//! for.

mod argument;
mod arithmetic;
mod arm;
mod assignment;
mod await_deletion;
mod await_timeout;
mod call;
mod capacity;
mod conditional;
mod constant;
mod delay;
mod deletion;
mod description;
mod durable;
mod higher_order;
mod increment;
mod jump;
mod literal;
mod lock;
mod logical;
mod message_deletion;
mod message_duplication;
mod message_target;
mod message_variant;
mod negation;
mod net_arc;
mod operand_deletion;
mod operator;
mod operator_deletion;
mod petri_net;
mod pieces;
mod probability;
mod race;
mod range;
mod relational;
mod retry;
mod returned;
mod selection;
mod shift;
mod spawner;
mod state;
mod tie;
mod timer_arming;
mod timer_cancelling;
mod unary_insertion;

pub(crate) use constant::{CONSTANT, integers, values};
pub use description::{OperatorDescription, descriptions};
pub(crate) use higher_order::{HIGHER_ORDER, partner};
pub use operator::Replacements;
pub(crate) use operator::{Change, Context, Infection, Operator, Place};
pub(crate) use pieces::{is_reset, last_name};
pub use selection::{Selection, UnknownOperator};
pub(crate) use spawner::Spawner;

/// All operators. Of two that make the same mutant, the one of tier B is the more telling, and that of tier C
/// the less; among equals it is the one that stands first.
pub(crate) const ALL: &[Operator] = &[
    arithmetic::ARITHMETIC_OPERATOR_REPLACEMENT,
    relational::RELATIONAL_OPERATOR_REPLACEMENT,
    conditional::CONDITIONAL_OPERATOR_REPLACEMENT,
    negation::CONDITION_NEGATION,
    logical::LOGICAL_OPERATOR_REPLACEMENT,
    shift::SHIFT_OPERATOR_REPLACEMENT,
    literal::LITERAL_VALUE_REPLACEMENT,
    deletion::STATEMENT_DELETION,
    assignment::ASSIGNMENT_OPERATOR_REPLACEMENT,
    returned::RETURN_VALUE_REPLACEMENT,
    arm::MATCH_ARM_DELETION,
    jump::BREAK_CONTINUE_REPLACEMENT,
    range::RANGE_REPLACEMENT,
    message_deletion::MESSAGE_DELETION,
    message_duplication::MESSAGE_DUPLICATION,
    message_target::MESSAGE_TARGET_REPLACEMENT,
    message_variant::MESSAGE_VARIANT_REPLACEMENT,
    timer_arming::TIMER_ARMING_DELETION,
    timer_cancelling::TIMER_CANCELLING_DELETION,
    retry::RETRY_REPLACEMENT,
    delay::DELAY_REPLACEMENT,
    await_timeout::AWAIT_TIMEOUT_REPLACEMENT,
    await_deletion::AWAIT_DELETION,
    race::RACE_REPLACEMENT,
    tie::TIE_REVERSAL,
    probability::PROBABILITY_REPLACEMENT,
    state::STATE_REPLACEMENT,
    durable::DURABLE_VALUE_LOSS,
    net_arc::NET_ARC_REPLACEMENT,
    call::CALL_REPLACEMENT,
    argument::ARGUMENT_SWAP,
    operand_deletion::OPERAND_DELETION,
    operand_deletion::VARIABLE_DELETION,
    operand_deletion::CONSTANT_DELETION,
    unary_insertion::UNARY_OPERATOR_INSERTION,
    increment::INCREMENT_INSERTION,
    unary_insertion::NEGATION_INSERTION,
    unary_insertion::COMPLEMENT_INSERTION,
    operator_deletion::CONDITIONAL_OPERATOR_DELETION,
    operator_deletion::LOGICAL_OPERATOR_DELETION,
    operator_deletion::ARITHMETIC_OPERATOR_DELETION,
    arithmetic::BINARY_ARITHMETIC_REPLACEMENT,
    assignment::SHORTCUT_ASSIGNMENT_REPLACEMENT,
    capacity::CAPACITY_REPLACEMENT,
    lock::LOCK_REPLACEMENT,
    petri_net::PETRI_NET_REPLACEMENT,
    CONSTANT,
    HIGHER_ORDER,
];

#[cfg(test)]
mod tests;
