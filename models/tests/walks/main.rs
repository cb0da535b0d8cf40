//! Walks of machines: graphs of what they cover, and each part of the language.

mod graphs;
mod language;
