//! Customers queue at a counter, and wait as long as the theory of queues says: an M/M/1 queue, without a network.
//!
//! They come at random, and are served one by one for random times, both exponentially distributed. In the long run
//! they wait in the queue for `rho / (mu - lambda)` on average, where `lambda` is the rate of arrivals, `mu` the rate
//! of service and `rho` their ratio (Kleinrock, "Queueing systems", volume 1, 1975, section 3.2).

use simutant_sim_core::{Context, FifoReceiver, FifoSender, Message, Simulation, VirtualDuration, VirtualTime, fifo};

/// Arrivals a second.
const LAMBDA: f64 = 0.8;
/// Customers a second that the clerk can serve.
const MU: f64 = 1.0;
/// How many customers come. Those before the queue is in its steady state are too few to matter.
const CUSTOMERS: u32 = 200_000;

/// Nothing is sent over the network, so there is no value of this type.
#[derive(Debug, Clone, Hash)]
enum NoMessage {}

impl Message for NoMessage {
    fn kind(&self) -> &'static str {
        match *self {}
    }
}

struct Customer {
    arrived_at: VirtualTime,
}

/// Lets customers come.
async fn street(mut context: Context<NoMessage>, queue: FifoSender<Customer>) {
    let interval_mean = VirtualDuration::from_nanos((1e9 / LAMBDA) as u64);
    for _ in 0..CUSTOMERS {
        let interval = context.random().exponential(interval_mean);
        context.pause(interval).await;
        queue.send(Customer { arrived_at: context.now() });
    }
}

/// Serves customers until no more can come, and returns how long they waited on average, in seconds.
async fn clerk(mut context: Context<NoMessage>, mut queue: FifoReceiver<Customer>) -> f64 {
    let service_mean = VirtualDuration::from_nanos((1e9 / MU) as u64);
    let mut waited_ns = 0;
    while let Some(customer) = queue.recv().await {
        waited_ns += context.now().since(customer.arrived_at).as_nanos();
        let service = context.random().exponential(service_mean);
        context.pause(service).await;
    }
    waited_ns as f64 / 1e9 / f64::from(CUSTOMERS)
}

fn main() {
    let mut simulation = Simulation::new(1);
    let (sender, receiver) = fifo();
    simulation.add("street", |context| street(context, sender));
    let waited = simulation.add("clerk", |context| clerk(context, receiver)).returned();

    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    let waited = *waited.get().expect("the clerk went home");
    let rho = LAMBDA / MU;
    let expected = rho / (MU - LAMBDA);
    // The variance of the mean over n customers goes to this over n (Daley, "The serial correlation coefficients of
    // waiting times in a stationary single server queue", Journal of the Australian Mathematical Society 8, 1968).
    let variance = rho * (2.0 + 5.0 * rho - 4.0 * rho.powi(2) + rho.powi(3)) / (MU * (1.0 - rho).powi(2)).powi(2);
    let standard_error = (variance / f64::from(CUSTOMERS)).sqrt();
    assert!((waited - expected).abs() < 3.3 * standard_error, "{waited} s, where {expected} s are expected");
}
