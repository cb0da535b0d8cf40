//! What programs that pass waste: datagrams beyond those that the simulation of the same test case needs.

use serde::Serialize;
use simutant_campaign::{Bounds, Simulator, TraceRecording};
use simutant_harness::{CaseResult, TestReport};
use simutant_outcomes::{CostMeasure, CostOracle, Suite};

use crate::arguments::TestArguments;
use crate::build;
use crate::exit::BadInput;

/// How often a test case is simulated: once as it is, and with its chance drawn anew.
const SIMULATIONS: u32 = 8;

/// What is written of the cost oracle. It changes no verdict.
#[derive(Debug, Serialize)]
pub(super) struct Costs<'a> {
    /// By how many percent programs may send more than the simulation needs at most.
    messages_percent: u32,
    /// The most that the simulation needs of each test case, in the order of the suite.
    simulated: Vec<Simulated<'a>>,
    /// The results that passed and took more than that allows.
    costly: Vec<Costly<'a>>,
}

#[derive(Debug, Serialize)]
struct Simulated<'a> {
    name: &'a str,
    /// The most messages of all simulations of it.
    messages_max: u64,
}

#[derive(Debug, Serialize)]
struct Costly<'a> {
    name: &'a str,
    repetition: u32,
    /// Datagrams that the programs sent, as the network counted them.
    datagrams: u64,
    /// The most messages that the simulation needs.
    simulated_max: u64,
}

/// Checks that the oracle can judge programs.
pub(super) fn check(oracle: Option<&CostOracle>) -> Result<(), BadInput> {
    let other = oracle.and_then(|oracle| oracle.measures().find(|measure| *measure != CostMeasure::Messages));
    match other {
        Some(measure) => Err(BadInput(format!(
            "--cost {measure}: programs are judged by datagrams alone, since their events and their time are not those of a \
             simulation; give --cost messages=P%"
        ))),
        None => Ok(()),
    }
}

/// Simulates the test cases, and finds the results that passed and took more datagrams than they need by more than the
/// oracle allows.
pub(super) fn costs<'a>(
    (suite, report): (&'a Suite, &'a TestReport),
    oracle: &CostOracle,
    arguments: &TestArguments,
) -> anyhow::Result<Costs<'a>> {
    let built = build::plain(&build::find(&arguments.system)?)?;
    let mut simulator = Simulator::of_plain(&built, &arguments.system.system, Bounds::default());
    let mut messages_max = |place: usize| -> anyhow::Result<u64> {
        let case = &suite.cases[place].case;
        let mut most = 0;
        for number in 0..SIMULATIONS {
            let case = simulator.reseed(suite.seed, place, number, case)?;
            most = most.max(simulator.simulate(&case, None, TraceRecording::Skip, None)?.messages);
        }
        Ok(most)
    };
    let simulated: Vec<Simulated<'_>> = (0..suite.cases.len())
        .map(|place| Ok(Simulated { name: &suite.cases[place].name, messages_max: messages_max(place)? }))
        .collect::<anyhow::Result<_>>()?;
    let messages_percent = oracle.percent.get(&CostMeasure::Messages).copied().unwrap_or_default();
    let costly = |result: &'a CaseResult| {
        let most = simulated.iter().find(|simulated| simulated.name == result.name)?.messages_max;
        let datagrams = result.network.forward.received + result.network.back.received;
        (result.verdict.passes() && is_costly(datagrams, most, messages_percent)).then_some(Costly {
            name: &result.name,
            repetition: result.repetition,
            datagrams,
            simulated_max: most,
        })
    };
    Ok(Costs { messages_percent, costly: report.results.iter().filter_map(costly).collect(), simulated })
}

fn is_costly(datagrams: u64, simulated_max: u64, percent: u32) -> bool {
    100 * u128::from(datagrams) > (100 + u128::from(percent)) * u128::from(simulated_max)
}

impl Costs<'_> {
    /// Lists what is costly.
    pub(super) fn text(&self, results: usize, is_repeated: bool) -> String {
        let mut text = String::new();
        for Costly { name, repetition, datagrams, simulated_max } in &self.costly {
            let which = if is_repeated { format!(", repetition {repetition}") } else { String::new() };
            text.push_str(&format!(
                "COSTLY {name}{which}: {datagrams} datagrams; the simulation needs {simulated_max} at most\n"
            ));
        }
        text.push_str(&format!(
            "{} of {results} costly: passed with over {} % more datagrams than the simulation needs at most\n",
            self.costly.len(),
            self.messages_percent,
        ));
        text
    }
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

    #[test]
    fn programs_are_judged_by_messages_alone() {
        let check =
            |text: &str| check(Some(&text.parse().expect("it is an oracle"))).err().map(|error| error.to_string());
        assert_eq!(check("messages=20%"), None);
        let error = check("messages=20%,time=20%").expect("time is none of theirs");
        assert!(error.contains("--cost time") && error.contains("give --cost messages=P%"), "{error}");
    }
}
