//! Runs random scripts of calls on a real ZooKeeper, and judges what the sessions saw:
//! `cargo run --release --package simutant-zookeeper --example scripts -- 10000 2 3 4 5 true true`.
//!
//! Arguments: how many scripts, how many threads run them, how many sessions at most, how many calls a session makes at
//! most, how many of ten calls are asynchronous, `true` if lists of permissions are changed, and `true` if reads leave
//! watches. It prints a line of JSON.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program for people")]
#![expect(clippy::disallowed_methods, reason = "real servers take real time")]

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use simutant_oracle::{Answer, Check, Order};
use simutant_sim_core::Random;
use simutant_zookeeper::testbed::{CallScript, ScriptDomain, Servers, Sessions, TESTBEDS, ZooKeeperHistory};
use simutant_zookeeper_histories::ZooKeeper;

/// How long an answer may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What came of scripts.
#[derive(Debug, Default, serde::Serialize)]
struct Counts {
    scripts: u64,
    calls: usize,
    /// That the specification cannot have done.
    refused: u64,
    /// Of these, that it can have done if permissions may be stale: what ZOOKEEPER-2439 explains.
    stale: u64,
    inconclusive: u64,
    /// What the oracle took, of all threads.
    oracle_s: f64,
    /// What all took, with the oracle.
    total_s: f64,
    /// What the server took to start.
    start_s: f64,
    /// A refused script with fewest calls that was refused again and again.
    smallest: Option<CallScript>,
    /// How often that one was refused, of how many runs.
    shown: (u32, u32),
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scripts, threads, sessions, calls, asynchronous, acls, watches] = &arguments[..] else {
        return Err(
            "give the numbers of scripts, threads, sessions, calls, asynchronous calls of ten, and true or false twice"
                .into(),
        );
    };
    let (scripts, threads): (u64, u64) = (scripts.parse()?, threads.parse()?);
    let domain = ScriptDomain {
        sessions_max: sessions.parse()?,
        calls_max: calls.parse()?,
        asynchronous_of_ten: asynchronous.parse()?,
        changes_acls: acls.parse()?,
        watches: watches.parse()?,
    };
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    let implementations = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    let servers = Servers::start(&TESTBEDS.find("zookeeper", &[implementations])?, folder.path())?;
    let start_s = start.elapsed().as_secs_f64();
    let addresses = servers.addresses();
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let parts = std::thread::scope(|scope| {
        let part = |thread| run(addresses, &domain, thread, &next, scripts);
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("no thread panics")).collect::<Result<Vec<_>, _>>()
    })?;
    let mut counts = Counts { start_s, total_s: start.elapsed().as_secs_f64(), ..Counts::default() };
    for (part, refused) in parts {
        counts.scripts += part.scripts;
        counts.calls += part.calls;
        counts.refused += part.refused;
        counts.stale += part.stale;
        counts.inconclusive += part.inconclusive;
        counts.oracle_s += part.oracle_s;
        if let Some(refused) = refused.filter(|_| counts.smallest.is_none()) {
            (counts.smallest, counts.shown) = shrink(addresses, refused, sessions.parse()?)?;
        }
    }
    println!("{}", serde_json::to_string(&counts)?);
    Ok(())
}

/// Runs every script that no other thread has taken, on sessions of its own. Returns the first one that was refused, too.
fn run(
    addresses: &[SocketAddr],
    domain: &ScriptDomain,
    thread: u64,
    next: &AtomicU64,
    scripts: u64,
) -> Result<(Counts, Option<CallScript>), Failure> {
    let mut sessions = Sessions::connect(addresses, domain.sessions_max, &format!("t{thread}"), TIMEOUT)?;
    let (mut counts, mut first) = (Counts::default(), None);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= scripts {
            return Ok((counts, first));
        }
        let script = CallScript::draw(domain, &mut Random::from_seed(1).stream(&number.to_string()));
        let history = sessions.run(&script)?;
        counts.scripts += 1;
        counts.calls += history.calls().len();
        let start = Instant::now();
        match judge(&history, &ZooKeeper::default()) {
            Answer::Possible { .. } => {}
            Answer::Undecided { .. } => counts.inconclusive += 1,
            Answer::Impossible { .. } => {
                counts.refused += 1;
                let is_stale = matches!(judge(&history, &ZooKeeper::with_stale_permissions()), Answer::Possible { .. });
                counts.stale += u64::from(is_stale);
                if !is_stale {
                    eprintln!("{}\n{history:?}", serde_json::to_string(&script)?);
                }
                first.get_or_insert(script);
            }
        }
        counts.oracle_s += start.elapsed().as_secs_f64();
    }
}

fn judge(history: &ZooKeeperHistory, initial: &ZooKeeper) -> Answer {
    Check { order: Order::ordered_sequential(), ..Check::default() }.run(history, initial).answer
}

type Failure = Box<dyn Error + Send + Sync>;

/// Leaves out one call after the other, as long as what is left is refused in one of some runs. Returns what is left, and
/// how often that is refused, of how many runs.
fn shrink(
    addresses: &[SocketAddr],
    script: CallScript,
    sessions: u64,
) -> Result<(Option<CallScript>, (u32, u32)), Failure> {
    const TRIES: u32 = 20;
    const RUNS: u32 = 200;
    let mut sessions = Sessions::connect(addresses, sessions, "shrink", TIMEOUT)?;
    let mut is_refused = |script: &CallScript| -> Result<bool, Failure> {
        Ok(matches!(judge(&sessions.run(script)?, &ZooKeeper::default()), Answer::Impossible { .. }))
    };
    let mut smallest = script;
    'smaller: loop {
        for shorter in smallest.shorter() {
            for _ in 0..TRIES {
                if is_refused(&shorter)? {
                    smallest = shorter;
                    continue 'smaller;
                }
            }
        }
        break;
    }
    let mut count = 0;
    for _ in 0..RUNS {
        count += u32::from(is_refused(&smallest)?);
    }
    Ok((Some(smallest), (count, RUNS)))
}
