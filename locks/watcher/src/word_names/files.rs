//! Files that are mapped, read once for all processes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kilocore_symbols::{
    Binary, BuildId, DebugFiles, Outline, UnwindSections, UnwindTables, Variables,
};

/// What was read, by the file's device and number.
type Read = BTreeMap<(u64, u64), Rc<Module>>;

/// What was read of files. Clones share it.
#[derive(Clone, Default)]
pub struct Files(Rc<RefCell<Read>>);

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("read", &self.0.borrow().len()).finish()
    }
}

impl Files {
    /// The file at a path. There is nothing in it if it cannot be read.
    pub(crate) fn module(&self, path: &Path) -> Rc<Module> {
        let Ok(metadata) = fs::metadata(path) else { return Rc::default() };
        let key = (metadata.dev(), metadata.ino());
        let known = self.0.borrow().get(&key).map(Rc::clone);
        known.unwrap_or_else(|| {
            let module = Rc::new(Module::read(path));
            self.0.borrow_mut().insert(key, Rc::clone(&module));
            module
        })
    }
}

/// A file that is mapped.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) binary: Option<Binary>,
    pub(crate) variables: Variables,
    pub(crate) tables: Option<Rc<UnwindTables>>,
}

impl Module {
    /// Reads a file once, for all that is asked of it.
    fn read(path: &Path) -> Self {
        let Ok(outline) = Outline::open(path) else { return Self::default() };
        let mut variables = Variables::parse(&outline);
        let tables =
            UnwindSections::parse(&outline).map(|sections| UnwindTables::new(sections).into());
        let binary = Binary::of(path, &outline).ok().map(|mut binary| {
            if let Some(debug) = binary.build_id().and_then(debug_file)
                && binary.take_debug_file(&debug).unwrap_or(false)
            {
                variables = Variables::open(&debug);
            }
            binary
        });
        Self { binary, variables, tables }
    }
}

/// The file with the debugging information of a build.
fn debug_file(id: &BuildId) -> Option<PathBuf> {
    DebugFiles::default().debug(id).into_iter().find(|path| path.is_file())
}
