//! Queues wait as long as theory says, and draws have the distribution that they are named after.
//!
//! A mean is compared with the formula by a confidence interval from independent replications, each with a seed of its
//! own and without its warm-up. The seeds are fixed, so a test passes always or never; an interval of 99.9 % is as wide
//! as a correct engine needs, and the tests check that it is narrow enough to notice a wrong one.

use simutant_sim_core::{
    Context, FifoReceiver, FifoSender, Message, Random, Simulation, VirtualDuration, VirtualTime, fifo,
};
use statrs::distribution::{ContinuousCDF, StudentsT};

#[derive(Debug, Clone, Hash)]
struct NoMessage;

impl Message for NoMessage {
    fn kind(&self) -> &'static str {
        "NONE"
    }
}

const REPLICATIONS: u64 = 20;
const CUSTOMERS: usize = 6_000;
/// How many customers come before the queue is taken to be in its steady state.
const WARM_UP: usize = 1_000;
/// A second, in which a clerk serves one customer on average.
const SERVICE_MEAN: VirtualDuration = VirtualDuration::from_secs(1);

async fn street(mut context: Context<NoMessage>, queue: FifoSender<VirtualTime>, interval_mean: VirtualDuration) {
    for _ in 0..CUSTOMERS {
        let interval = context.random().exponential(interval_mean);
        context.pause(interval).await;
        queue.send(context.now());
    }
}

/// Serves customers with so many clerks, and returns how long each waited, in seconds.
async fn counter(mut context: Context<NoMessage>, mut queue: FifoReceiver<VirtualTime>, clerks: usize) -> Vec<f64> {
    let (is_free, mut free) = fifo();
    (0..clerks).for_each(|_| is_free.send(()));
    let mut waited = Vec::with_capacity(CUSTOMERS);
    while let Some(arrived_at) = queue.recv().await {
        free.recv().await;
        waited.push(context.now().since(arrived_at).as_nanos() as f64 / 1e9);
        let is_free = is_free.clone();
        let clerk = context.spawn(|mut context| async move {
            let service = context.random().exponential(SERVICE_MEAN);
            context.pause(service).await;
            is_free.send(());
        });
        drop(clerk);
    }
    waited
}

/// Returns the mean waiting time of a replication.
fn waited_mean(seed: u64, clerks: usize, utilization: f64) -> f64 {
    let mut simulation = Simulation::new(seed);
    let interval_mean = VirtualDuration::from_nanos((1e9 / (utilization * clerks as f64)).round() as u64);
    let (sender, receiver) = fifo();
    simulation.add("street", |context| street(context, sender, interval_mean));
    let waited = simulation.add("counter", |context| counter(context, receiver, clerks)).returned();
    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    let waited = waited.get().expect("the street ends");
    waited[WARM_UP..].iter().sum::<f64>() / (CUSTOMERS - WARM_UP) as f64
}

/// Erlang's C formula: the probability that a customer of an M/M/c queue has to wait (Kleinrock, "Queueing systems",
/// volume 1, 1975, section 3.5), from his B formula by its recurrence.
fn erlang_c(clerks: usize, utilization: f64) -> f64 {
    let offered = utilization * clerks as f64;
    let blocked = (1..=clerks).fold(1.0, |blocked, clerk| offered * blocked / (clerk as f64 + offered * blocked));
    blocked / (1.0 - utilization * (1.0 - blocked))
}

/// The mean waiting time of an M/M/c queue in services.
fn waited_by_formula(clerks: usize, utilization: f64) -> f64 {
    erlang_c(clerks, utilization) / (clerks as f64 * (1.0 - utilization))
}

#[track_caller]
fn check_queue(clerks: usize, utilization: f64) {
    let means: Vec<f64> = (1..=REPLICATIONS).map(|seed| waited_mean(seed, clerks, utilization)).collect();
    let count = REPLICATIONS as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let student = StudentsT::new(0.0, 1.0, count - 1.0).expect("a distribution");
    let half_width = student.inverse_cdf(0.999_5) * (variance / count).sqrt();
    let expect = waited_by_formula(clerks, utilization);
    assert!((mean - expect).abs() < half_width, "{mean} +- {half_width} s, where {expect} s are expected");
    assert!(half_width < 0.2 * expect, "{half_width} s is too wide to see anything");
}

#[test]
fn the_formula_agrees_with_values_computed_by_hand() {
    // One clerk: rho / (1 - rho). Two clerks who are busy for two thirds of their time: C(2, 4/3) is 8/15.
    assert!((waited_by_formula(1, 0.75) - 3.0).abs() < 1e-12);
    assert!((erlang_c(2, 2.0 / 3.0) - 8.0 / 15.0).abs() < 1e-12);
}

#[test]
fn one_clerk_makes_customers_wait_as_long_as_the_formula_says() {
    check_queue(1, 0.5);
    check_queue(1, 0.7);
}

#[test]
fn several_clerks_make_customers_wait_as_long_as_the_formula_of_erlang_says() {
    check_queue(2, 0.7);
    check_queue(5, 0.8);
}

#[test]
fn exponential_draws_are_exponential() {
    const DRAWS: usize = 50_000;
    let mut random = Random::from_seed(9);
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| random.exponential(SERVICE_MEAN).as_nanos() as f64 / SERVICE_MEAN.as_nanos() as f64)
        .collect();
    drawn.sort_by(f64::total_cmp);
    let distance = drawn.iter().enumerate().fold(0.0_f64, |distance, (index, each)| {
        let cumulative = 1.0 - (-each).exp();
        let below = (cumulative - index as f64 / DRAWS as f64).abs();
        distance.max(below).max((cumulative - (index + 1) as f64 / DRAWS as f64).abs())
    });
    // Kolmogorov and Smirnov: exceeded with a probability of 0.001.
    assert!(distance < 1.9495 / (DRAWS as f64).sqrt(), "{distance}");
}

#[test]
fn an_exponential_draw_grows_with_its_mean_and_uses_one_number() {
    let (mut short, mut long) = (Random::from_seed(3), Random::from_seed(3));
    for _ in 0..1_000 {
        let (short, long) = (short.exponential(SERVICE_MEAN), long.exponential(SERVICE_MEAN * 2));
        assert!((short * 2).as_nanos().abs_diff(long.as_nanos()) <= 1, "{short}, {long}");
    }
    assert_eq!(short, long);
    assert_eq!(short.exponential(VirtualDuration::ZERO), VirtualDuration::ZERO);
}
