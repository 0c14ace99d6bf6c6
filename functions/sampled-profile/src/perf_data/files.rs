//! Finds the programs and libraries that ran, and opens each once.
//!
//! If the recording says which build of a file ran, only a file of that build is taken. If the file
//! itself is gone, perf's own copy of it (in `~/.debug`) is tried.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use kilocore_symbols::{Binary, BuildId, Outline, UnwindSections, own_vdso};

use super::features::Features;
use super::kernel::is_this_host;
use super::options::Options;
use super::place::{GONE, Index, Object};
use crate::in_file::with_debug_file;

/// A file that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) binary: Binary,
    source: Source,
}

/// Where its bytes are.
#[derive(Debug)]
enum Source {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Opened {
    /// What it says of how to unwind.
    pub(super) fn unwind_sections(&self) -> Option<UnwindSections> {
        match &self.source {
            Source::File(path) => UnwindSections::parse(&Outline::open(path).ok()?),
            Source::Bytes(bytes) => UnwindSections::parse(bytes),
        }
    }
}

/// The opened files by object, or the reason why a file could not be opened.
#[derive(Debug)]
pub(super) struct Files<'a> {
    pub(super) features: &'a Features,
    pub(super) options: &'a Options,
    opened: HashMap<Index, Result<Opened, String>>,
}

impl<'a> Files<'a> {
    pub(super) fn new(features: &'a Features, options: &'a Options) -> Self {
        Self { features, options, opened: HashMap::new() }
    }

    /// The file of an object.
    pub(super) fn open(&mut self, index: Index, object: &Object) -> &Result<Opened, String> {
        let Self { features, options, opened } = self;
        let search = Search { features, options };
        opened.entry(index).or_insert_with(|| match object {
            Object::File { path, build_id, is_gone } => {
                let gone = if *is_gone { GONE } else { "" };
                let seen = || features.build_id(&format!("{path}{gone}"));
                search.file(path, build_id.as_ref().or_else(seen), *is_gone)
            }
            Object::Vdso => search.vdso(),
            Object::Anonymous { .. } => Err("it is memory without a file".to_owned()),
        })
    }
}

/// Where to look for files.
struct Search<'a> {
    features: &'a Features,
    options: &'a Options,
}

impl Search<'_> {
    fn file(
        &self,
        path: &str,
        recorded: Option<&BuildId>,
        is_gone: bool,
    ) -> Result<Opened, String> {
        let mut why = None;
        let mut candidates = self.candidates(path, recorded);
        if is_gone && recorded.is_none() {
            // Nothing tells whether what is at the path now is what ran.
            candidates.retain(|candidate| candidate != Path::new(path));
            why = Some("it was deleted or built anew while the program ran".to_owned());
        }
        for candidate in candidates {
            let wrong = match Binary::open(&candidate) {
                Ok(binary) if recorded.is_none() || binary.build_id() == recorded => {
                    let binary = with_debug_file(binary, &self.options.debug_files);
                    return Ok(Opened { binary, source: Source::File(candidate) });
                }
                Ok(_) => "it was built anew since; record again, or give the old one".to_owned(),
                Err(error) => error.to_string(),
            };
            why.get_or_insert(wrong);
        }
        Err(why.unwrap_or_else(|| "it is nowhere".to_owned()))
    }

    /// The paths at which a file may be: in the given directories, at its original path, and where
    /// perf keeps its copy.
    fn candidates(&self, path: &str, recorded: Option<&BuildId>) -> Vec<PathBuf> {
        let path = Path::new(path);
        let relative = path.strip_prefix("/").unwrap_or(path);
        let given = self.options.files.iter().flat_map(|directory| {
            let whole = directory.join(relative);
            let name = path.file_name().map(|name| directory.join(name));
            [Some(whole), name].into_iter().flatten().filter(|path| path.is_file())
        });
        let copy = recorded.and_then(|id| self.options.debug_files.image(id));
        given.chain([path.to_owned()]).chain(copy).collect()
    }

    /// The vDSO, the code that the kernel maps into processes: this host's own, or perf's copy.
    fn vdso(&self) -> Result<Opened, String> {
        let seen = self.features.files.iter().find(|file| file.path == "[vdso]");
        let recorded = seen.map(|file| &file.build_id);
        let is_it = |binary: &Binary| match recorded {
            Some(id) => binary.build_id() == Some(id),
            None => is_this_host(self.features),
        };
        let copy = recorded.and_then(|id| fs::read(self.options.debug_files.vdso(id)?).ok());
        for bytes in own_vdso().into_iter().chain(copy) {
            if let Some(binary) = Binary::parse(Path::new("[vdso]"), &bytes).ok().filter(is_it) {
                return Ok(Opened { binary, source: Source::Bytes(bytes) });
            }
        }
        Err("this host's kernel has another one than was recorded".to_owned())
    }
}
