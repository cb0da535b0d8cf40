//! In which phase a component is, as far as a trace says it.

use std::collections::BTreeMap;

use simutant_sim_core::trace::Action;

/// The components of a run, at one of its events.
#[derive(Debug, Default)]
pub(super) struct Phases<'a> {
    components: BTreeMap<&'a str, Component<'a>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Component<'a> {
    life: Life,
    is_paused: bool,
    /// What it said itself since it began last.
    said: Option<&'a str>,
    was_restarted: bool,
    has_received: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Life {
    #[default]
    ToStart,
    Up,
    Down,
    Over,
}

impl<'a> Phases<'a> {
    /// Returns the phase of a component.
    pub(super) fn of(&self, component: &str) -> &'a str {
        let component = self.components.get(component).copied().unwrap_or_default();
        match component {
            Component { life: Life::ToStart, .. } => "before its start",
            Component { life: Life::Down, .. } => "while it is down",
            Component { life: Life::Over, .. } => "after its end",
            Component { is_paused: true, .. } => "while it is paused",
            Component { said: Some(phase), .. } => phase,
            Component { was_restarted: true, .. } => "after a restart",
            Component { has_received: true, .. } => "after its first message",
            _ => "before its first message",
        }
    }

    /// Takes an event in.
    pub(super) fn pass(&mut self, action: &'a Action) {
        match action {
            Action::Started { component } => self.component(component).life = Life::Up,
            Action::Returned { component, .. } | Action::Failed { component, .. } => {
                self.component(component).life = Life::Over;
            }
            Action::Crashed { component } => {
                *self.component(component) = Component { life: Life::Down, ..Component::default() };
            }
            Action::Restarted { component, .. } => {
                let restarted = Component { life: Life::Up, was_restarted: true, ..Component::default() };
                *self.component(component) = restarted;
            }
            Action::Paused { component, .. } => self.component(component).is_paused = true,
            Action::Resumed { component } => self.component(component).is_paused = false,
            Action::PhaseBegan { component, phase } => self.component(component).said = Some(phase),
            Action::Received { destination, .. } => self.component(&destination.component).has_received = true,
            _ => {}
        }
    }

    fn component(&mut self, name: &'a str) -> &mut Component<'a> {
        self.components.entry(name).or_default()
    }
}
