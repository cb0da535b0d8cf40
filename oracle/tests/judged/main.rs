//! Histories made at random, judged by the crate and by who tries all orders.

mod common;
mod explain;
mod judging;
mod online;
mod search;
mod sources;
