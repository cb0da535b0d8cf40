//! Walks of machines: graphs of what they cover, the subjects of the papers, and each part of the language.

mod graphs;
mod language;
mod subjects;
