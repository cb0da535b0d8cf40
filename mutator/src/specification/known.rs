//! How what the compiler has said of mutants is kept between builds, and what of it holds after an edit.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Specification;
use super::fingerprint::Fingerprint;
use super::verdicts::Verdicts;
use crate::syntax::source::{FunctionId, FunctionSource};
use crate::text::edit::CandidateId;

/// [`Verdicts`] on one state of the source, by names that do not depend on how candidates are numbered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KnownVerdicts {
    /// A hash of all source that they are about.
    source: u64,
    /// Hashes of its parts.
    fingerprint: Fingerprint,
    rejected: BTreeMap<String, String>,
    incomparable: BTreeSet<String>,
    #[serde(default)]
    without_flow: BTreeMap<String, String>,
    uninstrumented: BTreeMap<String, String>,
    #[serde(default)]
    left_out: BTreeMap<String, String>,
}

/// Hashes of what is compiled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs {
    /// Of all of it.
    pub(crate) all: u64,
    /// Of what is not in the specification files.
    pub(crate) fixed: u64,
}

/// What stands in a reason that other functions' bodies may have a part in. A body is compiled by what stands around
/// all bodies; but of the types of futures, and of those that are `impl` of something, it shows whether they can be
/// sent, shared, moved or unwound, and whether they hold themselves; and a constant in a body may need a function.
const OF_OTHER_BODIES: [&str; 8] = [
    "between threads",
    "unpinned",
    "unwind boundary",
    "general enough",
    "recursion",
    "cycle",
    "opaque type",
    "a constant needs",
];

impl KnownVerdicts {
    pub(crate) fn new(verdicts: &Verdicts, specification: &Specification, inputs: Inputs) -> Self {
        let identity = |candidate: &CandidateId| specification.candidate(*candidate).identity.clone();
        let path = |id: &FunctionId| specification.function(*id).path.clone();
        let named = |(candidate, reason): (&CandidateId, &String)| (identity(candidate), reason.clone());
        Self {
            source: inputs.all,
            fingerprint: specification.fingerprint(inputs.fixed, verdicts),
            rejected: verdicts.rejected.iter().map(named).collect(),
            incomparable: verdicts.incomparable.iter().map(identity).collect(),
            without_flow: verdicts.without_flow.iter().map(|(at, reason)| (path(at), reason.clone())).collect(),
            uninstrumented: verdicts.uninstrumented.iter().map(|(at, reason)| (path(at), reason.clone())).collect(),
            left_out: verdicts.left_out.iter().map(|(at, reason)| (path(at), reason.clone())).collect(),
        }
    }

    /// Returns the verdicts that hold for the source as it is now: all if it is the same, and if only bodies have
    /// changed, those that are about other functions and come from nothing else.
    pub(crate) fn verdicts(&self, specification: &Specification, inputs: Inputs) -> Verdicts {
        let mut verdicts = self.named(specification);
        if self.source == inputs.all {
            return verdicts;
        }
        let Some(changed) = self.changed(specification, &verdicts, inputs) else { return Verdicts::default() };
        let is_same = |place: &FunctionId| !changed.contains(place);
        let is_of_same = |candidate: &CandidateId| match specification.candidate(*candidate).function_id() {
            // A constant is used in many functions: each of them may be what did not compile.
            None => changed.is_empty(),
            Some(function) => is_same(&function),
        };
        let is_own = |reason: &String| !OF_OTHER_BODIES.iter().any(|words| reason.contains(words));
        verdicts.rejected.retain(|candidate, reason| is_of_same(candidate) && is_own(reason));
        verdicts.incomparable.retain(is_of_same);
        verdicts.without_flow.retain(|place, reason| is_same(place) && is_own(reason));
        verdicts.uninstrumented.retain(|place, reason| is_same(place) && is_own(reason));
        verdicts
    }

    /// Returns the functions whose bodies have changed, by file and index; `None` if anything else has, or a function
    /// on which types may depend.
    fn changed(
        &self,
        specification: &Specification,
        verdicts: &Verdicts,
        inputs: Inputs,
    ) -> Option<BTreeSet<FunctionId>> {
        let (before, now) = (&self.fingerprint, specification.fingerprint(inputs.fixed, verdicts));
        if before.fixed != now.fixed || before.functions.len() != now.functions.len() {
            return None;
        }
        let differs = before.functions.iter().zip(&now.functions).map(|(before, now)| before != now);
        let functions = specification.instrumented(verdicts).zip(differs).filter(|(_, differs)| *differs);
        let changed: Vec<&FunctionSource> = functions.map(|((_, function), _)| function).collect();
        if changed.iter().any(|function| function.signature.constness.is_some()) {
            return None;
        }
        // Methods of two traits can have one path, by which verdicts are known.
        let paths: BTreeSet<&str> = changed.iter().map(|function| &*function.path).collect();
        let of_paths = specification.functions().filter(|(_, function)| paths.contains(&*function.path));
        Some(of_paths.map(|(place, _)| place).collect())
    }

    /// Returns all verdicts.
    fn named(&self, specification: &Specification) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for (candidate, placed) in specification.all_candidates() {
            if let Some(reason) = self.rejected.get(&placed.identity) {
                verdicts.rejected.insert(candidate, reason.clone());
            }
            if self.incomparable.contains(&placed.identity) {
                verdicts.incomparable.insert(candidate);
            }
        }
        for (place, function) in specification.functions() {
            if let Some(reason) = self.without_flow.get(&function.path) {
                verdicts.without_flow.insert(place, reason.clone());
            }
            if let Some(reason) = self.uninstrumented.get(&function.path) {
                verdicts.uninstrumented.insert(place, reason.clone());
            }
            // Of two of one path, one may be there.
            let said = |reason: &&String| function.conditions.iter().any(|(_, own)| own == *reason);
            if let Some(reason) = self.left_out.get(&function.path).filter(said) {
                verdicts.left_out.insert(place, reason.clone());
            }
        }
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Settings;
    use crate::operators::Selection;
    use crate::syntax::declarations::Declarations;
    use crate::syntax::names::Names;
    use crate::syntax::source::Source;

    const TEXT: &str = "fn f(a: u32) -> u32 { a + 1 } fn g(a: u32) -> u32 { a + 2 } const fn h(a: u32) -> u32 { a + 3 } fn i(a: u32) -> u32 { a + 4 }";

    fn specification(text: &str) -> Specification {
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let selection = Selection::default();
        let settings =
            Settings { selection: &selection, declarations: &Declarations::default(), names: &Names::default() };
        Specification::new("a", "a", vec![source], &settings)
    }

    /// Returns of which functions verdicts are known after an edit, where one was known of each: a rejected candidate
    /// with this reason, one that cannot be compared, and that it has no data flow; `i` has no probes.
    fn kept(edited: &str, reason: &str, inputs: Inputs) -> [String; 4] {
        let before = specification(TEXT);
        let mut verdicts = Verdicts::default();
        for function in 0..3 {
            let candidates =
                (0..before.candidates.len()).filter(|index| before.candidates[*index].function == Some(function));
            let [first, second, ..] = candidates.collect::<Vec<_>>()[..] else {
                panic!("{function} has two candidates")
            };
            verdicts.rejected.insert(CandidateId::Function(first), reason.to_owned());
            verdicts.incomparable.insert(CandidateId::Function(second));
            verdicts.without_flow.insert(FunctionId { file: 0, index: function }, reason.to_owned());
        }
        verdicts.uninstrumented.insert(FunctionId { file: 0, index: 3 }, reason.to_owned());
        let known = KnownVerdicts::new(&verdicts, &before, Inputs { all: 1, fixed: 1 });
        let now = specification(edited);
        let verdicts = known.verdicts(&now, inputs);
        let name =
            |function: usize| now.sources[0].functions[function].path.rsplit("::").next().expect("a name").to_owned();
        let of = |candidates: Vec<CandidateId>| {
            let functions = candidates.iter().filter_map(|id| now.candidate(*id).function);
            functions.map(&name).collect()
        };
        let at = |places: Vec<FunctionId>| places.iter().map(|id| name(id.index)).collect();
        [
            of(verdicts.rejected.keys().copied().collect()),
            of(verdicts.incomparable.iter().copied().collect()),
            at(verdicts.without_flow.keys().copied().collect()),
            at(verdicts.uninstrumented.keys().copied().collect()),
        ]
    }

    #[track_caller]
    fn check(edited: &str, reason: &str, inputs: Inputs, expect: [&str; 4]) {
        assert_eq!(kept(edited, reason, inputs), expect);
    }

    const EDITED: Inputs = Inputs { all: 2, fixed: 1 };
    const REASON: &str = "mismatched types";

    #[test]
    fn verdicts_on_the_same_source_are_known() {
        check(
            TEXT,
            "`Rc<u8>` cannot be sent between threads safely",
            Inputs { all: 1, fixed: 1 },
            ["fgh", "fgh", "fgh", "i"],
        );
    }

    #[test]
    fn verdicts_on_functions_that_an_edit_left_alone_are_known() {
        check(TEXT, REASON, EDITED, ["fgh", "fgh", "fgh", "i"]);
        check(&TEXT.replace("a + 2", "a + /* two */ 2"), REASON, EDITED, ["fgh", "fgh", "fgh", "i"]);
        check(&TEXT.replace("a + 2", "5 + a + 2"), REASON, EDITED, ["fh", "fh", "fh", "i"]);
        check(&TEXT.replace("a + 1", "1"), REASON, EDITED, ["gh", "gh", "gh", "i"]);
    }

    #[test]
    fn what_other_bodies_may_have_a_part_in_is_asked_again() {
        for reason in [
            "future cannot be sent between threads safely",
            "`F` cannot be unpinned",
            "recursion in an async fn requires boxing",
            "implementation of `Send` is not general enough",
        ] {
            check(&TEXT.replace("a + 1", "1"), reason, EDITED, ["", "gh", "", ""]);
        }
    }

    #[test]
    fn what_was_said_of_constants_holds_as_long_as_no_function_changes() {
        let text = "const A: u32 = 1; fn f() -> u32 { g(A) } fn h() -> u32 { i(2) }";
        let specification = |text: &str| {
            let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
            let settings = Settings {
                selection: &Selection::parse("CVR").expect("a known operator"),
                declarations: &Declarations::default(),
                names: &Names::default(),
            };
            Specification::new("a", "a", vec![source], &settings)
        };
        let before = specification(text);
        let verdicts =
            Verdicts { rejected: [(CandidateId::Constant(1), REASON.to_owned())].into(), ..Verdicts::default() };
        let known = KnownVerdicts::new(&verdicts, &before, Inputs { all: 1, fixed: 1 });
        let kept = |text: &str| known.verdicts(&specification(text), EDITED).rejected.into_keys().collect::<Vec<_>>();
        assert_eq!(kept(text), [CandidateId::Constant(1)]);
        assert_eq!(kept(&text.replace("i(2)", "i( /* two */ 2)")), [CandidateId::Constant(1)]);
        assert_eq!(kept(&text.replace("g(A)", "g(A) + 1")), []);
        assert_eq!(kept(&text.replace("i(2)", "i(A)")), [], "another function may be what did not compile");
        assert_eq!(kept(&text.replace("= 1", "= 3")), []);
    }

    #[test]
    fn nothing_is_known_when_types_may_have_changed() {
        let nothing = [""; 4];
        check(TEXT, REASON, Inputs { all: 2, fixed: 2 }, nothing);
        check(&TEXT.replace("fn g(a: u32)", "fn g(a: u32, b: u32)"), REASON, EDITED, nothing);
        check(&TEXT.replace("a + 3", "a + 4"), REASON, EDITED, nothing);
        check(&TEXT.replace("a + 4", "a + 5"), REASON, EDITED, nothing);
        check(&format!("{TEXT} fn j() {{}}"), REASON, EDITED, nothing);
    }
}
