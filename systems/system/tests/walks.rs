//! Systems whose clients are driven by machines.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use simutant_models::{Limits, Machine, Step, skip, transition};
use simutant_random::Random;
use simutant_sim_core::{Address, Channel, Context, Message, Simulation, VirtualDuration, trace};
use simutant_system::{
    BlackBoxCriterion, Domain, InputSource, InvalidTestCase, System, TraceCriterion, Universe, Walk, Walks, criteria,
    universe,
};

/// Asks for a lock, or gives it back; the answer is whether that was possible.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum LockMessage {
    Take,
    GiveBack,
    Answer(bool),
}

impl Message for LockMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Take => "TAKE",
            Self::GiveBack => "GIVE BACK",
            Self::Answer(_) => "ANSWER",
        }
    }
}

/// Clients of a lock, which nobody else gives back.
struct Locks;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TestCase {
    clients: [Walk; 2],
    seed: u64,
}

const WALKS: Walks = Walks { steps: 0..=12, choices: 1 };

async fn server(context: Context<LockMessage>) {
    let mut channel = context.channel_at(1);
    let mut holder: Option<Address> = None;
    while context.running() {
        let delivery = channel.recv().await;
        let is_possible = match delivery.message {
            LockMessage::Take => holder.is_none(),
            LockMessage::GiveBack => holder == Some(delivery.source),
            LockMessage::Answer(_) => continue,
        };
        if is_possible {
            holder = (delivery.message == LockMessage::Take).then_some(delivery.source);
        }
        channel.send(delivery.source, LockMessage::Answer(is_possible));
    }
}

/// What a client knows.
struct Client {
    context: Rc<Context<LockMessage>>,
    channel: Channel<LockMessage>,
    server: Address,
    was_possible: bool,
}

impl Client {
    async fn ask(&mut self, message: LockMessage) {
        self.channel.send(self.server, message);
        self.was_possible = self.channel.recv().await.message == LockMessage::Answer(true);
    }
}

fn client() -> Machine<Client> {
    let take = async |client: &mut Client, _: &mut Step<'_>| {
        client.ask(LockMessage::Take).await;
        Ok(())
    };
    let give_back = async |client: &mut Client, step: &mut Step<'_>| {
        client.ask(LockMessage::GiveBack).await;
        step.assert(client.was_possible, "who has it can give it back")
    };
    let work = async |client: &mut Client, step: &mut Step<'_>| {
        let milliseconds = u64::from(step.choose(1..=5));
        client.context.sleep(VirtualDuration::from_millis(milliseconds)).await;
        Ok(())
    };
    let rob = async |client: &mut Client, step: &mut Step<'_>| {
        step.require(client.context.now().as_nanos() > 3_000_000)?;
        client.ask(LockMessage::GiveBack).await;
        step.assert(!client.was_possible, "who does not have it cannot give it back")
    };
    let transitions = [
        transition("without -> with", take).label("take").next_if("without", |client| !client.was_possible),
        transition("with -> without", give_back).label("give back"),
        transition("with -> with", work).label("hold"),
        transition("without -> idle", work).label("wait"),
        transition("idle -> without", rob).label("rob").weight(0.5),
        skip("without -> gone").weight(0.2),
        skip("idle -> gone").weight(0.1),
    ];
    Machine::new("client", ["without", "with", "idle", "gone"], transitions).expect("it is a machine")
}

impl System for Locks {
    const NAME: &'static str = "locks";
    type TestCase = TestCase;
    type Message = LockMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase { clients: [WALKS.draw(random), WALKS.draw(random)], seed: random.bits() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.clients.iter().enumerate().try_for_each(|(index, walk)| WALKS.check(format!("clients[{index}]"), walk))
    }

    fn walks(case: &mut TestCase) -> Vec<&mut Walk> {
        case.clients.iter_mut().collect()
    }

    fn configure(case: &TestCase) -> Simulation<LockMessage> {
        let mut simulation = Simulation::new(case.seed);
        simulation.add("server", server);
        let server = simulation.address("server", 1);
        for (number, walk) in case.clients.iter().cloned().enumerate() {
            let body = move |context: Context<LockMessage>| async move {
                let context = Rc::new(context);
                let channel = context.channel();
                let client_of = Client { context: context.clone(), channel, server, was_possible: false };
                walk.take(&context, Limits::default(), client().with(client_of)).await
            };
            simulation.add(&format!("client-{number}"), body).expecting(Ok(()));
        }
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        Vec::new()
    }

    fn trace_criteria() -> Vec<TraceCriterion> {
        criteria::machines()
    }
}

/// Runs a test case, and returns its trace.
fn traced(case: &TestCase) -> Vec<trace::TraceEvent> {
    let mut simulation = Locks::configure(case);
    simulation.record_trace();
    let report = simulation.run();
    assert!(report.ended.passed(), "{case:?}: {}", report.ended);
    report.trace.expect("it was recorded")
}

/// Returns what test cases cover of a criterion.
fn covered(criterion: &str, cases: impl IntoIterator<Item = TestCase>) -> BTreeSet<String> {
    let criterion = criteria::machines().into_iter().find(|known| known.name == criterion).expect("there is one");
    let labels = |case| criterion.covered(&traced(&case)).labels().map(str::to_owned).collect::<Vec<_>>();
    cases.into_iter().flat_map(labels).collect()
}

fn drawn(source: InputSource, seed: u64, count: usize) -> Vec<TestCase> {
    let mut universe = Universe::<Locks>::new(source, seed, count);
    (0..count).map(|index| universe.case(index)).collect()
}

fn notes(case: &TestCase) -> usize {
    let is_step = |event: &trace::TraceEvent| matches!(&event.action, trace::Action::Noted { .. });
    traced(case).iter().filter(|event| is_step(event)).count()
}

#[test]
fn a_case_is_plain_data_and_refused_outside_of_its_domain() {
    let case = universe::<Locks>(1, 3);
    let text = serde_json::to_string(&case).expect("it is plain data");
    assert_eq!(serde_json::from_str::<TestCase>(&text).expect("it was written"), case);
    let long = vec![vec![0_u16; 2]; 13];
    let text = format!(r#"{{"clients": [[], {}], "seed": 1}}"#, serde_json::to_string(&long).expect("numbers"));
    let refused = Locks::validate(&serde_json::from_str(&text).expect("it is one")).expect_err("it is too long");
    let expect = "clients[1] is a list of 13: it must be a list of 0 to 12 lists of numbers from 0 to 65535";
    assert_eq!(refused.to_string(), expect);
}

#[test]
fn criteria_name_what_walks_do() {
    let all = (0..400).map(|index| universe::<Locks>(1, index));
    assert_eq!(covered("machine-states", all.clone()), ["gone", "idle", "with", "without"].map(of_client).into());
    let expect = [
        "give back to without",
        "hold to with",
        "idle -> gone to gone",
        "rob to without",
        "take to with",
        "take to without",
        "without -> gone to gone",
        "wait to idle",
    ];
    assert_eq!(covered("machine-transitions", all.clone()), expect.map(of_client).into());
    let pairs = covered("machine-pairs", all.clone());
    for pair in ["start, then take", "take, then take", "take, then give back", "hold, then hold", "wait, then rob"] {
        assert!(pairs.contains(&of_client(pair)), "{pair} in {pairs:?}");
    }
    for pair in ["start, then give back", "start, then rob", "give back, then rob", "take, then rob"] {
        assert!(!pairs.contains(&of_client(pair)), "{pair} in {pairs:?}");
    }
    assert!(covered("machine-paths", all).len() > 100);
}

fn of_client(label: &str) -> String {
    format!("client: {label}")
}

#[test]
fn what_a_strategy_decides_is_the_script_of_the_test_case() {
    for source in [InputSource::Walk, InputSource::Bandit, InputSource::Pairs] {
        let cases = drawn(source, 5, 60);
        assert_eq!(drawn(source, 5, 60), cases, "{source}");
        let mut other_order = Universe::<Locks>::new(source, 5, 60);
        assert!(other_order.case(59) == cases[59] && other_order.case(7) == cases[7], "{source}");
        for case in &cases {
            assert_eq!(Locks::validate(case), Ok(()));
            // Each step is one that was open, so none is left over.
            let steps: usize = case.clients.iter().map(|walk| walk.script().steps.len()).sum();
            assert_eq!(notes(case), steps, "{source}: {case:?}");
        }
        assert!(cases.iter().map(notes).sum::<usize>() > 200, "{source}");
    }
}

#[test]
fn walks_by_pairs_cover_more_pairs_than_walks_by_weight() {
    let of = |source, seed| covered("machine-pairs", drawn(source, seed, 8)).len();
    let sum = |source| (0..10).map(|seed| of(source, seed)).sum::<usize>();
    let [weighted, pairs] = [InputSource::Walk, InputSource::Pairs].map(sum);
    assert!(pairs > weighted, "{pairs} against {weighted} pairs in 10 universes of 8 test cases");
}

#[test]
fn what_a_machine_finds_wrong_fails_the_run() {
    let mut simulation = Simulation::<LockMessage>::new(1);
    let body = |context: Context<LockMessage>| async move {
        let context = Rc::new(context);
        let fail = async |(): &mut (), step: &mut Step<'_>| step.assert(step.now().as_nanos() > 0, "time passes");
        let machine = Machine::new("idler", ["one", "two"], [transition("one -> two", fail)]).expect("it is a machine");
        let walk: Walk = simutant_models::Script { steps: vec![vec![0]] }.into();
        walk.take(&context, Limits::default(), machine.with(())).await
    };
    simulation.add("client", body).expecting(Ok(()));
    let ended = simulation.run().ended.to_string();
    assert!(ended.contains("idler: one -> two: time passes"), "{ended}");
}
