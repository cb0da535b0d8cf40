//! Errors: why a file is not read, or a net not unfolded.

/// Why a file is not read. Each names the line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not well-formed XML, or nested too deeply.
    #[error("line {line}: damaged XML ({problem}); export the net again from the tool that wrote it")]
    Xml {
        /// The line, from 1 on.
        line: u32,
        /// The problem, in words.
        problem: String,
    },
    /// An element or an attribute has a meaning that is unknown here. Nothing is left out silently.
    #[error("line {line}: `{element}` is not supported; {advice}")]
    Unsupported {
        /// The line, from 1 on.
        line: u32,
        /// The element, or the attribute of it.
        element: String,
        /// What can be done.
        advice: &'static str,
    },
    /// A part of an element is missing.
    #[error("line {line}: `{element}` has no {part}; add it, or export the net again")]
    Missing {
        /// The line, from 1 on.
        line: u32,
        /// The element.
        element: String,
        /// The part, in words.
        part: &'static str,
    },
    /// A value is not one of those that are allowed.
    #[error("line {line}: `{element}` has the value `{value}`; use {expected}")]
    Value {
        /// The line, from 1 on.
        line: u32,
        /// The element.
        element: String,
        /// The value.
        value: String,
        /// The allowed values, in words.
        expected: &'static str,
    },
    /// A reference leads nowhere, or to itself.
    #[error("line {line}: `{element}` refers to `{id}`, which is {problem}; declare it, or correct the reference")]
    Reference {
        /// The line, from 1 on.
        line: u32,
        /// The element.
        element: String,
        /// The identifier.
        id: String,
        /// The problem, in words.
        problem: &'static str,
    },
    /// An identifier is given twice.
    #[error("line {line}: `{element}` has the id `{id}` of another one; rename one of them")]
    Twice {
        /// The line, from 1 on.
        line: u32,
        /// The element.
        element: String,
        /// The identifier.
        id: String,
    },
    /// A term has another sort than its place in the net asks for.
    #[error("line {line}: `{element}` is {found}, where {expected} is needed; correct the term or the declared sort")]
    Sort {
        /// The line, from 1 on.
        line: u32,
        /// The element.
        element: String,
        /// What the term is, in words.
        found: String,
        /// What it has to be, in words.
        expected: String,
    },
}

/// Why a net is not unfolded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfoldError {
    /// The initial marking of a place subtracts tokens that it does not have.
    #[error("place `{place}`: the initial marking subtracts tokens that are not there; correct the term")]
    NegativeMarking {
        /// The place.
        place: String,
    },
    /// A count of tokens does not fit into 64 bits.
    #[error("`{element}` has a term with more than 2^64 - 1 equal tokens; use smaller numbers")]
    TooManyTokens {
        /// The place or the transition.
        element: String,
    },
    /// A term has too many different tokens.
    #[error("`{element}` has a term with more than {limit} different tokens; use smaller sorts")]
    TooManyColours {
        /// The place or the transition.
        element: String,
        /// The limit.
        limit: u64,
    },
    /// A transition has too many bindings.
    #[error(
        "transition `{transition}` has more than {limit} bindings to try; use smaller sorts, or equalities in the guard"
    )]
    TooManyBindings {
        /// The transition.
        transition: String,
        /// The limit.
        limit: u64,
    },
    /// The unfolded net has too many places.
    #[error("the unfolded net has more than 2^32 - 1 places; use smaller sorts")]
    TooManyPlaces,
}
