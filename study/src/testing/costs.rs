//! What programs that pass waste: datagrams beyond those that the simulation of the same test case needs.

use serde::Serialize;
use simutant_campaign::{Bounds, Simulator, TraceRecording};
use simutant_harness::{CaseResult, TestReport};
use simutant_outcomes::Suite;

use crate::event::Observer;
use crate::{StudyError, SystemRequest};

/// How often a test case is simulated: once as it is, and with its chance drawn anew.
const SIMULATIONS: u32 = 8;

/// The costs of datagrams in the results of a suite. They change no verdict.
#[derive(Debug, Serialize)]
pub struct DatagramCosts<'a> {
    /// By how many percent programs may send more than the simulation needs at most.
    pub messages_percent: u32,
    /// The most that the simulation needs of each test case, in the order of the suite.
    pub simulated: Vec<SimulatedCost<'a>>,
    /// The results that passed and took more than that allows.
    pub costly: Vec<CostlyResult<'a>>,
}

/// The messages that the simulation of a test case needs.
#[derive(Debug, Serialize)]
pub struct SimulatedCost<'a> {
    /// The test case's name.
    pub name: &'a str,
    /// The most messages of all simulations of it.
    pub messages_max: u64,
}

/// A result that passed and took too many datagrams.
#[derive(Debug, Serialize)]
pub struct CostlyResult<'a> {
    /// The test case's name.
    pub name: &'a str,
    /// The repetition, from 1.
    pub repetition: u32,
    /// Datagrams that the programs sent, as the network counted them.
    pub datagrams: u64,
    /// The most messages that the simulation needs.
    pub simulated_max: u64,
}

impl<'a> DatagramCosts<'a> {
    /// Simulates the test cases of a suite, and finds the results of it that passed and took more datagrams than they
    /// need by more than `messages_percent`.
    ///
    /// # Errors
    /// If the system cannot be built, or a test case cannot be simulated.
    pub fn find(
        request: &SystemRequest,
        (suite, report): (&'a Suite, &'a TestReport),
        messages_percent: u32,
        observer: &Observer<'_>,
    ) -> Result<Self, StudyError> {
        let plain = request.find()?.build_plain(observer)?;
        let mut simulator = Simulator::of_plain(&plain, &request.system, Bounds::default());
        let mut simulated = Vec::with_capacity(suite.cases.len());
        for (place, case) in suite.cases.iter().enumerate() {
            let mut messages_max = 0;
            for number in 0..SIMULATIONS {
                let case = simulator.reseed(suite.seed, place, number, &case.case)?;
                messages_max = messages_max.max(simulator.simulate(&case, None, TraceRecording::Skip, None)?.messages);
            }
            simulated.push(SimulatedCost { name: &case.name, messages_max });
        }
        let places = super::places(suite);
        let costly =
            |result: &'a CaseResult| {
                let CaseResult { name, repetition, network, .. } = result;
                let simulated_max = simulated[*places.get(&**name)?].messages_max;
                let datagrams = network.forward.received + network.back.received;
                (result.verdict.passes() && is_costly(datagrams, simulated_max, messages_percent))
                    .then_some(CostlyResult { name, repetition: *repetition, datagrams, simulated_max })
            };
        let costly = report.results.iter().filter_map(costly).collect();
        Ok(Self { messages_percent, simulated, costly })
    }
}

fn is_costly(datagrams: u64, simulated_max: u64, percent: u32) -> bool {
    100 * u128::from(datagrams) > (100 + u128::from(percent)) * u128::from(simulated_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_costly_takes_more_and_not_as_much() {
        let costly = [(10, 5, 100), (11, 5, 100), (5, 5, 0), (6, 5, 0), (0, 5, 0), (1, 0, 900)];
        let found = costly.map(|(datagrams, most, percent)| is_costly(datagrams, most, percent));
        assert_eq!(found, [false, true, false, true, false, true]);
    }
}
