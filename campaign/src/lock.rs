//! One campaign at a time in a folder.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::CampaignError;

/// A lock on a folder; the operating system gives it back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    /// Locked as long as it is open.
    _file: File,
}

impl Lock {
    /// Locks `directory`, which exists.
    pub(crate) fn take(directory: &Path) -> Result<Self, CampaignError> {
        let path = directory.join("campaign.lock");
        let file = File::options().create(true).write(true).truncate(false).open(&path);
        let file = file.map_err(|source| CampaignError::file(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(CampaignError::InUse(directory.to_owned())),
            Err(TryLockError::Error(source)) => Err(CampaignError::file(&path, source)),
        }
    }
}
