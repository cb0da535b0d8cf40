//! The systems that `init` begins with.

/// What a new system begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SystemTemplate {
    /// A client and a server, whose test cases are parameters.
    #[default]
    Parameters,
    /// Clients that a state machine drives, in the simulation and on a real server.
    Machine,
    /// A coloured Petri net, from which tests are generated.
    Net,
    /// An HTTP service, whose servers are tested: no simulation.
    Http,
}

/// The files of a template. In their names and texts, `%NAME%` stands for the system's name, `%TYPE%` for its type,
/// `%MODULE%` for its module, and `%CRATE%` for the package's library.
pub(super) struct Template {
    /// The file of the system's module: what puts the simulation together, or the specification of a service.
    pub(super) module: &'static str,
    /// The file of the protocol, which is the specification of a simulation; `None` if there is none.
    pub(super) protocol: Option<&'static str>,
    /// Further files in the folder of the protocol.
    pub(super) beside: &'static [(&'static str, &'static str)],
    /// Other files, by their paths in the package.
    pub(super) others: &'static [(&'static str, &'static str)],
    /// The example that is the system's testbed.
    pub(super) testbed: Option<&'static str>,
    /// The function that returns a net, from the protocol's module on, and its arguments.
    pub(super) net: Option<(&'static str, &'static [i64])>,
    /// The packages of the engine that the system depends on.
    pub(super) packages: &'static [&'static str],
    /// Those that examples depend on.
    pub(super) example_packages: &'static [&'static str],
}

impl SystemTemplate {
    pub(super) const fn template(self) -> &'static Template {
        match self {
            Self::Parameters => &PARAMETERS,
            Self::Machine => &MACHINE,
            Self::Net => &NET,
            Self::Http => &HTTP,
        }
    }
}

impl Template {
    /// Returns the name of the system's type: the one that is proposed, or a longer one where the template has that name
    /// already, as it is of something that it imports.
    pub(super) fn type_name(&self, proposed: String) -> String {
        let texts = self.others.iter().chain(self.beside).map(|(_, text)| *text);
        let is_word = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let mut words = texts.chain([self.module]).chain(self.protocol).flat_map(|text| text.split(is_word));
        if words.any(|word| word == proposed) { format!("{proposed}System") } else { proposed }
    }
}

const PARAMETERS: Template = Template {
    module: include_str!("template/simulation.rs"),
    protocol: Some(include_str!("template/protocol.rs")),
    beside: &[],
    others: &[
        ("implementations/%NAME%-python.toml", include_str!("template/implementation/implementation.toml")),
        ("implementations/%NAME%/driver.py", include_str!("template/implementation/driver.py")),
        ("implementations/%NAME%/sums.py", include_str!("template/implementation/sums.py")),
    ],
    testbed: None,
    net: None,
    packages: &["simutant-sim-core", "simutant-system"],
    example_packages: &[],
};

const MACHINE: Template = Template {
    module: include_str!("template/machine/simulation.rs"),
    protocol: Some(include_str!("template/machine/protocol.rs")),
    beside: &[("machine.rs", include_str!("template/machine/machine.rs"))],
    others: &[
        ("examples/%MODULE%_testbed.rs", include_str!("template/machine/testbed.rs")),
        ("implementations/%NAME%-python.toml", include_str!("template/machine/implementation/implementation.toml")),
        ("implementations/%NAME%/server.py", include_str!("template/machine/implementation/server.py")),
    ],
    testbed: Some("%MODULE%_testbed"),
    net: None,
    packages: &["simutant-sim-core", "simutant-system", "simutant-models", "simutant-oracle"],
    example_packages: &["simutant-harness"],
};

const NET: Template = Template {
    module: include_str!("template/net/simulation.rs"),
    protocol: Some(include_str!("template/net/protocol.rs")),
    beside: &[],
    others: &[
        ("implementations/%NAME%/office.py", include_str!("template/net/implementation/office.py")),
        ("implementations/%NAME%/%MODULE%_adapter.py", include_str!("template/net/implementation/adapter.py")),
    ],
    testbed: None,
    net: Some(("net", &[2, 1])),
    packages: &["simutant-nets", "simutant-system"],
    example_packages: &[],
};

const HTTP: Template = Template {
    module: include_str!("template/http/service.rs"),
    protocol: None,
    beside: &[],
    others: &[("implementations/%NAME%/server.py", include_str!("template/http/implementation/server.py"))],
    testbed: None,
    net: None,
    packages: &["simutant-http-tester", "simutant-oracle"],
    example_packages: &[],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: SystemTemplate, proposed: &str, expect: &str) {
        assert_eq!(template.template().type_name(proposed.to_owned()), expect);
    }

    #[test]
    fn a_type_has_no_name_that_the_template_has() {
        check(SystemTemplate::Parameters, "Store", "Store");
        check(SystemTemplate::Parameters, "Register", "Register");
        check(SystemTemplate::Parameters, "Simulation", "SimulationSystem");
        check(SystemTemplate::Machine, "Store", "Store");
        check(SystemTemplate::Machine, "Register", "RegisterSystem");
        check(SystemTemplate::Machine, "Client", "ClientSystem");
        check(SystemTemplate::Machine, "Regis", "Regis");
    }
}
