//! One campaign at a time in a folder.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::CampaignError;

/// A lock on a folder; the operating system gives it back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Locks `directory`, which exists.
    pub(crate) fn take(directory: &Path) -> Result<Self, CampaignError> {
        let path = directory.join("campaign.lock");
        let file = File::options().create(true).write(true).truncate(false).open(&path);
        let file = file.map_err(|source| CampaignError::file(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(CampaignError::InUse(directory.to_owned())),
            Err(TryLockError::Error(source)) => Err(CampaignError::file(&path, source)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // To close the file is not enough: a process that another thread is just starting has a copy until it begins
        // its program. If this fails, the end of the process does it.
        _ = self.file.unlock();
    }
}
