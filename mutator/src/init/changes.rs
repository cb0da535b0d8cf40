//! The files to write: collected first, and written when all are known to fit.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::manifest::Kind;
use super::vendor::Copy;
use super::{InitError, Initialised, io};

/// The files to write.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    /// The engine's source, if it is not there as it should be.
    pub(super) vendored: Option<Copy<'a>>,
    /// New files and their texts.
    pub(super) new: Vec<(PathBuf, String)>,
    edited: Vec<Edited>,
}

/// A file that is there.
#[derive(Debug)]
struct Edited {
    path: PathBuf,
    text: String,
    /// What was changed.
    changes: Vec<String>,
}

impl Changes<'_> {
    /// Edits a file's text, after what was done to it before: `edit` returns the new text with what was changed, if
    /// anything is. Returns whether that is so.
    pub(super) fn edit(
        &mut self,
        path: &Path,
        edit: impl FnOnce(&str) -> Result<Option<(String, Vec<String>)>, String>,
    ) -> Result<bool, InitError> {
        let known = self.edited.iter_mut().find(|edited| edited.path == path);
        let text = match &known {
            Some(edited) => edited.text.clone(),
            None => read(path)?,
        };
        let edited = edit(&text).map_err(|message| InitError::Syntax { path: path.into(), message })?;
        let Some((text, changes)) = edited else { return Ok(false) };
        match known {
            Some(edited) => {
                edited.text = text;
                edited.changes.extend(changes);
            }
            None => self.edited.push(Edited { path: path.into(), text, changes }),
        }
        Ok(true)
    }

    /// Writes everything: first what nobody refers to yet.
    pub(super) fn apply(
        self,
        kind: Kind,
        system: &str,
        begin: Option<PathBuf>,
        outside: Option<PathBuf>,
    ) -> Result<Initialised, InitError> {
        let mut written: Vec<PathBuf> = self.new.iter().map(|(path, _)| path.clone()).collect();
        let mut changed = Vec::new();
        if let Some(copy) = &self.vendored {
            copy.write()?;
            match copy.replaces {
                true => changed.push((copy.folder.clone(), vec!["the engine's source of this command".to_owned()])),
                false => written.push(copy.folder.clone()),
            }
        }
        for (path, text) in &self.new {
            create(path, text)?;
        }
        // The manifests come last: a library without its section is a library as before.
        for edited in self.edited.iter().rev() {
            replace(&edited.path, &edited.text)?;
        }
        changed.extend(self.edited.into_iter().map(|edited| (edited.path, edited.changes)));
        Ok(Initialised { system: system.to_owned(), is_http: kind == Kind::Http, begin, written, changed, outside })
    }
}

pub(super) fn read(path: &Path) -> Result<String, InitError> {
    std::fs::read_to_string(path).map_err(|error| io("read", path, error))
}

/// Writes a file that is not there.
fn create(path: &Path, text: &str) -> Result<(), InitError> {
    let write = || {
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        File::create_new(path)?.write_all(text.as_bytes())
    };
    write().map_err(|error| io("write", path, error))
}

/// Writes a file so that it is there as a whole or as it was before.
fn replace(path: &Path, text: &str) -> Result<(), InitError> {
    let write = || {
        let permissions = std::fs::metadata(path)?.permissions();
        let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/")))?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(permissions)?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error: std::io::Error| io("write", path, error))
}
