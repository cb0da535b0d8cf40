//! What a recorded run leaves, and how much there can be.

/// How many requirements and mutants the instrumented code has, as reports number them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordingSizes {
    /// Basic blocks.
    pub blocks: usize,
    /// Branches.
    pub branches: usize,
    /// Definition-use pairs.
    pub pairs: usize,
    /// Values of conditions that decide.
    pub conditions: usize,
    /// Mutants; with 0, only coverage is recorded.
    pub mutants: usize,
}

/// What a recorded run did; numbers of reports, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Blocks executed.
    pub blocks: Vec<u32>,
    /// Branches taken.
    pub branches: Vec<u32>,
    /// Definition-use pairs covered.
    pub pairs: Vec<u32>,
    /// Values of conditions that decided.
    pub conditions: Vec<u32>,
    /// Mutants whose place was executed.
    pub reached: Vec<u32>,
    /// Mutants that would have had another value or effect there.
    pub infected: Vec<u32>,
    /// How many definition-use pairs were seen that the mutator does not know: more than 0 is an error of the mutator.
    pub pairs_unlisted: u64,
}
