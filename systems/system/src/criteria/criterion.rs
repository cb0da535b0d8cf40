//! What a criterion is: a name, and a function from a trace to labels.

use std::collections::BTreeSet;

use simutant_sim_core::trace::TraceEvent;

/// An adequacy criterion that looks at the trace of a run.
#[derive(Debug, Clone, Copy)]
pub struct TraceCriterion {
    /// Its name, for example `send-receive-pairs`.
    pub name: &'static str,
    /// Adds the requirements that a run with this trace covers. The same trace must give the same requirements.
    pub requirements: fn(&[TraceEvent], &mut Requirements),
}

/// The requirements that a run covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    labels: BTreeSet<String>,
}

impl Requirements {
    /// Adds a requirement; to add it again changes nothing.
    pub fn insert(&mut self, label: impl Into<String>) {
        self.labels.insert(label.into());
    }

    /// Returns the labels in their order.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(String::as_str)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

impl TraceCriterion {
    /// Returns the requirements that a run with this trace covers.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation, VirtualDuration};
    /// use simutant_system::criteria;
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// simulation.record_trace();
    /// simulation.add("client-1", |context| async move {
    ///     _ = context.channel().recv_timeout(VirtualDuration::from_secs(1)).await;
    /// });
    /// let trace = simulation.run().trace.expect("it is recorded");
    /// let criteria = criteria::built_in();
    /// let timeouts = criteria.iter().find(|criterion| criterion.name == "timeouts").expect("it is built in");
    /// let covered = timeouts.covered(&trace);
    /// assert_eq!(covered.len(), 1);
    /// assert!(covered.labels().all(|label| label.starts_with("client: ")));
    /// ```
    pub fn covered(&self, trace: &[TraceEvent]) -> Requirements {
        let mut requirements = Requirements::default();
        (self.requirements)(trace, &mut requirements);
        requirements
    }
}

/// Returns the role of a component: its name without a number at the end, and without what separates the number from
/// the rest, so that components which do the same are one. `router-3` and `router-12` are `router`; `7` is `7`.
///
/// ```
/// use simutant_system::criteria::role;
///
/// assert_eq!(["router-3", "router-12", "client"].map(role), ["router", "router", "client"]);
/// // What is a number alone is no role's.
/// assert_eq!(role("7"), "7");
/// ```
pub fn role(component: &str) -> &str {
    let name = component.trim_end_matches(|character: char| character.is_ascii_digit());
    let role =
        if name.len() == component.len() { name } else { name.trim_end_matches([' ', '-', '_', '.', ':', '/', '#']) };
    if role.is_empty() { component } else { role }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(component: &str, expect: &str) {
        assert_eq!(role(component), expect);
    }

    #[test]
    fn a_role_is_a_name_without_its_number() {
        check("router-12", "router");
        check("c1", "c");
        check("client 3", "client");
        check("0 first", "0 first");
        check("left-", "left-");
        check("7", "7");
        check("-7", "-7");
        check("", "");
    }
}
