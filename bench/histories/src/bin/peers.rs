//! Histories of two folders, `etcd` and `kv`, checked by Simutant's oracle and by its peers.
//!
//! `peers FOLDER ROUNDS` prints a JSON object. Each checker checks each file once a round, in turns, and the least time
//! of a file counts, since what else a machine does can only make it longer. Files are read beforehand. Verdicts come
//! from `etcd/verdicts.txt`, a file name and `true` or `false` a line, and from the names of the files of `kv`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use porcupine_rs::{CheckResult, Model, Operation as PorcupineOperation, check_operations_timeout};
use serde::Serialize;
use simutant_oracle::formats::{self, Value};
use simutant_oracle::specifications::{KeyValueStore, Register, register, store};
use simutant_oracle::{Answer, Budget, Check, End, History};
use todc_utils::linearizability::WGLChecker;
use todc_utils::specifications::etcd::{EtcdSpecification, history_from_log};

type RegisterHistory = History<register::Operation<Value>, register::Response<Value>>;
type StoreHistory = History<store::Operation, store::Response>;
type Error = Box<dyn std::error::Error>;

/// When a peer that does not end is given up, of which it then cannot be the best.
const PATIENCE: Duration = Duration::from_secs(60);

/// A register as porcupine-rs is told of it.
#[derive(Debug, Clone)]
struct PorcupineRegister;

impl Model for PorcupineRegister {
    type State = Option<Value>;
    /// The operation, and what was answered if that is known.
    type Op = (register::Operation<Value>, Option<register::Response<Value>>);
    type Metadata = ();

    fn init() -> Option<Value> {
        None
    }

    fn step(state: &Option<Value>, (operation, response): &Self::Op) -> (bool, Option<Value>) {
        use register::{Operation, Response};
        match operation {
            Operation::Read => {
                let agrees = response
                    .as_ref()
                    .is_none_or(|response| matches!(response, Response::Value(value) if value == state));
                (agrees, state.clone())
            }
            Operation::Write(value) => (true, Some(value.clone())),
            Operation::CompareAndSet { from, to } => {
                let is_equal = state.as_ref() == Some(from);
                let agrees = response.as_ref().is_none_or(|response| *response == Response::Compared(is_equal));
                (agrees, if is_equal { Some(to.clone()) } else { state.clone() })
            }
        }
    }
}

/// A store as porcupine-rs is told of it, one key at a time.
#[derive(Debug, Clone)]
struct PorcupineStore;

impl Model for PorcupineStore {
    type State = String;
    type Op = (store::Operation, Option<store::Response>);
    type Metadata = ();

    fn partition_operations(history: &[PorcupineOperation<Self>]) -> Vec<Vec<PorcupineOperation<Self>>> {
        let mut keys: BTreeMap<String, Vec<PorcupineOperation<Self>>> = BTreeMap::new();
        for operation in history {
            let (store::Operation::Get { key }
            | store::Operation::Put { key, .. }
            | store::Operation::Append { key, .. }
            | store::Operation::CompareAndSet { key, .. }
            | store::Operation::Delete { key }) = &operation.op.0;
            keys.entry(key.to_string()).or_default().push(operation.clone());
        }
        keys.into_values().collect()
    }

    fn init() -> String {
        String::new()
    }

    fn step(state: &String, (operation, response): &Self::Op) -> (bool, String) {
        match operation {
            store::Operation::Get { .. } => {
                let agrees = response.as_ref().is_none_or(
                    |response| matches!(response, store::Response::Value(Some(value)) if value.as_str() == state),
                );
                (agrees, state.clone())
            }
            store::Operation::Put { value, .. } => (true, value.to_string()),
            store::Operation::Append { value, .. } => (true, format!("{state}{value}")),
            store::Operation::CompareAndSet { .. } | store::Operation::Delete { .. } => {
                unreachable!("the histories have none")
            }
        }
    }
}

/// Returns a history in the form of porcupine-rs. Moments are the lines of the file.
fn porcupine<M, O, R>(history: &History<O, R>) -> Vec<PorcupineOperation<M>>
where
    M: Model<Op = (O, Option<R>)>,
    O: Clone,
    R: Clone,
{
    let at = |moment: simutant_oracle::Moment| moment.event.map_or(i64::MAX, |event| event as i64);
    history
        .calls()
        .iter()
        .filter(|call| !matches!(call.end, End::DidNotHappen { .. }))
        .map(|call| PorcupineOperation {
            client_id: u32::try_from(call.session.0).ok(),
            call_time: at(call.invoked),
            return_time: call.end.at().map_or(i64::MAX, at),
            op: (call.operation.clone(), call.end.response().cloned()),
            metadata: None,
        })
        .collect()
}

/// What was found out about a file, in the least of the rounds.
#[derive(Debug, Serialize)]
struct Measured {
    file: String,
    expected: bool,
    /// By checker: seconds, and the verdict, `null` if there is none.
    checked: BTreeMap<&'static str, (f64, Option<bool>)>,
}

impl Measured {
    fn take(&mut self, checker: &'static str, check: impl FnOnce() -> Option<bool>) {
        let started = Instant::now();
        let verdict = black_box(check());
        let seconds = started.elapsed().as_secs_f64();
        let entry = self.checked.entry(checker).or_insert((seconds, verdict));
        entry.0 = entry.0.min(seconds);
        assert_eq!(entry.1, verdict, "{checker} changes its mind on {}", self.file);
    }
}

fn verdict(answer: &Answer) -> Option<bool> {
    match answer {
        Answer::Possible { .. } => Some(true),
        Answer::Impossible { .. } => Some(false),
        Answer::Undecided { .. } => None,
    }
}

fn of_porcupine(result: CheckResult) -> Option<bool> {
    match result {
        CheckResult::Ok => Some(true),
        CheckResult::Illegal => Some(false),
        CheckResult::Unknown => None,
    }
}

const SIMUTANT: &str = "simutant";
const UNPARTITIONED: &str = "simutant, not partitioned";
const PORCUPINE: &str = "porcupine-rs";
const TODC: &str = "todc-utils";

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(rounds)) = (arguments.next(), arguments.next()) else {
        return Err("usage: peers FOLDER ROUNDS".into());
    };
    let (folder, rounds) = (Path::new(&folder), rounds.parse::<u32>()?);
    let etcd = etcd(&folder.join("etcd"), rounds)?;
    let kv = kv(&folder.join("kv"), rounds)?;
    println!("{}", serde_json::json!({ "etcd": etcd, "kv": kv }));
    Ok(())
}

fn etcd(folder: &Path, rounds: u32) -> Result<Vec<Measured>, Error> {
    let mut files: Vec<(Measured, RegisterHistory, Vec<PorcupineOperation<PorcupineRegister>>, String)> = Vec::new();
    for line in std::fs::read_to_string(folder.join("verdicts.txt"))?.lines() {
        let Some((name, expected)) = line.split_once(char::is_whitespace) else { continue };
        let path = folder.join(name);
        let text = std::fs::read(&path)?;
        let format = formats::detect(Some(&path), &text).ok_or("no known format")?;
        let history = formats::read::<Register<Value>>(format, &text[..])?;
        let measured = Measured { file: name.to_owned(), expected: expected.trim().parse()?, checked: BTreeMap::new() };
        let path = path.to_str().ok_or("the path is not text")?.to_owned();
        let operations = porcupine::<PorcupineRegister, _, _>(&history);
        files.push((measured, history, operations, path));
    }
    for _ in 0..rounds {
        for (measured, history, operations, path) in &mut files {
            measured.take(SIMUTANT, || verdict(&Check::default().run(history, &Register::default()).answer));
            measured.take(PORCUPINE, || of_porcupine(check_operations_timeout(operations, PATIENCE)));
            let history = history_from_log(path.clone());
            measured.take(TODC, || Some(WGLChecker::<EtcdSpecification>::is_linearizable(history)));
        }
    }
    Ok(files.into_iter().map(|file| file.0).collect())
}

fn kv(folder: &Path, rounds: u32) -> Result<Vec<Measured>, Error> {
    let mut files: Vec<(Measured, StoreHistory, Vec<PorcupineOperation<PorcupineStore>>)> = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Error>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_stem().and_then(|name| name.to_str()).ok_or("the name is not text")?.to_owned();
        let text = std::fs::read(&path)?;
        let format = formats::detect(Some(&path), &text).ok_or("no known format")?;
        let history = formats::read::<KeyValueStore>(format, &text[..])?;
        let operations = porcupine::<PorcupineStore, _, _>(&history);
        let expected = name.ends_with("ok");
        files.push((Measured { file: name, expected, checked: BTreeMap::new() }, history, operations));
    }
    let initial = KeyValueStore::new(store::Absent::Empty);
    for _ in 0..rounds {
        for (measured, history, operations) in &mut files {
            measured.take(SIMUTANT, || verdict(&Check::default().run(history, &initial).answer));
            // All keys at once is what nobody else could do with fifty clients.
            let budget = Budget { steps: Some(20_000_000), ..Budget::default() };
            let whole = Check { is_partitioned: false, budget, ..Check::default() };
            if !measured.file.starts_with("c50") {
                measured.take(UNPARTITIONED, || verdict(&whole.run(history, &initial).answer));
            }
            measured.take(PORCUPINE, || of_porcupine(check_operations_timeout(operations, PATIENCE)));
        }
    }
    Ok(files.into_iter().map(|file| file.0).collect())
}
