//! Reads the specification of a package: its files, what the package declares, the candidates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{list_files, read};
use crate::error::MutatorError;
use crate::mutation::Settings;
use crate::operators::Selection;
use crate::package::{Member, Package};
use crate::specification::Specification;
use crate::syntax::declarations::Declarations;
use crate::syntax::module_files::ModuleFile;
use crate::syntax::parts::join;
use crate::syntax::source::module_path;

pub(super) fn read_specification(package: &Package, selection: &Selection) -> Result<Specification, MutatorError> {
    let mut sources = package.files.iter().map(|file| package.source(file)).collect::<Result<Vec<_>, _>>()?;
    let mut declaring = Vec::new();
    for (index, member) in package.members.iter().enumerate() {
        let modules = member.modules();
        for (file, source) in package.files.iter().zip(&mut sources).filter(|(file, _)| file.member == index) {
            source.edition = member.metadata.edition;
            source.crate_module = module_of(member, &modules, &member.root().join(&file.path), Path::new(&file.path));
        }
        read_declaring(member, &modules, &mut declaring)?;
    }
    let files = declaring.iter().map(|file| (file.module.as_str(), &file.syntax, file.text.as_str()));
    let declarations = Declarations::new(files);
    let settings = Settings { selection, declarations: &declarations, names: &package.names };
    let mut specification = Specification::new(package.name(), &package.system, sources, &settings);
    specification.leave_out(&package.skips, package.manifest_path())?;
    Ok(specification)
}

/// A file that may declare what a specification uses.
struct DeclaringFile {
    /// The module that it holds, from the crate's name on.
    module: String,
    syntax: syn::File,
    text: String,
}

/// Reads all files of a package that may be compiled; one that does not parse by itself declares nothing.
fn read_declaring(
    member: &Member,
    modules: &BTreeMap<PathBuf, ModuleFile>,
    declaring: &mut Vec<DeclaringFile>,
) -> Result<(), MutatorError> {
    for (relative, path) in list_files(&member.root().join("src"))? {
        let is_source = relative.extension().is_some_and(|extension| extension == "rs");
        if is_source && modules.get(&path).is_none_or(|module| module.left_out.is_none()) {
            let text = read(&path)?;
            if let Ok(mut syntax) = syn::parse_str(&text) {
                member.conditions.strip(&mut syntax);
                let module = module_of(member, modules, &path, &Path::new("src").join(&relative));
                declaring.push(DeclaringFile { module, syntax, text });
            }
        }
    }
    Ok(())
}

/// Returns the module that a file holds: the declared one, or the one that its name says if a macro may declare it.
fn module_of(member: &Member, modules: &BTreeMap<PathBuf, ModuleFile>, path: &Path, relative: &Path) -> String {
    let by_name = || {
        let name = member.library().map_or(member.metadata.name.as_str(), |library| &library.name);
        join(&name.replace('-', "_"), &module_path(&relative.to_string_lossy()))
    };
    modules.get(path).map_or_else(by_name, |module| module.module.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgements::{described, read_judgements};
    use crate::mutation::PlacedCandidate;

    const WINDOW: &str = "use crate::shapes::Shape; use std::ops::Range;
        pub struct Window { base: u32, next: u32, state: State }
        enum State { Open, Shut }
        impl Window {
            fn grow(&mut self, by: u32, to: u32) -> Shape { if self.base < to { self.next += self.base; }
                self.state = State::Open; let _ = max(self.base, self.next); Shape::default() }
        }
        fn max(one: u32, other: u32) -> u32 { if one > LIMIT { one } else { other } }
        const LIMIT: u32 = 4;";

    /// Returns the identities of all candidates of a package with these files beside `window`, and the names that are
    /// ambiguous.
    fn read_package(window: &str, others: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let specification = try_package(window, others, "").expect("it is read");
        let identities = specification.all_candidates().map(|(_, placed)| placed.identity.clone()).collect();
        (identities, specification.no_sites().ambiguous.into_iter().map(|ambiguous| ambiguous.name).collect())
    }

    /// Reads such a package, with more lines in the section of the system.
    fn try_package(window: &str, others: &[(&str, &str)], section: &str) -> Result<Specification, MutatorError> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let modules = others.iter().map(|(name, _)| format!("mod {name};")).collect::<String>();
        let shapes = "#[derive(Default)] pub struct Shape;";
        let manifest = "[package]\nname = \"toy-package\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
            [package.metadata.simutant.systems.toy]\ntype = \"Toy\"\nspecification = [\"src/window.rs\"]\n";
        let manifest = manifest.to_owned() + section;
        let files = [
            ("Cargo.toml".to_owned(), manifest),
            ("src/lib.rs".to_owned(), format!("mod window; mod shapes; {modules}")),
            ("src/shapes.rs".to_owned(), shapes.to_owned()),
            ("src/window.rs".to_owned(), window.to_owned()),
        ];
        let others = others.iter().map(|(name, text)| (format!("src/{name}.rs"), (*text).to_owned()));
        for (file, text) in files.into_iter().chain(others) {
            super::super::files::write(&folder.path().join(file), &text).expect("room");
        }
        let package = Package::find(&folder.path().join("Cargo.toml"), "toy").expect("the test's own package");
        read_specification(&package, &Selection::parse("all").expect("a set"))
    }

    #[test]
    fn the_manifest_and_comments_leave_code_out_and_say_why() {
        let window = WINDOW.replace("fn max(", "// simutant: skip LVR, ROR: limits are tried elsewhere\nfn max(");
        let skip = "skip = [\n  { function = \"Window::*\", reason = \"old code\" },\n]\n";
        let specification = try_package(&window, &[], skip).expect("it is read");
        let sites = specification.no_sites();
        let listed: Vec<(&str, &str)> =
            sites.skipped.iter().map(|skipped| (&*skipped.path, &*skipped.reason)).collect();
        assert_eq!(listed, [("window::max", "limits are tried elsewhere"), ("window::Window::grow", "old code")]);
        let all = read_package(WINDOW, &[]).0.len();
        let is_stand_in = |(_, placed): &(_, &PlacedCandidate)| placed.candidate.change.stands_in;
        let left = specification.all_candidates().count();
        assert!(left > 0 && sites.skipped.iter().all(|skipped| skipped.mutants > 0), "{:?}", sites.skipped);
        let stand_ins = try_package(WINDOW, &[], "").expect("it is read").all_candidates().filter(is_stand_in).count();
        assert!((all - left - stand_ins..=all - left).contains(&sites.mutants_skipped()), "{all} {left} {stand_ins}");
        let unknown = skip.replace("Window::*", "Pane::*");
        let message = try_package(WINDOW, &[], &unknown).expect_err("there is none").to_string();
        assert!(
            message.ends_with("Cargo.toml:10: `skip` matches nothing of the specification: function `Pane::*`"),
            "{message}"
        );
    }

    /// Judgements on mutants of the systems that come with Simutant are about code that is there.
    #[test]
    fn every_judgement_on_our_systems_has_a_mutant() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folders =
            root.join("systems").read_dir().expect("it is there").map(|entry| entry.expect("it can be listed"));
        let files = folders.map(|folder| folder.path().join(crate::judgements::FILE)).filter(|file| file.exists());
        let of_file = |file: PathBuf| -> toml::Table {
            toml::from_str(&read(&file).expect("it can be read")).expect("it is TOML")
        };
        let judged: Vec<(String, toml::Value)> = files.flat_map(of_file).collect();
        assert!(judged.len() >= 4, "mutants of our systems are judged: {judged:?}");
        for (system, entries) in &judged {
            let package = Package::find(&root.join("Cargo.toml"), system).expect("it is one of ours");
            let specification = read_specification(&package, package.operators()).expect("it is read");
            let known = |identity: &str| {
                let (id, _) = specification.all_candidates().find(|(_, placed)| placed.identity == identity)?;
                Some(described(&specification.no_sites(), &specification.mutant(id, 0)))
            };
            for (identity, entry) in entries.as_table().expect("a table for each mutant") {
                let mutant = known(identity).unwrap_or_else(|| panic!("{system}.{identity} is judged, and gone"));
                // Lines are those of the day when it was judged.
                let code = |text: &str| text.split_once(": ").map(|(_, code)| code.to_owned());
                let shown = entry["mutant"].as_str().expect("it is for people");
                assert_eq!(code(shown), code(&mutant), "{system}.{identity}");
            }
            read_judgements(&package.judgements(), system).expect("each has a reason");
        }
    }

    #[test]
    fn what_other_files_declare_under_the_same_names_takes_no_mutants_away() {
        let alone = read_package(WINDOW, &[]);
        let other = "pub struct Window { base: String, state: u8 } enum State { Odd } pub struct Shape { pub a: u8 }
                     fn max(a: u8) {} const LIMIT: &str = \"\"; impl Window { fn grow(&self) {} }";
        assert_eq!(read_package(WINDOW, &[("other", other)]), alone);
        assert!(alone.0.len() > 40 && alone.1.is_empty(), "{alone:?}");
    }

    #[test]
    fn a_name_that_no_import_explains_is_noted_if_there_are_several() {
        let window = "use elsewhere::*; fn f(shape: Pane) { g(shape.a, shape.b) }";
        let other = ("other", "pub struct Pane { a: u32, b: u32 }");
        let third = ("third", "pub struct Pane { a: i32, b: i32 }");
        let ((one, none), (several, noted)) = (read_package(window, &[other]), read_package(window, &[other, third]));
        assert!(several.len() < one.len(), "{several:?} {one:?}");
        assert_eq!((none, noted), (Vec::new(), vec!["Pane".to_owned()]));
    }
}
