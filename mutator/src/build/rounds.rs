//! Compiles again and again, until the compiler has nothing against the mutants that are left.

use std::path::Path;

use super::cargo::Compiled;
use super::files::write;
use super::request::BuildEvent;
use super::workspace::Workspace;
use crate::error::MutatorError;
use crate::instrument::{Instrumented, Instrumenter, Probes};
use crate::package::Package;
use crate::specification::Specification;
use crate::specification::known::{Inputs, KnownVerdicts};
use crate::specification::verdicts::Verdicts;
use crate::syntax::source::FunctionId;

/// How often the compiler may find something new. Each time something is rejected, so this is never reached by
/// ordinary code: errors come in four or five waves (names, types, borrows, ...).
const ROUNDS_MAX: usize = 100;

/// How many bytes of instrumented code compile without patience. Our own systems have half a megabyte.
const LONG_BYTES: usize = 4 << 20;

/// Compiling again and again, until the compiler has nothing against the mutants that are left.
pub(super) struct Rounds<'a> {
    pub(super) package: &'a Package,
    pub(super) workspace: &'a Workspace,
    pub(super) specification: &'a Specification,
    pub(super) probes: Probes,
    /// What does not change between rounds.
    pub(super) inputs: Inputs,
}

/// What is left after the last round.
pub(super) struct Accepted<T> {
    pub(super) instrumented: Instrumented,
    pub(super) verdicts: Verdicts,
    /// What was compiled.
    pub(super) product: T,
}

/// What compiles instrumented files that were written: see [`Rounds::run`].
pub(super) type Compile<'a, T> =
    dyn FnMut(&Instrumented, &mut dyn FnMut(BuildEvent)) -> Result<Compiled<T>, MutatorError> + 'a;

impl Rounds<'_> {
    /// Writes the instrumented files and calls `compile`, until that gives something. What the compiler says against
    /// mutants is known the next time.
    pub(super) fn run<T>(
        &self,
        progress: &mut dyn FnMut(BuildEvent),
        compile: &mut Compile<'_, T>,
    ) -> Result<Accepted<T>, MutatorError> {
        let &Self { workspace, specification, probes, inputs, .. } = self;
        let known = workspace.root.join("verdicts.json");
        let mut verdicts = read_verdicts(&known, specification, inputs).unwrap_or_default();
        let instrumenter = Instrumenter::new(specification, probes);
        for round in 1..=ROUNDS_MAX {
            let mut instrumented = instrumenter.instrument(&verdicts);
            let is_draft = !verdicts.settled.is_empty();
            if is_draft {
                instrumented.mark_as_draft();
            }
            workspace.write_sources(&instrumented)?;
            if round == 1 {
                instrumented.if_longer(LONG_BYTES, specification).into_iter().for_each(&mut *progress);
            }
            let rejected = verdicts.rejected.len();
            progress(BuildEvent::Compiling { round, mutants: instrumented.sites.mutants.len(), rejected });
            let (tried, before) = (verdicts.suspected.clone(), verdicts.clone());
            let errors = match compile(&instrumented, progress)? {
                Compiled::Product(product) if !is_draft && tried.is_empty() && !self.leave_out(&mut verdicts) => {
                    let said = KnownVerdicts::new(&verdicts, specification, inputs);
                    write(&known, &serde_json::to_string(&said).expect("verdicts are plain data"))?;
                    return Ok(Accepted { instrumented, verdicts, product });
                }
                // A draft does not compile, for nobody runs it.
                // Those that were tried are still to be put in, or what is not compiled to be left out.
                Compiled::Product(_) => Vec::new(),
                Compiled::Errors(errors) => errors,
            };
            for error in &errors {
                workspace.blame(error, &instrumented, specification, &mut verdicts);
            }
            self.leave_out(&mut verdicts);
            verdicts.end_trial(&tried, &before, &specification.candidates);
            let is_news = before.count() != verdicts.count() || !tried.is_empty() || !verdicts.suspected.is_empty();
            if is_news {
                let functions: Vec<FunctionId> = specification.instrumented(&before).map(|(id, _)| id).collect();
                verdicts.settle(functions.into_iter(), &before, &specification.candidates);
            } else if is_draft {
                verdicts.settled.clear();
            } else {
                return Err(workspace.does_not_compile(&errors));
            }
        }
        let message = format!("mutants were still rejected after {ROUNDS_MAX} builds");
        Err(MutatorError::Cargo { directory: workspace.root.clone(), message })
    }
}

impl Rounds<'_> {
    /// Notes which functions are not compiled, now that build scripts have run; returns whether there are any more.
    fn leave_out(&self, verdicts: &mut Verdicts) -> bool {
        let before = verdicts.left_out.len();
        let conditions = self.workspace.conditions.borrow();
        for (id, function) in self.specification.functions().filter(|(_, function)| !function.conditions.is_empty()) {
            let member = self.package.files[id.file].member;
            let Some(added) = conditions.get(&member) else { continue };
            let known = self.package.members[member].conditions.with_script(added);
            let fails = |(condition, _): &&(syn::Meta, String)| known.holds(condition) == Some(false);
            if let Some((_, reason)) = function.conditions.iter().find(fails) {
                verdicts.left_out.insert(id, reason.clone());
            }
        }
        verdicts.left_out.len() > before
    }
}

/// Reads what earlier builds found out that still holds; a file that cannot be used is as good as none.
fn read_verdicts(path: &Path, specification: &Specification, inputs: Inputs) -> Option<Verdicts> {
    let known: KnownVerdicts = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    Some(known.verdicts(specification, inputs))
}
