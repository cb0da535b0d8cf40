//! What happens to each datagram, drawn from a seed.

use simutant_sim_core::{Link, Probability, VirtualTime, network};

/// The fate of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DatagramFate {
    /// It is lost.
    Drop,
    /// It arrives once.
    Deliver,
    /// It arrives twice.
    Duplicate,
}

impl DatagramFate {
    /// Returns how many copies arrive.
    pub fn copies(self) -> u64 {
        match self {
            Self::Drop => 0,
            Self::Deliver => 1,
            Self::Duplicate => 2,
        }
    }
}

/// The fates of one direction, in the order of its datagrams.
///
/// The n-th datagram meets the fate that the n-th packet of a component meets in a simulation with the same seed, if
/// all links lose and duplicate as much.
///
/// ```
/// use simutant_harness::{DatagramFate, DatagramFates};
/// use simutant_sim_core::Probability;
///
/// let fates = |drop| {
///     let drop = Probability::new(drop).expect("it is one");
///     let mut fates = DatagramFates::new(7, "client", drop, Probability::ZERO);
///     (0..100).map(|_| fates.draw()).collect::<Vec<_>>()
/// };
/// assert_eq!(fates(0.3), fates(0.3));
/// // What is lost on a good network is lost on a worse one as well.
/// let is_lost = |fate: &DatagramFate| fate.copies() == 0;
/// assert!(fates(0.1).iter().zip(&fates(0.3)).all(|(good, worse)| !is_lost(good) || is_lost(worse)));
/// ```
#[derive(Debug, Clone)]
pub struct DatagramFates(network::Fates);

impl DatagramFates {
    /// Returns the fates of the packets of the component `source` in the simulation with this seed.
    pub fn new(seed: u64, source: &str, drop: Probability, duplicate: Probability) -> Self {
        let link = Link { drop: drop.into(), duplicate, ..Link::default() };
        Self(network::Fates::new(&link, seed, source).expect("such a link is valid with any probabilities"))
    }

    /// Returns the fate of the next datagram.
    pub fn draw(&mut self) -> DatagramFate {
        // The link has no limited bandwidth, so times and sizes do not matter.
        match self.0.draw(VirtualTime::ZERO, 0) {
            network::Fate::Dropped(_) => DatagramFate::Drop,
            network::Fate::Delivered(_) => DatagramFate::Deliver,
            network::Fate::Duplicated(..) => DatagramFate::Duplicate,
        }
    }
}

#[cfg(test)]
mod tests {
    use simutant_sim_core::trace::Action;
    use simutant_sim_core::{Latency, Message, Simulation, VirtualDuration};

    use super::*;

    const DRAWS: usize = 100_000;

    fn draws(seed: u64, drop: f64, duplicate: f64) -> [Vec<DatagramFate>; 2] {
        let [drop, duplicate] = [drop, duplicate].map(|share| Probability::new(share).expect("a probability"));
        [DatagramFates::new(seed, "client", drop, duplicate), DatagramFates::new(seed, "server", drop, duplicate)]
            .map(|mut fates| (0..DRAWS).map(|_| fates.draw()).collect())
    }

    /// Checks that the share of a fate is within four standard deviations of the binomial distribution.
    #[track_caller]
    fn check_share(fates: &[DatagramFate], fate: DatagramFate, expect: f64) {
        let draws = fates.len() as f64;
        let share = fates.iter().filter(|drawn| **drawn == fate).count() as f64 / draws;
        let tolerance = 4.0 * (expect * (1.0 - expect) / draws).sqrt();
        assert!((share - expect).abs() <= tolerance, "{fate:?}: {share}, not {expect} within {tolerance}");
    }

    #[test]
    fn shares_are_those_of_the_simulated_network() {
        for (drop, duplicate) in [(0.0, 0.0), (0.2, 0.2), (0.05, 0.15), (1.0, 1.0), (0.0, 1.0)] {
            for fates in draws(3, drop, duplicate) {
                check_share(&fates, DatagramFate::Drop, drop);
                check_share(&fates, DatagramFate::Duplicate, (1.0 - drop) * duplicate);
            }
        }
    }

    #[derive(Debug, Clone, Hash)]
    struct Probe;

    impl Message for Probe {
        fn kind(&self) -> &'static str {
            "PROBE"
        }
    }

    /// Returns the fates of the packets of a simulated network, read off the trace.
    fn simulated(seed: u64, drop: Probability, duplicate: Probability, packets: usize) -> Vec<DatagramFate> {
        let mut simulation = Simulation::<Probe>::new(seed);
        let latency = Latency::Uniform { min: VirtualDuration::ZERO, max: VirtualDuration::from_millis(1) };
        simulation.network(Link { latency, drop: drop.into(), duplicate, ..Link::default() });
        let nobody = simulation.address("sender", 7);
        simulation.add("sender", async move |context| {
            let channel = context.channel();
            (0..packets).for_each(|_| channel.send(nobody, Probe));
        });
        simulation.record_trace();
        let mut fates = vec![DatagramFate::Deliver; packets];
        for event in simulation.run().trace.expect("it was asked for") {
            match event.action {
                Action::Dropped { packet, .. } => fates[packet.number as usize] = DatagramFate::Drop,
                Action::Duplicated(packet) => fates[packet.number as usize] = DatagramFate::Duplicate,
                _ => {}
            }
        }
        fates
    }

    #[test]
    fn each_datagram_meets_the_fate_of_its_packet_in_the_simulated_network() {
        for (drop, duplicate) in [(0.0, 0.0), (0.2, 0.2), (0.05, 0.15), (1.0, 1.0), (0.0, 1.0)] {
            let [drop, duplicate] = [drop, duplicate].map(|share| Probability::new(share).expect("a probability"));
            let mut fates = DatagramFates::new(5, "sender", drop, duplicate);
            let drawn: Vec<DatagramFate> = (0..10_000).map(|_| fates.draw()).collect();
            assert!(drawn == simulated(5, drop, duplicate, drawn.len()), "drop {drop}, duplicate {duplicate}");
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_fates() {
        assert_eq!(draws(3, 0.2, 0.2), draws(3, 0.2, 0.2));
    }

    #[test]
    fn seeds_and_directions_have_fates_of_their_own() {
        let [forward, back] = draws(3, 0.2, 0.2);
        let [other_forward, _] = draws(4, 0.2, 0.2);
        assert_ne!(forward, back);
        assert_ne!(forward, other_forward);
    }
}
