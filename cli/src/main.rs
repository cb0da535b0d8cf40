//! The `simutant` command: reads arguments, calls the libraries, prints. What a library user would miss is not here.

mod arguments;
mod build;
mod check;
mod choice;
mod cluster;
mod constants;
mod diff;
mod exit;
mod experiment;
mod explain;
mod explore;
mod export;
mod given;
mod http;
mod implementations;
mod init;
mod interrupt;
mod judge;
mod merge;
mod mutants;
mod operators;
mod output;
mod progress;
mod proxy;
mod score;
mod select;
mod shard;
mod show;
mod shrink;
mod simulate;
mod sources;
mod stages;
mod study;
mod test;
mod trace_files;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let common = &arguments.common;
    let result = match &arguments.command {
        Command::Init(arguments) => init::run(arguments, common),
        Command::Study(arguments) => study::run(arguments, common),
        Command::Shard(arguments) => shard::run(arguments, common),
        Command::Merge(arguments) => merge::run(arguments, common),
        Command::ClusterScript(arguments) => cluster::script(arguments),
        Command::Score(arguments) => score::run(arguments, common),
        Command::Select(arguments) => select::select(arguments, common),
        Command::Rank(arguments) => select::rank(arguments, common),
        Command::Sources(arguments) => sources::run(arguments, common),
        Command::Mutants(arguments) => mutants::run(arguments, common),
        Command::Operators(arguments) => operators::run(arguments, common),
        Command::Explain(arguments) => explain::run(arguments, common),
        Command::Diff(arguments) => diff::run(arguments, common),
        Command::Show(arguments) => show::run(arguments, common),
        Command::Export(arguments) => export::run(arguments, common),
        Command::Judge(arguments) => judge::run(arguments, common),
        Command::Simulate(arguments) => simulate::run(arguments, common),
        Command::Test(arguments) => test::run(arguments, common),
        Command::Experiment(arguments) => experiment::run(arguments, common),
        Command::Check(arguments) => check::run(arguments, common),
        Command::Explore(arguments) => explore::run(arguments, common),
        Command::Http(arguments) => http::run(arguments, common),
        Command::Proxy(arguments) => proxy::run(arguments, common),
    };
    let exit = result.unwrap_or_else(|error| {
        let exit = Exit::of(&error);
        output::tell_error(&error);
        exit
    });
    exit.into()
}
