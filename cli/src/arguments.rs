//! What can be said on the command line.

mod check;
mod choice;
mod explore;
mod export;
mod http;
mod numbers;
mod proxy;
mod shards;

use std::num::{NonZeroU8, NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use simutant_mutator::{OtherValue, Selection};
use simutant_outcomes::{CostOracle, CostOracleError, InputSource, Judged};
use simutant_study::{CampaignSettings, ReplacementSet, StudyPlan, SystemRequest};

use crate::exit::{ENVIRONMENT, EXIT_CODES};
use crate::output;
use crate::trace_files::{DiagramFile, TraceFile};

pub(crate) use self::check::CheckArguments;
pub(crate) use self::choice::{BuilderArgument, ChoiceArguments};
pub(crate) use self::explore::ExploreArguments;
pub(crate) use self::export::{ExportArguments, FormatArgument};
pub(crate) use self::http::{HttpArguments, ServerUrl};
use self::numbers::{count, duration};
pub(crate) use self::proxy::ProxyArguments;
pub(crate) use self::shards::{
    ClusterArguments, ClusterScriptArguments, MergeArguments, PlaceArgument, SchedulerArgument, ShardArguments,
    TrialShardArguments,
};

/// Chooses test inputs for a distributed system by means of its simulation, and runs them on real implementations.
#[derive(Debug, Parser)]
#[command(version, after_help = format!("{EXIT_CODES}\n\n{ENVIRONMENT}"), propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Common {
    /// The seed of everything that is drawn: test cases, suites, a network's faults.
    #[arg(long, global = true, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Processes or test cases at a time [default: as many as there are cores].
    #[arg(long, global = true, value_name = "N", value_parser = count::<NonZeroUsize>)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The folder for all written files [default: out/SYSTEM].
    #[arg(long, global = true, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print all that was found out, and not the one screen that says what to do.
    #[arg(long, short, global = true, conflicts_with = "json")]
    pub(crate) verbose: bool,
}

impl Common {
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.jobs.unwrap_or_else(cores)
    }

    pub(crate) fn out(&self, system: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("out").join(system))
    }

    /// Returns the request of a study.
    pub(crate) fn campaign(&self, system: &str) -> CampaignSettings {
        CampaignSettings { out: self.out(system), seed: self.seed, jobs: self.jobs(), program: output::program() }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a first system in a package of your own: a section of its Cargo.toml, and a template to change.
    Init(InitArguments),
    /// Choose inputs: run a universe of test cases on a simulation and on its mutants, rank suites and criteria.
    Study(StudyArguments),
    /// Run a part of a study that was prepared, on any machine: no source and no compiler are needed.
    Shard(ShardArguments),
    /// Take the results of shards into the study that they are parts of.
    Merge(MergeArguments),
    /// Print what to run where no scheduler is supported: GNU parallel over ssh, Kubernetes, GitHub Actions, HyperQueue.
    ClusterScript(ClusterScriptArguments),
    /// Say what a suite of your own takes, covers and kills, beside random suites that take as long or are of its size, and
    /// what it lacks.
    Score(ScoreArguments),
    /// Choose a suite that is adequate for one criterion: the first that is drawn, or with --boost the best of several
    /// by mutant score; or with --time, --target, --inputs, --budget or --builder another suite of the finished study in
    /// --out, as `study` chooses its own.
    Select(SelectArguments),
    /// Choose the criterion whose suites score highest, and the best of its suites, by mutants on the test cases of
    /// these suites alone.
    Rank(RankArguments),
    /// Compare sources of test cases: universes of one size, each of another source, on the same mutants.
    Sources(SourcesArguments),
    /// List every mutant of a simulation with its diff.
    Mutants(MutantsArguments),
    /// Say what the mutation operators do.
    Operators(OperatorsArguments),
    /// Show what kills a mutant, and the first event at which its run differs from the original's.
    Explain(ExplainArguments),
    /// Show a section of what a study, an experiment or a comparison of sources found; without one, list the sections.
    Show(ShowArguments),
    /// Write a finished study in formats of other tools: reports, test code, tables, plots.
    Export(ExportArguments),
    /// Show what changed between two studies: mutants, requirements, scores and suites.
    Diff(DiffArguments),
    /// Record that a mutant is equivalent, or that it can be killed, and why; or list the judgements.
    Judge(JudgeArguments),
    /// Run one test case on a simulation, or on one mutant of it, and print the result.
    Simulate(SimulateArguments),
    /// Run the inputs of a suite on a real implementation, over real sockets behind a lossy proxy.
    Test(TestArguments),
    /// Run the whole universe on real implementations, and see whether mutants predicted what suites and criteria find
    /// there.
    Experiment(ExperimentArguments),
    /// Judge histories: whether a specification can have done what clients saw, and if not, which call shows it.
    Check(CheckArguments),
    /// Explore a coloured Petri net: its state space, its properties, and the tests that follow from it.
    Explore(ExploreArguments),
    /// Test a server of an HTTP service: draw requests, make several at once, and check each answer by a specification.
    Http(HttpArguments),
    /// Forward datagrams and connections between clients and a server as a simulated network does.
    Proxy(ProxyArguments),
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The system's name [default: the package's].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The Cargo.toml of the package [default: the one of this folder or of the nearest one above].
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// Begin with a system whose clients are driven by a state machine, in the simulation and on a real server. Without
    /// this option, test cases are parameters alone.
    #[arg(long)]
    pub(crate) machine: bool,
    /// Begin with a coloured Petri net, from which tests are generated, and an implementation in Python that they run on.
    #[arg(long, conflicts_with = "machine")]
    pub(crate) net: bool,
    /// Begin with an HTTP service, whose servers `simutant http` tests, and a server in Python with a mistake.
    #[arg(long, conflicts_with_all = ["machine", "net"])]
    pub(crate) http: bool,
    /// Put the engine's source into the package's workspace, in third_party/simutant, as a new system does without this
    /// option. In a package that has a system, and without --name, only that is done; a copy that is there is replaced
    /// by this command's.
    #[arg(long, conflicts_with = "no_vendor")]
    pub(crate) vendor: bool,
    /// Depend on the engine's source where it is on this machine: nobody else can build the package then.
    #[arg(long)]
    pub(crate) no_vendor: bool,
}

/// Where a system is, and how it is mutated.
#[derive(Debug, Args)]
pub(crate) struct SystemArguments {
    /// The system's name, as a package's Cargo.toml has it in [package.metadata.simutant.systems].
    pub(crate) system: String,
    /// The Cargo.toml of the package or workspace that has the system [default: the one of this folder, or else
    /// Simutant's own].
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// The mutation operators: names and sets, separated by commas; +NAME adds one, -NAME removes one. The sets are
    /// default, a (as default, without those of messages, time and states), andrews, mujava and all [default: as
    /// the system's Cargo.toml says, or else default].
    #[arg(long, value_name = "LIST", value_parser = Selection::parse, allow_hyphen_values = true)]
    operators: Option<Selection>,
    /// Which replacements a mutation operator makes, if the literature has several sets of them.
    #[arg(long, value_enum, default_value_t = ReplacementsArgument::Reduced)]
    replacements: ReplacementsArgument,
    /// Set a constant of the specification, named by the end of its path, to another value in the build; can be given
    /// several times. No file changes.
    #[arg(long = "constant", value_name = "NAME=VALUE")]
    pub(crate) constants: Vec<OtherValue>,
}

impl SystemArguments {
    /// Returns the request of a study.
    pub(crate) fn request(&self) -> SystemRequest {
        SystemRequest {
            system: self.system.clone(),
            manifest_path: self.manifest_path.clone(),
            operators: self.operators.clone(),
            replacements: match self.replacements {
                ReplacementsArgument::Reduced => ReplacementSet::Reduced,
                ReplacementsArgument::All => ReplacementSet::All,
            },
            constants: self.constants.clone(),
        }
    }

    /// Returns the arguments as a command line, the system first, quoted for a shell.
    pub(crate) fn command_line(&self) -> String {
        self.request().command_line()
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ReplacementsArgument {
    /// Those that subsume the others: three for a relation.
    Reduced,
    /// All: seven for a relation, four for an arithmetic operator.
    All,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    #[command(flatten)]
    pub(crate) universe: UniverseArguments,
    #[command(flatten)]
    pub(crate) reseedings: ReseedingArguments,
    /// The number of adequate suites to build for each criterion.
    #[arg(long, default_value_t = StudyPlan::SUITES as u32, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) suites: u32,
    /// Choose the suite among those of this criterion, instead of the best one; --builder can also build for mutants,
    /// so that the suite kills all that the universe kills.
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: Option<String>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
    /// A file with what test cases took on an implementation: a line for each, with its name, a comma, and seconds. It goes
    /// before what trials in the study's folder say, and that before what the system's Cargo.toml says.
    #[arg(long, value_name = "FILE")]
    pub(crate) durations: Option<PathBuf>,
    /// The maximum number of mutants with pages of their own: first those that survive with other events, then the
    /// analysed ones.
    #[arg(long, default_value_t = StudyPlan::PAGES, value_name = "N")]
    pub(crate) pages: usize,
    /// Also show what a cost oracle kills: runs that pass, but differ in events, messages or virtual time by more than
    /// the given percentage from the original's run of the same test case, for example events=20%,time=50%; or
    /// none. It runs nothing again [default: as the system's Cargo.toml says, or else none].
    #[arg(long, value_name = "LIST", value_parser = cost)]
    pub(crate) cost: Option<CostArgument>,
    /// Count kills by cost as kills, in scores and in the choice.
    #[arg(long)]
    pub(crate) count_cost: bool,
    /// Test cases of your own that join the universe: a file with one, with an array of them or a suite, or a folder of
    /// such files; can be given several times.
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) with: Vec<PathBuf>,
    /// Run no mutant: write a bundle into this folder, from which `simutant shard` runs them in parts on any machines.
    #[arg(long, value_name = "BUNDLE")]
    pub(crate) prepare: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Delete an earlier study in the folder instead of resuming it.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Also compile every mutant as a function of its own, and exclude from the scores those whose machine code is the
    /// original's or another mutant's.
    #[arg(long)]
    pub(crate) compiler_equivalence: bool,
    /// End with exit code 6 if suite.json kills less than this percentage of all mutants, without those known to be
    /// equivalent.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    pub(crate) score_min: Option<f64>,
    /// End with exit code 6 if suite.json kills less than this percentage of the dominator mutants.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    pub(crate) dominator_score_min: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// The suite: a file with one test case, with an array of them or a suite, or a folder of such files; can be given
    /// several times. It is run on the mutants of the finished study in --out, which stays as it is.
    #[arg(long, required = true, value_name = "FILE|DIR")]
    pub(crate) suite: Vec<PathBuf>,
}

/// Reads a percentage, with or without its sign.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    match number.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("give a number from 0 to 100".to_owned()),
    }
}

/// The value of --cost: an oracle, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CostArgument(pub(crate) Option<CostOracle>);

/// Reads a cost oracle, or `none`.
fn cost(text: &str) -> Result<CostArgument, CostOracleError> {
    Ok(CostArgument(if text == "none" { None } else { Some(text.parse()?) }))
}

/// The universe, apart from its seed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct UniverseArguments {
    /// Test cases in the universe [default: as many as the system asks for, or, to choose from, as the study in --out
    /// has]. With more than a study has, it grows, and what was run is kept.
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>)]
    pub(crate) cases: Option<NonZeroUsize>,
    /// Where the test cases of the universe come from: drawn uniformly, from a Latin hypercube (lhs) or a Sobol
    /// sequence, covering all pairs or triples of levels, at boundary values, far from each other (adaptive), or
    /// mutated from those that covered something new (guided); for systems with machines, walks by their weights
    /// (walk), by what was learnt from walks before (bandit), or by pairs of transitions that were seldom taken
    /// (pairs); for systems with a net, the test cases that follow from it (net).
    #[arg(long, value_name = "SOURCE", default_value = InputSource::Uniform.name(), value_parser = source_parser())]
    pub(crate) source: InputSource,
}

/// How often each test case runs.
#[derive(Debug, Args)]
pub(crate) struct ReseedingArguments {
    /// Run each test case up to N times on the mutants, each time but the first with new seeds, to estimate how likely
    /// it kills each. A pair whose first three runs end alike is not run again. With 1, a kill on a
    /// test case's own seed counts as certain, as in Rutherford's thesis.
    #[arg(long, default_value_t = StudyPlan::RESEEDINGS.get(), value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    reseed: u8,
}

impl ReseedingArguments {
    pub(crate) fn count(&self) -> NonZeroU8 {
        NonZeroU8::new(self.reseed).expect("it is 1 at least")
    }
}

/// Takes the name of a source of test cases.
fn source_parser() -> impl TypedValueParser<Value = InputSource> {
    let names = PossibleValuesParser::new(InputSource::ALL.map(InputSource::name));
    names
        .map(|name| InputSource::ALL.into_iter().find(|source| source.name() == name).expect("only names are possible"))
}

#[derive(Debug, Args)]
pub(crate) struct SelectArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    #[command(flatten)]
    pub(crate) universe: UniverseArguments,
    /// The criterion that the suite is adequate for [default: all-uses].
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: Option<String>,
    /// The number of suites to draw; the one with the highest mutant score is chosen.
    #[arg(long, value_name = "M", value_parser = count::<NonZeroUsize>)]
    pub(crate) boost: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RankArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    #[command(flatten)]
    pub(crate) universe: UniverseArguments,
    /// A criterion to rank; can be given several times [default: all].
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: Vec<String>,
    /// The number of suites to draw for each criterion.
    #[arg(long, default_value = "20", value_name = "N", value_parser = count::<NonZeroUsize>)]
    pub(crate) suites: NonZeroUsize,
}

#[derive(Debug, Args)]
pub(crate) struct SourcesArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// Test cases from each source [default: 500].
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>)]
    pub(crate) cases: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) reseedings: ReseedingArguments,
    /// Delete an earlier comparison in the folder instead of resuming it.
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MutantsArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// Also list the mutants that the compiler rejected.
    #[arg(long)]
    pub(crate) rejected: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OperatorsArguments {
    /// Operators to describe in full [default: a list of all].
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// The mutant: its number, or its identity of 16 digits.
    #[arg(value_name = "MUTANT")]
    pub(crate) mutant: String,
    /// The test case: its number in the universe of --seed, or JSON, or a file with JSON [default: one of the
    /// study that shows the mutant best].
    #[arg(long, value_name = "NUMBER|JSON|FILE")]
    pub(crate) case: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The folder of the result.
    #[arg(value_name = "OUT")]
    pub(crate) folder: PathBuf,
    /// The name of a section [default: list all].
    #[arg(value_name = "SECTION")]
    pub(crate) section: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The folder of the earlier study.
    #[arg(value_name = "OUT_BEFORE")]
    pub(crate) before: PathBuf,
    /// The folder of the later study.
    #[arg(value_name = "OUT_AFTER")]
    pub(crate) after: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// The mutant: its number, or its identity of 16 digits.
    #[arg(value_name = "MUTANT", requires = "judged", required_unless_present = "list")]
    pub(crate) mutant: Option<String>,
    /// The judgement.
    #[arg(value_enum, value_name = "JUDGEMENT", requires = "reason")]
    pub(crate) judged: Option<JudgedArgument>,
    /// The reason, for later readers.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// List all judgements of the system, and mark those about code that no longer exists.
    #[arg(long, conflicts_with = "mutant")]
    pub(crate) list: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum JudgedArgument {
    /// No test case can kill it.
    Equivalent,
    /// Some test case could kill it.
    Killable,
}

impl From<JudgedArgument> for Judged {
    fn from(judged: JudgedArgument) -> Self {
        match judged {
            JudgedArgument::Equivalent => Self::Equivalent,
            JudgedArgument::Killable => Self::Killable,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// The test case: its number in the universe of --seed, or JSON, or a file with JSON.
    #[arg(long, value_name = "NUMBER|JSON|FILE")]
    pub(crate) case: String,
    /// Run on the mutant with this number instead of on the original.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) mutant: Option<u32>,
    /// Print every event of the run, a line each; with --json as data.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Draw the message sequence into a file: a page (.html) or a picture (.svg); can be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) diagram: Vec<DiagramFile>,
    /// Write the events into a file: JSON Lines (.jsonl), a packet capture for Wireshark (.pcapng), or a timeline for
    /// ui.perfetto.dev (.perfetto.json); can be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_file: Vec<TraceFile>,
    /// Impose the choices in this file on the run: what the network does, and which of simultaneous events comes first.
    /// --shrink writes such files.
    #[arg(long, value_name = "FILE")]
    pub(crate) choices: Option<PathBuf>,
    /// Look for the smallest test case that fails in the same way, with the fewest faults of the network, and print the
    /// command that runs it.
    #[arg(long, conflicts_with_all = ["diagram", "trace_file"])]
    pub(crate) shrink: bool,
    /// The maximum number of candidates that --shrink tries.
    #[arg(long, default_value_t = 10_000, value_name = "N", requires = "shrink")]
    pub(crate) shrink_runs: u64,
}

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// The suite: a suite.json that a study wrote [default: the first test cases of the universe].
    #[arg(long, value_name = "FILE", conflicts_with = "cases")]
    pub(crate) suite: Option<PathBuf>,
    /// Instead of a suite, the first N test cases of the universe of --seed, as `simulate --case` has them.
    #[arg(long, value_name = "N", default_value = "100", value_parser = count::<NonZeroUsize>)]
    pub(crate) cases: NonZeroUsize,
    /// The implementation: the name of one in the folder `implementations` of the system's package or of those that
    /// come with Simutant, or a TOML file that describes one.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) implementation: String,
    /// A rule of the oracle that the implementation may break, beside those that its file names; can be given several times.
    #[arg(long, value_name = "RULE")]
    pub(crate) waive: Vec<String>,
    /// Run only the test case with this name; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Begin only test cases that are expected to end in this time, for example 60s: that of all jobs together. A suite of
    /// a study is ordered so that each beginning is good for its time.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) time: Option<Duration>,
    /// Begin no test case after the first failure.
    #[arg(long)]
    pub(crate) until_failure: bool,
    /// Run each test case N times, with other fates of datagrams each time, and print how often it fails.
    #[arg(long, default_value_t = NonZeroU32::MIN, value_name = "N", value_parser = count::<NonZeroU32>)]
    pub(crate) repeat: NonZeroU32,
    /// Count test cases as passed even if some of their faults could not be injected [default: they are inconclusive].
    #[arg(long)]
    pub(crate) pass_without_faults: bool,
    /// Start over instead of resuming a stopped run. Results of other programs, as far as the implementation's file names
    /// them, and of another testbed never count.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Keep the private folder of each test case, in kept/IMPLEMENTATION below --out, in place of what an earlier run
    /// kept of it; the summary says where those of test cases are that did not pass.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Also write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// List the test cases that passed with more datagrams than the simulation's maximum by more than this percentage,
    /// for example messages=100%. It changes no verdict.
    #[arg(long, value_name = "LIST")]
    pub(crate) cost: Option<CostOracle>,
    /// The time limit of a test case in seconds; one that exceeds it has failed [default: as the implementation's file
    /// or the system's testbed says, else 30].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ExperimentArguments {
    #[command(flatten)]
    pub(crate) system: SystemArguments,
    /// An implementation: the name of one in the folder `implementations` of the system's package or of those that
    /// come with Simutant, or a TOML file that describes one; can be given several times. Default: all in these
    /// folders, but for those whose file has `on_demand`, that cannot be built or started, that fail on more than 30 of
    /// the first 100 test cases, or, being releases whose test cases take a second or more, on none of them.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) implementation: Vec<String>,
    /// Test cases in the universe, if there is no finished study yet [default: as many as in a study, but at most 2500,
    /// or 1000 where a test case may take longer than a minute].
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>)]
    pub(crate) cases: Option<NonZeroUsize>,
    /// The time limit of a test case in seconds; one that exceeds it has failed [default: as the implementation's file
    /// or the system's testbed says, else 30].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Run each test case N times on each implementation, and count what a suite finds by how likely it does. What was
    /// run before counts as the first repetitions.
    #[arg(long, default_value_t = NonZeroU32::MIN, value_name = "N", value_parser = count::<NonZeroU32>)]
    pub(crate) repeat: NonZeroU32,
    /// Repeat all trials. Those of other programs, as far as the implementation's file names them, and of another
    /// testbed never count.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// How many mutants of each implementation that takes part are tried as well, if its file has a table called
    /// mutants [default: none]. They are drawn by --seed, from as many functions and places as there are,
    /// and stand apart in all results. Left out are those that fail on more than 30 of the first 100 test cases, that
    /// none of these reaches, or, where test cases take a second or more, that none of these shows.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) mutants: usize,
    #[command(flatten)]
    pub(crate) shards: TrialShardArguments,
}
