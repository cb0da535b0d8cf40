//! Reads the specification of a package: its files, what the package declares, the candidates.

use super::files::{list_files, read};
use crate::error::MutatorError;
use crate::mutation::Settings;
use crate::operators::Selection;
use crate::package::{Member, Package};
use crate::specification::Specification;
use crate::syntax::declarations::Declarations;

pub(super) fn read_specification(package: &Package, selection: &Selection) -> Result<Specification, MutatorError> {
    let sources = package.files.iter().map(|file| package.source(file)).collect::<Result<Vec<_>, _>>()?;
    let mut declarations = Declarations::default();
    for member in &package.members {
        read_declarations(member, &mut declarations)?;
    }
    let settings = Settings { selection, declarations: &declarations, names: &package.names };
    Ok(Specification::new(package.name(), &package.system, sources, &settings))
}

/// Reads what all files of a package declare; one that does not parse by itself declares nothing.
fn read_declarations(member: &Member, declarations: &mut Declarations) -> Result<(), MutatorError> {
    for (relative, path) in list_files(&member.root().join("src"))? {
        if relative.extension().is_some_and(|extension| extension == "rs") {
            let text = read(&path)?;
            if let Ok(mut syntax) = syn::parse_str(&text) {
                member.conditions.strip(&mut syntax);
                declarations.add(&syntax, &text);
            }
        }
    }
    Ok(())
}
