//! Which operators are applied, and in which of their definitions.

use std::collections::BTreeMap;

use simutant_outcomes::Tier;

use super::ALL;
use super::operator::Replacements;
use crate::nearest::nearest;

/// A set of mutation operators, each with the replacements that it makes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selection {
    replacements: BTreeMap<&'static str, Replacements>,
}

/// A name in a list of operators that nothing has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no operator or set `{name}`{}; the sets are {}, the operators {}", nearest.map(|nearest| format!(", did you mean `{nearest}`?")).unwrap_or_default(), SETS.join(", "), known_operators().join(", "))]
pub struct UnknownOperator {
    /// The name.
    pub name: String,
    /// The known name that is most like it, if one is.
    pub nearest: Option<&'static str>,
}

/// The names of sets. An operator with one of these names could not be chosen by itself.
const SETS: [&str; 5] = ["default", "a", "andrews", "mujava", "all"];

/// The names of definitions; the reduced one comes first.
const DEFINITIONS: [(&str, Replacements); 4] = [
    ("", Replacements::Reduced),
    ("all", Replacements::All),
    ("andrews", Replacements::Andrews),
    ("mujava", Replacements::MuJava),
];

/// The operators of Andrews, Briand and Labiche, "Is mutation an appropriate tool for testing experiments?" (ICSE
/// 2005), section 3.3: constants, operators of each class, negated decisions, deleted statements.
const ANDREWS: [&str; 8] = ["AOR", "ROR", "COR", "COI", "LOR", "SOR", "ASR", "SDL"];

/// Those that are muJava's under its own name only; ours have other names or more mutants.
const MUJAVA_ONLY: [&str; 8] = ["AORB", "AODU", "AOIU", "AOIS", "COD", "LOI", "LOD", "ASRS"];

/// The other operators of muJava's method level that Rust has a counterpart of. There is no unary plus for AORU, and
/// `++` and `--` are compound assignments, so AORS and AODS are a part of ASRS and SDL.
const MUJAVA: [&str; 9] = ["ROR", "COR", "COI", "SOR", "LOR", "SDL", "VDL", "CDL", "ODL"];

impl Default for Selection {
    /// Returns the operators of tiers A and B with their reduced sets of replacements.
    fn default() -> Self {
        Self::of(|tier| tier != Tier::C)
    }
}

impl Selection {
    fn of(tiers: impl Fn(Tier) -> bool) -> Self {
        let chosen = ALL.iter().filter(|operator| tiers(operator.tier));
        Self { replacements: chosen.map(|operator| (operator.name, Replacements::Reduced)).collect() }
    }

    /// Reads a list: names of sets and of operators with commas between them, in any case. An operator's name can be
    /// followed by its definition, as in `ROR:all`: `all`, `andrews` or `mujava`; the reduced one otherwise. `+NAME`
    /// adds to what stands before, as a name alone does, and `-NAME` takes away; a list that begins with either begins
    /// with `default`.
    ///
    /// The sets: `default` has tiers A and B, `a` has tier A, `andrews` the operators of Andrews, Briand and Labiche
    /// (ICSE 2005), `mujava` those of muJava's method level as its source defines them, `all` everything. Where two
    /// sets define an operator in two ways, the one that is named last decides.
    ///
    /// # Errors
    /// A name that nothing has.
    pub fn parse(list: &str) -> Result<Self, UnknownOperator> {
        let starts_from_default = list.trim_start().starts_with(['+', '-']);
        let mut selection = if starts_from_default { Self::default() } else { Self { replacements: BTreeMap::new() } };
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (is_removed, name) = match item.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, item.strip_prefix('+').unwrap_or(item)),
            };
            let named = Self::named(name.trim())?;
            if is_removed {
                selection.replacements.retain(|operator, _| !named.replacements.contains_key(operator));
            } else {
                selection.replacements.extend(named.replacements);
            }
        }
        Ok(selection)
    }

    fn named(name: &str) -> Result<Self, UnknownOperator> {
        let defined = |names: &[&'static str], replacements| names.iter().map(|name| (*name, replacements)).collect();
        Ok(match name.to_lowercase().as_str() {
            "default" => Self::default(),
            "a" => Self::of(|tier| tier == Tier::A),
            "all" => Self::of(|_| true),
            "andrews" => {
                let mut replacements: BTreeMap<_, _> = defined(&ANDREWS, Replacements::All);
                replacements.extend(["COR", "COI", "LVR"].map(|name| (name, Replacements::Andrews)));
                Self { replacements }
            }
            "mujava" => {
                let mut replacements: BTreeMap<_, _> = defined(&MUJAVA, Replacements::MuJava);
                replacements.extend(MUJAVA_ONLY.map(|name| (name, Replacements::MuJava)));
                Self { replacements }
            }
            _ => {
                let (operator, replacements) = name.split_once(':').unwrap_or((name, ""));
                let known = ALL.iter().find(|known| known.name.eq_ignore_ascii_case(operator));
                let replacements = DEFINITIONS.iter().find(|(text, _)| text.eq_ignore_ascii_case(replacements));
                match (known, replacements) {
                    (Some(known), Some((_, replacements))) => {
                        Self { replacements: BTreeMap::from([(known.name, *replacements)]) }
                    }
                    _ => {
                        return Err(UnknownOperator {
                            name: name.to_owned(),
                            nearest: nearest(operator, SETS.into_iter().chain(known_operators())),
                        });
                    }
                }
            }
        })
    }

    /// Returns the same operators with all the replacements that they can make, instead of those that subsume the
    /// others.
    #[must_use]
    pub fn with_all_replacements(mut self) -> Self {
        for replacements in
            self.replacements.values_mut().filter(|replacements| **replacements == Replacements::Reduced)
        {
            *replacements = Replacements::All;
        }
        self
    }

    /// Returns in which definition an operator is applied, if it is.
    pub(crate) fn replacements(&self, operator: &str) -> Option<Replacements> {
        self.replacements.get(operator).copied()
    }
}

impl std::fmt::Display for Selection {
    /// Writes the name of the set that this is, or else the names of the operators in alphabetical order, each with its
    /// definition if that is not the reduced one. [`Selection::parse`] reads it back.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(set) = SETS.into_iter().find(|set| Self::named(set).is_ok_and(|named| named == *self)) {
            return formatter.write_str(set);
        }
        for (index, (name, replacements)) in self.replacements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{name}")?;
            if let Some((text, _)) = DEFINITIONS[1..].iter().find(|(_, known)| known == replacements) {
                write!(formatter, ":{text}")?;
            }
        }
        Ok(())
    }
}

fn known_operators() -> Vec<&'static str> {
    ALL.iter().map(|operator| operator.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expect: &str) {
        assert_eq!(Selection::parse(list).expect("all names are known").to_string(), expect);
    }

    #[test]
    fn lists_add_and_take_away() {
        check("ror, AOR", "AOR,ROR");
        check("andrews,-lvr,-SDL", "AOR:all,ASR:all,COI:andrews,COR:andrews,LOR:all,ROR:all,SOR:all");
        check("ROR,CALL,-ROR", "CALL");
        let without = Selection::parse("-SDL").expect("it is known");
        assert_eq!(without.replacements("SDL"), None);
        assert_eq!(without.replacements("MSG-D"), Some(Replacements::Reduced));
        assert_eq!(without.replacements("AOIS"), None);
        let with = Selection::parse("+aois").expect("it is known");
        assert_eq!(with.replacements("AOIS"), Some(Replacements::Reduced));
        assert!(with.replacements("SDL").is_some());
    }

    #[test]
    fn the_last_definition_decides_and_reduced_ones_can_be_widened() {
        assert_eq!(Selection::parse("mujava,ROR").expect("known").replacements("ROR"), Some(Replacements::Reduced));
        let all = Selection::parse("ROR").expect("known").with_all_replacements();
        assert_eq!(all.to_string(), "ROR:all");
    }

    #[test]
    fn what_is_written_is_read_back() {
        for list in ["default", "a", "andrews", "mujava", "all", "default,-SDL", "ror:all,COR:mujava"] {
            let selection = Selection::parse(list).expect("all names are known");
            assert_eq!(Selection::parse(&selection.to_string()).as_ref(), Ok(&selection), "{list}");
            let all = selection.with_all_replacements();
            assert_eq!(Selection::parse(&all.to_string()), Ok(all), "{list}");
        }
        assert_eq!(Selection::default().to_string(), "default");
        assert!(Selection::parse("ROR:some").is_err());
    }

    #[test]
    fn a_set_names_known_operators_only() {
        for set in SETS {
            let selection = Selection::parse(set).expect("a set");
            assert!(!selection.replacements.is_empty(), "{set}");
            for name in selection.replacements.keys() {
                assert!(known_operators().contains(name), "{set}: {name}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_one() {
        let error = Selection::parse("default,SDK").expect_err("it is unknown");
        assert_eq!(error.nearest, Some("SDL"));
        let message = error.to_string();
        assert!(
            message.starts_with("there is no operator or set `SDK`, did you mean `SDL`?; the sets are default, a,")
        );
        assert_eq!(Selection::parse("nothing-like-it").expect_err("it is unknown").nearest, None);
    }
}
