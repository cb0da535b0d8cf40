//! What was found out about a net, in the form that nets of packages have.

use simutant_nets::exploring::{Explored, PlaceFound, TransitionFound};
use simutant_nets::{ArcKind, Drawing, NetArc, Structure, Witness};

use crate::net::PnmlNet;
use crate::space::StateSpace;
use crate::unfold::Unfolded;

impl Unfolded {
    /// Returns the places, the transitions and the arcs of the net that was unfolded, with how many tokens places have at
    /// first.
    pub fn structure(&self) -> Structure {
        let PnmlNet { arcs, .. } = &self.net;
        let mut tokens = vec![0; self.net.places.len()];
        self.places.iter().for_each(|place| tokens[place.place] += place.initial);
        let places = self.net.places().into_iter().map(str::to_owned).zip(tokens).collect();
        let arc = |arc: &crate::net::Arc| NetArc {
            place: arc.place,
            transition: arc.transition,
            kind: if arc.is_input { ArcKind::Take } else { ArcKind::Put },
        };
        let transitions = self.net.transitions().into_iter().map(str::to_owned).collect();
        Structure { net: self.net.name().to_owned(), places, transitions, arcs: arcs.iter().map(arc).collect() }
    }
}

impl StateSpace {
    /// Returns what was found out, with the state space to draw if it has no more markings than `drawn`.
    pub fn explored(&mut self, drawn: usize) -> Explored {
        let net = &self.unfolded().net;
        let places = net.places().into_iter().zip(self.bounds());
        let places = places.map(|(name, (least, most))| PlaceFound { name: name.to_owned(), least, most }).collect();
        let names: Vec<String> = net.transitions().into_iter().map(str::to_owned).collect();
        let transitions = names.into_iter().zip(self.fired_arcs());
        let transitions = transitions.map(|(name, arcs)| TransitionFound { name, arcs }).collect();
        let dead = self.graph().dead();
        let nearest_dead = dead.first().map(|&marking| Witness {
            firings: self.firings_to(marking),
            marking: self.marking(marking).to_string(),
            cycle: Vec::new(),
        });
        let drawing = (self.graph().markings() <= drawn).then(|| self.drawing());
        Explored {
            nearest_dead,
            places,
            transitions,
            drawing,
            ..Explored::counted(self.graph(), self.unfolded().structure())
        }
    }

    fn drawing(&mut self) -> Drawing {
        let net = self.unfolded().net.name().to_owned();
        let markings = (0..self.graph().markings()).map(|number| self.marking(number).to_string()).collect();
        Drawing::new(net, markings, |marking| self.firings(marking))
    }
}
