//! Files that other nodes and later sweeps read.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file. Who reads it finds it whole or as it was, also after the machine has failed.
pub(crate) fn write(file: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    if let Some(permissions) = permissions {
        new.as_file().set_permissions(permissions)?;
    }
    new.as_file().sync_all()?;
    new.persist(file)?;
    // The name is there after the machine has failed only if the folder is written, too.
    File::open(folder)?.sync_all()
}
