//! The arguments of `simutant check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use simutant_campaign::Shard;
use simutant_oracle::formats::Format;
use simutant_oracle::judging::NamedOrder;
use simutant_oracle::{Compared, Filter, Scope, Strategy};

use super::numbers::{duration, with_unit};
use crate::trace_files::DiagramFile;

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Files with histories; - reads the standard input.
    #[arg(required = true, value_name = "HISTORY")]
    pub(crate) histories: Vec<PathBuf>,
    /// What the histories are of: register, key-value-store, mutex, lease, counter, set, queue, stack, priority-queue,
    /// unordered-queue, log, unique-ids or bank; or a specification of a package, which its Cargo.toml names in
    /// [package.metadata.simutant.specifications]: of your own, or of Simutant's systems, such as zookeeper.
    #[arg(long, value_name = "NAME")]
    pub(crate) specification: String,
    /// Give each key a service of its own, such as a register: calls have a key, or [key value]. A specification of a
    /// package has keys if its type is Keyed<...>.
    #[arg(long)]
    pub(crate) keyed: bool,
    /// The state that the service begins in, as JSON or a file with JSON. Its form is the specification's: the balances
    /// of a bank, {"alice":10,"bob":5}; {"absent":"empty"} for a key-value store that answers with an empty text where
    /// a key has no value [default: an empty service].
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) initial: Option<String>,
    /// The Cargo.toml of the package or workspace that has the specification [default: the one of this folder, if
    /// Simutant has no specification of the name].
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// What may be assumed of the order in which the service took the calls.
    #[arg(long, value_enum, default_value_t = OrderArgument::Linearizability, value_name = "ORDER")]
    pub(crate) order: OrderArgument,
    /// Also assume that a call with a smaller revision was taken before one with a larger revision.
    #[arg(long)]
    pub(crate) revisions: bool,
    /// What has to be explained: all answers by one order, or each answer by an order of its own, which is less and may
    /// miss what is wrong.
    #[arg(long, value_enum, default_value_t = ScopeArgument::History, value_name = "SCOPE")]
    pub(crate) scope: ScopeArgument,
    /// With --scope simple or strict: which calls are left out of the explanation of an answer. In simple checking
    /// nothing but the cost depends on it; in strict checking the answers of these calls are not compared there
    /// [default: none].
    #[arg(long, value_enum, value_name = "FILTER")]
    pub(crate) filter: Option<FilterArgument>,
    /// The format of the files: json-lines, jepsen-edn, jepsen-json, jepsen-log, limo or polylin [default: the one that
    /// the content of each file or its name tells].
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), hide_possible_values = true)]
    pub(crate) format: Option<Format>,
    /// How the orders of a history are searched. The answer does not depend on it, only the cost.
    #[arg(long, value_enum, default_value_t = StrategyArgument::JustInTime, value_name = "STRATEGY")]
    pub(crate) strategy: StrategyArgument,
    /// Also ask an SMT solver, z3 or cvc5, whichever is installed: a second judge, which shares no search with the first.
    /// It has a minute for each history, or what --time says, and takes histories of up to 200 calls.
    #[arg(long)]
    pub(crate) smt: bool,
    /// The maximum number of steps of the specification that the check of a history takes [default: any number].
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// The maximum of memory that the check of a history takes, with a unit: B, KiB, MiB, GiB, kB, MB or GB. As many
    /// checks run at a time as --jobs says.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    pub(crate) memory: usize,
    /// The maximum time that the check of a history takes, with the explanation of a failure, with a unit: ms, s, min or
    /// h [default: any time].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    /// A history in which no call was answered is inconclusive. By default it is possible, with a warning: any service can
    /// have done nothing.
    #[arg(long)]
    pub(crate) require_answers: bool,
    /// Draws a history: a lane for each session, a bar for each call, the order that explains them, and where it breaks.
    /// The file's name ends in .html (a page to look around in) or .svg (a picture to print; of more than 200 calls, it
    /// shows those around the core). Of several histories it shows the first that is impossible, or else the first.
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<DiagramFile>,
    /// Check part K of N of the histories alone, counted from 0: every N-th one. With --json, --judged takes what it
    /// prints.
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<Shard>,
    /// Take what --json printed of these histories, as of parts that other machines checked, and check the others. A
    /// specification of your own must be the same there.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["shard", "picture"])]
    pub(crate) judged: Vec<PathBuf>,
}

/// What may be assumed of the order of calls.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OrderArgument {
    /// A call that ended before another one began was taken before it.
    Linearizability,
    /// The calls of each session were taken in their order.
    Sequential,
    /// The calls of each session in their order, and the synchronous calls of all sessions in theirs.
    OrderedSequential,
}

impl From<OrderArgument> for NamedOrder {
    fn from(order: OrderArgument) -> Self {
        match order {
            OrderArgument::Linearizability => Self::Linearizability,
            OrderArgument::Sequential => Self::Sequential,
            OrderArgument::OrderedSequential => Self::OrderedSequential,
        }
    }
}

/// What has to be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArgument {
    /// All answers, by one order.
    History,
    /// Each answer by an order of its own, in which no other answer is compared.
    Simple,
    /// Each answer by an order of its own, in which those of the other calls are compared, too.
    Strict,
}

/// Which calls are left out where each answer is explained by itself.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FilterArgument {
    /// None.
    None,
    /// Those that change nothing.
    Weak,
    /// All that cannot change what the answer depends on, not even through other calls.
    Strong,
}

impl ScopeArgument {
    /// Returns the scope, or `None` if there is a filter and the scope has none.
    pub(crate) fn with(self, filter: Option<FilterArgument>) -> Option<Scope> {
        let compared = match self {
            Self::History => return filter.is_none().then_some(Scope::History),
            Self::Simple => Compared::Target,
            Self::Strict => Compared::All,
        };
        let filter = match filter {
            None | Some(FilterArgument::None) => Filter::None,
            Some(FilterArgument::Weak) => Filter::Reads,
            Some(FilterArgument::Strong) => Filter::Unrelated,
        };
        Some(Scope::EachCall { compared, filter })
    }
}

/// How the orders of a history are searched.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StrategyArgument {
    /// Depth first, calls in the order of their ends, with all reductions: the fastest.
    JustInTime,
    /// Depth first, calls in the order of their ends.
    AnswerOrder,
    /// Depth first, calls in the order of their invocations.
    CallOrder,
    /// Depth first, calls of one session after those of another.
    DepthFirst,
    /// Breadth first.
    BreadthFirst,
}

impl From<StrategyArgument> for Strategy {
    fn from(strategy: StrategyArgument) -> Self {
        match strategy {
            StrategyArgument::JustInTime => Self::JustInTime,
            StrategyArgument::AnswerOrder => Self::AnswerOrder,
            StrategyArgument::CallOrder => Self::CallOrder,
            StrategyArgument::DepthFirst => Self::DepthFirst,
            StrategyArgument::BreadthFirst => Self::BreadthFirst,
        }
    }
}

/// Takes the name of a format of histories.
fn format_parser() -> impl TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(Format::ALL.map(Format::name));
    names.map(|name| Format::ALL.into_iter().find(|format| format.name() == name).expect("only names are possible"))
}

/// Reads a size with its unit.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    const UNITS: [(&str, u64); 7] = [
        ("B", 1),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    with_unit(text, &UNITS)
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| "give a whole number with a unit, for example 512MiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("3 kB"), Ok(3000));
        for text in ["", "1024", "GiB", "20000000000000GiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
