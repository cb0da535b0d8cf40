//! Walks of machines: the subjects of the papers, and each part of the language.

mod language;
mod subjects;
