//! Tunes the bandit's rewards on machines of the literature, and compares strategies on these and on others: `cargo run
//! --release -p simutant-tuning --example tuning -- DIRECTORY`. It prints tables in Markdown, and writes the Pareto set and
//! its front to the directory, as `front.json`, `front.csv` and `front.svg`. `--quick` does a fraction of it, to see that
//! everything works.

mod tables;
mod zookeeper;

use std::collections::{LinkedList, VecDeque};
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::Context;
use simutant_models::{Bandit, CoverageGuided, Instance, Limits, MachineError, Rewards, Uniform, Weighted};
use simutant_subjects::list::{self, Mistake};
use simutant_subjects::{choose_test, coordinator, garage_door, server_socket};
use simutant_tuning::{Contender, MachineSubject, Nsga2, Row, Subject, Tradeoff, Tuning, compare, tune};

use zookeeper::ZooKeeperSubject;

/// How many tests a suite has.
const TESTS: usize = 50;

/// Where the seeds of the comparison begin: those of the tuning are below.
const FRESH: u64 = 1_000;

fn machine(
    name: &str,
    transitions: usize,
    visits: Option<u32>,
    instance: fn() -> Result<Box<dyn Instance>, MachineError>,
) -> Box<dyn Subject> {
    let limits = Limits { transitions, visits, ..Limits::default() };
    Box::new(MachineSubject::new(name, limits, move || instance().unwrap_or_else(|mistake| panic!("{mistake}"))))
}

/// Returns the rows of walks by weight, where these have as many tests as take the same number of transitions as walks by
/// pairs do, each with the row of the walks by pairs.
fn equal_length(subjects: &[&dyn Subject], rows: &[Row], seeds: Range<u64>, threads: usize) -> Vec<[Row; 2]> {
    let found = |subject: &str, strategy: &str| {
        rows.iter().find(|row| row.subject == subject && row.strategy == strategy).cloned()
    };
    let paired = subjects.iter().filter_map(|subject| {
        let (weighted, pairs) = (found(subject.name(), "weighted")?, found(subject.name(), "pairs")?);
        let tests = TESTS as f64 * pairs.measures[0].mean / weighted.measures[0].mean;
        let contender = [Contender::new("weighted", || Weighted)];
        let rows = compare(&[*subject], &contender, tests.round() as usize, seeds.clone(), threads);
        Some([rows.into_iter().next()?, pairs])
    });
    paired.collect()
}

/// Subjects that rewards are tuned on.
fn training() -> Vec<Box<dyn Subject>> {
    vec![
        machine("ChooseTest", 1_000, Some(2), choose_test::instance),
        machine("garage door", 40, None, || garage_door::instance(garage_door::WAITS)),
        machine("coordinator", 100, None, || coordinator::instance(coordinator::Mistake::AbortsToNoVotersOnly)),
        machine("Vec", 100, None, || list::instance::<Vec<u32>>(Mistake::RemoveSkips)),
        machine("LinkedList", 100, None, || list::instance::<LinkedList<u32>>(Mistake::PreviousForgets)),
    ]
}

/// Subjects that they are not tuned on. Sockets are not only a function of seeds, so they are no subject to tune on.
fn held_out() -> Vec<Box<dyn Subject>> {
    vec![
        machine("server socket", 200, None, server_socket::instance),
        machine("VecDeque", 100, None, || list::instance::<VecDeque<u32>>(Mistake::AddKeepsLast)),
        machine("LinkedList 2", 100, None, || list::instance::<LinkedList<u32>>(Mistake::ClearIsNotCounted)),
        Box::new(ZooKeeperSubject),
    ]
}

#[expect(clippy::print_stdout, reason = "this is the result")]
fn main() -> anyhow::Result<()> {
    let (options, directories): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let is_quick = options.iter().any(|option| option == "--quick");
    let directory = directories.first().map(PathBuf::from);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (training, held_out) = (training(), held_out());
    let (population, generations, seeds, fresh) = if is_quick { (6, 2, 3, 4) } else { (24, 24, 10, 200) };
    let tuning = Tuning {
        tests: TESTS,
        seeds,
        tradeoff: Tradeoff::UpTo(8.0),
        search: Nsga2 { population, generations, ..Nsga2::default() },
        threads,
    };
    let subjects: Vec<&dyn Subject> = training.iter().map(AsRef::as_ref).collect();
    let front = tune(&subjects, &tuning);
    println!("{} candidates that no others dominate\n", front.candidates.len());
    println!("{}", tables::rewards(&front));
    if let Some(directory) = directory {
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        for (name, text) in
            [("front.json", front.to_json()?), ("front.csv", front.to_csv()), ("front.svg", front.to_svg())]
        {
            let file = directory.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
    }

    let seeds = FRESH..FRESH + fresh;
    let subjects: Vec<&dyn Subject> = training.iter().chain(&held_out).map(AsRef::as_ref).collect();
    let modbat = Rewards::default();
    let forward = Rewards { backtracked: 0.0, precondition_failed: 0.0, ..modbat };
    let mut contenders = vec![
        Contender::new("weighted", || Weighted),
        Contender::new("uniform", || Uniform),
        Contender::new("bandit", Bandit::default),
        Contender::new("bandit, no reward to backtrack", move || Bandit::new(forward, 2.0)),
        Contender::new("pairs", CoverageGuided::default),
    ];
    if let Some(best) = front.candidates.first().cloned() {
        contenders.insert(4, Contender::new("bandit, tuned", move || best.bandit()));
    }
    let rows = compare(&subjects, &contenders, TESTS, seeds.clone(), threads);
    println!("{}", tables::comparison(&rows));

    println!("{}", tables::equal_length(&equal_length(&subjects, &rows, seeds, threads)));

    let of_front = front.candidates.iter().enumerate();
    let tuned: Vec<Contender> = of_front
        .map(|(number, candidate)| {
            let candidate = candidate.clone();
            Contender::new(&number.to_string(), move || candidate.bandit())
        })
        .collect();
    // Two hundred suites of each candidate on each subject would tell no more.
    let few = FRESH..FRESH + fresh.min(40);
    println!("{}", tables::of_all(&rows, &compare(&subjects, &tuned, TESTS, few, threads)));
    Ok(())
}
