//! Where a file of a known build id may lie besides the place where it ran.

use std::path::PathBuf;

use crate::BuildId;

/// The places to look: perf's cache, which has copies of the files that ran, the system's debugging
/// files, and what debuginfod has fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugFiles {
    /// The folder in which `perf record` keeps copies: `~/.debug`.
    pub perf_cache: Option<PathBuf>,
    /// The folder of the system's debugging files: `/usr/lib/debug`.
    pub system: Option<PathBuf>,
    /// The folder in which debuginfod keeps what it fetched: `~/.cache/debuginfod_client`.
    pub fetched: Option<PathBuf>,
}

impl Default for DebugFiles {
    fn default() -> Self {
        let folder =
            |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache =
            folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
        Self {
            perf_cache: folder("HOME").map(|home| home.join(".debug")),
            system: Some(PathBuf::from("/usr/lib/debug")),
            fetched: folder("DEBUGINFOD_CACHE_PATH")
                .or_else(|| cache.map(|cache| cache.join("debuginfod_client"))),
        }
    }
}

impl DebugFiles {
    /// Returns no folders, so that nothing is found.
    #[must_use]
    pub fn none() -> Self {
        Self { perf_cache: None, system: None, fetched: None }
    }

    /// Returns where perf's copy of an executable file is, if it made one.
    #[must_use]
    pub fn image(&self, id: &BuildId) -> Option<PathBuf> {
        self.cached(id, "elf")
    }

    /// Returns where perf's copy of a kernel's symbols is, if it made one.
    #[must_use]
    pub fn kallsyms(&self, id: &BuildId) -> Option<PathBuf> {
        self.cached(id, "kallsyms")
    }

    /// Returns where perf's copy of the kernel's code in user space is, if it made one.
    #[must_use]
    pub fn vdso(&self, id: &BuildId) -> Option<PathBuf> {
        self.cached(id, "vdso")
    }

    /// Returns the files that may have the symbols of a file without any, the best first.
    #[must_use]
    pub fn debug(&self, id: &BuildId) -> Vec<PathBuf> {
        let (first, rest) = Self::parts(id);
        let system = self
            .system
            .as_ref()
            .map(|root| root.join(".build-id").join(&first).join(format!("{rest}.debug")));
        let cached = self.cached(id, "debug");
        let fetched = self.fetched.as_ref().map(|root| root.join(id.to_string()).join("debuginfo"));
        system.into_iter().chain(cached).chain(fetched).filter(|path| path.is_file()).collect()
    }

    fn cached(&self, id: &BuildId, file: &str) -> Option<PathBuf> {
        let (first, rest) = Self::parts(id);
        let path = self.perf_cache.as_ref()?.join(".build-id").join(first).join(rest).join(file);
        path.is_file().then_some(path)
    }

    /// Returns the path of a build id: the first byte is a folder, the others are a name in it.
    fn parts(id: &BuildId) -> (String, String) {
        let mut digits = id.to_string();
        let rest = digits.split_off(2);
        (digits, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_found_by_build_id() {
        let root = tempfile::tempdir().expect("there is room");
        let files = DebugFiles {
            perf_cache: Some(root.path().join("cache")),
            system: Some(root.path().join("system")),
            fetched: Some(root.path().join("fetched")),
        };
        let id = BuildId::new(&[0xab, 0xcd, 0xef]).expect("it is one");
        assert_eq!((files.image(&id), files.debug(&id)), (None, Vec::new()));
        let directory = root.path().join("cache/.build-id/ab/cdef");
        fs::create_dir_all(&directory).expect("there is room");
        fs::write(directory.join("elf"), "").expect("there is room");
        assert_eq!(files.image(&id), Some(directory.join("elf")));
        assert_eq!(files.kallsyms(&id), None);
        let directory = root.path().join("fetched/abcdef");
        fs::create_dir_all(&directory).expect("there is room");
        let fetched = directory.join("debuginfo");
        fs::write(&fetched, "").expect("there is room");
        assert_eq!(files.debug(&id), std::slice::from_ref(&fetched));
        let directory = root.path().join("system/.build-id/ab");
        fs::create_dir_all(&directory).expect("there is room");
        fs::write(directory.join("cdef.debug"), "").expect("there is room");
        assert_eq!(files.debug(&id), [directory.join("cdef.debug"), fetched]);
    }
}
