//! How things look: the same symbols, names and classes in the picture and on the page.

use simutant_sim_core::trace::Transport;

use crate::sequence::{Flight, FlightEnd, FlightOrigin, Sign};

/// A shape about (0, 0) that fits into 16 by 16, as the path data of SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(super) struct Symbol {
    /// What colour it has: a class of the style sheets.
    pub(super) class: &'static str,
    /// What is filled with that colour.
    pub(super) body: &'static str,
    /// What is drawn on it in the colour of the page.
    pub(super) glyph: &'static str,
}

const DISC: &str = "M-7 0A7 7 0 1 1 7 0A7 7 0 1 1-7 0Z";
const CROSS: &str = "M-6.5-4.5L-4.5-6.5L0-2L4.5-6.5L6.5-4.5L2 0L6.5 4.5L4.5 6.5L0 2L-4.5 6.5L-6.5 4.5L-2 0Z";
const SQUARE: &str = "M-6-6H6V6H-6Z";

/// Returns the symbol of a mark.
pub(super) fn sign(sign: Sign) -> Symbol {
    let (class, body, glyph) = match sign {
        Sign::Started => ("good", "M-7-5H7L0 6Z", ""),
        Sign::Returned => ("good", "M-8-5H8V-2H2V0H5L0 6L-5 0H-2V-2H-8Z", ""),
        Sign::Failed => ("bad", "M-3-7H3L7-3V3L3 7H-3L-7 3V-3Z", "M-3-3L3 3M3-3L-3 3"),
        Sign::Noted => ("note", "M-5-7H2L6-3V7H-5Z", "M-2-1H3M-2 2.5H3"),
        Sign::TimedOut => ("late", DISC, "M0-4.5V0L3 2.2"),
        Sign::Connected => ("stream", SQUARE, "M-3.5-1.5H3.5M-3.5 1.5H3.5"),
        Sign::Reset => ("bad", "M0-8L8 0L0 8L-8 0Z", "M-3.5-1.5H0L-1.5 1.5H3.5"),
        Sign::Crashed => ("bad", CROSS, ""),
        Sign::Restarted => ("good", DISC, "M2.9-2.2A3.6 3.6 0 1 0 3.6.6M3.4-4.6V-1.8H.6"),
        Sign::Paused => ("late", DISC, "M-2-3V3M2-3V3"),
        Sign::Resumed => ("good", DISC, "M-1.8-3.2L3 0L-1.8 3.2Z"),
        Sign::Partitioned => ("bad", SQUARE, "M0-4V-1.5M0 1.5V4M-4 0H-2M2 0H4"),
        Sign::Healed => ("good", SQUARE, "M-4 0H4M0-4V4"),
    };
    Symbol { class, body, glyph }
}

/// What is said of a flight, with the symbol that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feature {
    Delivered,
    Dropped,
    Copied,
    Corrupted,
    Unreachable,
    Flying,
    Stream,
}

impl Feature {
    pub(super) const ALL: [Self; 7] =
        [Self::Delivered, Self::Dropped, Self::Copied, Self::Corrupted, Self::Unreachable, Self::Flying, Self::Stream];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Dropped => "dropped",
            Self::Copied => "duplicate",
            Self::Corrupted => "corrupted",
            Self::Unreachable => "unreachable",
            Self::Flying => "in flight at the end",
            Self::Stream => "stream",
        }
    }

    pub(super) fn symbol(self) -> Symbol {
        let (class, body, glyph) = match self {
            Self::Delivered => ("packet", "M-8-1H2V-5L8 0L2 5V1H-8Z", ""),
            Self::Dropped => ("bad", CROSS, ""),
            Self::Copied => ("copy", "M-8-1H-4.5V1H-8ZM-2-1H1.5V1H-2ZM2-5L8 0L2 5Z", ""),
            Self::Corrupted => ("odd", "M2-8L-5 1.5H-.5L-2 8L5-2H.5Z", ""),
            Self::Unreachable => ("bad", DISC, "M-3.5 3.5L3.5-3.5"),
            Self::Flying => ("note", "M-7-1.5H-4V1.5H-7ZM-1.5-1.5H1.5V1.5H-1.5ZM4-1.5H7V1.5H4Z", ""),
            Self::Stream => ("packet", "M-8-3H8V-1H-8ZM-8 1H8V3H-8Z", ""),
        };
        Symbol { class, body, glyph }
    }

    pub(super) fn has(self, flight: &Flight<'_>) -> bool {
        match self {
            Self::Delivered => matches!(flight.end, FlightEnd::Delivered(_)),
            Self::Dropped => matches!(flight.end, FlightEnd::Dropped(..)),
            Self::Copied => flight.origin == FlightOrigin::Copied,
            Self::Corrupted => flight.corrupted.is_some(),
            Self::Unreachable => matches!(flight.end, FlightEnd::Unreachable(_)),
            Self::Flying => flight.end == FlightEnd::Never,
            Self::Stream => flight.packet.transport == Transport::Stream,
        }
    }
}

/// Returns the feature that gives a flight its colour: of what is said of it, what matters most.
pub(super) fn colour(flight: &Flight<'_>) -> Feature {
    let most = [Feature::Dropped, Feature::Unreachable, Feature::Corrupted, Feature::Copied, Feature::Flying];
    most.into_iter().find(|feature| feature.has(flight)).unwrap_or(Feature::Delivered)
}
