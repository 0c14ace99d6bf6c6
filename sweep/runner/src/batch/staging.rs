//! Copies of programs for the nodes of a cluster.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kilocore_points::Key;

use super::whole_file;
use crate::places::{self, Purpose};

/// Letters of a program's digest in its folder's name.
const LETTERS: usize = 16;

/// Copies of programs in a folder that all nodes see. A program that is replaced while tasks run is another program, so
/// each has a folder with its digest, and its copy is made once.
#[derive(Debug)]
pub(crate) struct Staging<'a> {
    own: &'a Path,
    staged: HashMap<PathBuf, PathBuf>,
}

impl<'a> Staging<'a> {
    pub(crate) fn new(own: &'a Path) -> Self {
        Self { own, staged: HashMap::new() }
    }

    /// The copy of a program.
    pub(crate) fn copy_of(&mut self, program: &Path) -> io::Result<PathBuf> {
        if let Some(copy) = self.staged.get(program) {
            return Ok(copy.clone());
        }
        let mut bytes = Vec::new();
        let mut file = File::open(program)?;
        file.read_to_end(&mut bytes)?;
        let digest = Key::of_bytes(&bytes).to_string();
        let folder = places::folder(self.own, Purpose::Programs)?.join(&digest[..LETTERS]);
        let copy = folder.join(program.file_name().unwrap_or_default());
        if !copy.exists() {
            fs::create_dir_all(&folder)?;
            whole_file::write(&copy, &bytes, Some(file.metadata()?.permissions()))?;
        }
        self.staged.insert(program.to_owned(), copy.clone());
        Ok(copy)
    }
}
