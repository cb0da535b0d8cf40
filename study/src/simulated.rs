//! What the simulation gives for the test cases of the chosen suite.

use simutant_campaign::TRACE_EVENTS_MAX;
use simutant_outcomes::{SimulatedCase, SimulatedSuite, SimulatedValue, Suite, SuiteCase};
use simutant_sim_core::trace::{Action, Trace, TraceEvent};

use crate::{Explainer, StudyError};

/// Runs the test cases of a suite on the original.
pub(crate) fn simulate_suite(explainer: &mut Explainer<'_>, suite: &Suite) -> Result<SimulatedSuite, StudyError> {
    let cases = suite.cases.iter().map(|case| simulate_case(explainer, case)).collect::<Result<_, _>>()?;
    Ok(SimulatedSuite::new(suite, cases))
}

fn simulate_case(
    explainer: &mut Explainer<'_>,
    SuiteCase { name, case, .. }: &SuiteCase,
) -> Result<SimulatedCase, StudyError> {
    let (simulated, trace) = explainer.simulate(case)?;
    let trace = trace.unwrap_or_default();
    Ok(SimulatedCase {
        name: name.clone(),
        verdict: simulated.execution.verdict,
        virtual_time_ns: simulated.virtual_time_ns,
        messages: simulated.messages,
        returned: values(&trace, |action| match action {
            Action::Returned { component, value } => Some((component, value)),
            _ => None,
        }),
        notes: values(&trace, |action| match action {
            Action::Noted { component, text } => Some((component, text)),
            _ => None,
        }),
        is_cut: trace.len() >= TRACE_EVENTS_MAX,
    })
}

/// Returns the values of the events that have one.
fn values(trace: &Trace, value_of: impl Fn(&Action) -> Option<(&String, &String)>) -> Vec<SimulatedValue> {
    let value = |TraceEvent { at, action }: &TraceEvent| {
        let (component, value) = value_of(action)?;
        Some(SimulatedValue { component: component.clone(), at_ns: at.as_nanos(), value: value.clone() })
    };
    trace.iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_sim_core::VirtualTime;

    #[test]
    fn values_keep_their_order_and_time() {
        let event = |at, action| TraceEvent { at: VirtualTime::from_nanos(at), action };
        let returned = |value: &str| Action::Returned { component: "client".into(), value: value.into() };
        let trace = vec![
            event(1, Action::Started { component: "client".into() }),
            event(2, returned("Ok(3)")),
            event(3, Action::Noted { component: "server".into(), text: "sum 3".into() }),
            event(4, returned("()")),
        ];
        let found = values(&trace, |action| match action {
            Action::Returned { component, value } => Some((component, value)),
            _ => None,
        });
        let value = |at_ns, value: &str| SimulatedValue { component: "client".into(), at_ns, value: value.into() };
        assert_eq!(found, [value(2, "Ok(3)"), value(4, "()")]);
    }
}
