//! The names of one process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kilocore_lock_profile::Frame;
use kilocore_symbols::{Definitions, PerfMap};

use crate::word_names::files::{Files, Module};
use crate::word_names::hint::{Hint, hint};
use crate::word_names::packages::Packages;
use crate::word_names::place::WordPlace;
use crate::word_names::unwinding::{Unwinding, zero};
use kilocore_linux::maps::{self, GONE, Mapping};

/// Names for the addresses of a process.
pub struct Names {
    pid: u32,
    /// Whether it sees the file system that this process sees.
    same_root: bool,
    mappings: Vec<Mapping>,
    files: Files,
    /// By the path and the number of the file: a file and the one that took its place have one path.
    modules: BTreeMap<(String, u64), Rc<Module>>,
    generated: Option<PerfMap>,
    unwinding: Option<Unwinding>,
    frames: BTreeMap<u64, Vec<Frame>>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("pid", &self.pid).finish_non_exhaustive()
    }
}

/// Libraries with locks of their own, by a part of their names.
const LIBRARIES: [&str; 3] = ["/libc.so.6", "/libpthread.so.0", "/libabsl_synchronization."];

impl Names {
    /// Reads what is mapped in a process. What was read of `files` before is not read again.
    ///
    /// # Errors
    /// If there is no such process, or it belongs to somebody else.
    pub fn of(pid: u32, files: &Files) -> io::Result<Self> {
        Ok(Self {
            pid,
            same_root: root(&format!("/proc/{pid}/root/")) == root("/"),
            mappings: maps::of(pid)?,
            files: files.clone(),
            modules: BTreeMap::new(),
            generated: PerfMap::of_process(pid),
            unwinding: None,
            frames: BTreeMap::new(),
        })
    }

    /// Reads anew what is mapped, for code that was loaded or generated meanwhile. What was read
    /// before stays if the process has ended. Returns whether other files are mapped than before.
    pub fn refresh(&mut self) -> bool {
        let mut other = false;
        if let Ok(mappings) = maps::of(self.pid)
            && !mappings.is_empty()
            && mappings != self.mappings
        {
            let files = |mappings: &[Mapping]| {
                mappings
                    .iter()
                    .filter_map(|one| one.file().map(str::to_owned))
                    .collect::<BTreeSet<_>>()
            };
            other = files(&mappings) != files(&self.mappings);
            self.mappings = mappings;
            self.unwinding = None;
            self.frames.clear();
        }
        if let Some(generated) = PerfMap::of_process(self.pid) {
            self.generated = Some(generated);
            self.frames.clear();
        }
        other
    }

    /// Returns where a word lies.
    pub fn word(&mut self, address: u64) -> WordPlace {
        let Some(mapping) = maps::at(&self.mappings, address).cloned() else {
            return WordPlace::Unmapped;
        };
        let Some(path) = mapping.file().map(str::to_owned) else {
            return match mapping.path.as_str() {
                stack if stack.starts_with("[stack") => WordPlace::Stack,
                // The zeroed data of a program follows its file's data without a name of its own.
                "" => self.zeroed(&mapping, address).unwrap_or(WordPlace::Heap),
                _ => WordPlace::Heap,
            };
        };
        let offset = address - mapping.start + mapping.offset;
        if mapping.shared {
            return WordPlace::File { path, inode: mapping.inode, offset };
        }
        self.variable(&mapping, address).unwrap_or(WordPlace::Mapping { path, offset })
    }

    /// The variable at an address of memory that belongs to a file.
    fn variable(&mut self, mapping: &Mapping, address: u64) -> Option<WordPlace> {
        // Mappings of data begin at a page's start, where the file may still have something else.
        // Its first mapping begins where the file does.
        let first = |first: &&Mapping| {
            first.file() == mapping.file() && first.inode == mapping.inode && first.offset == 0
        };
        let mapping = self.mappings.iter().find(first).unwrap_or(mapping).clone();
        let module = self.module(&mapping);
        let zero = zero(&mapping, module.binary.as_ref()?)?;
        let (symbol, offset) = module.variables.at(address.wrapping_sub(zero))?;
        let (module, symbol) = (mapping.file()?.to_owned(), symbol.into_owned());
        Some(WordPlace::Symbol { module, symbol, offset })
    }

    /// A variable in the memory right behind a file's, which the file has no bytes for.
    fn zeroed(&mut self, mapping: &Mapping, address: u64) -> Option<WordPlace> {
        let before = self
            .mappings
            .iter()
            .rfind(|before| before.end <= mapping.start)
            .filter(|before| before.end == mapping.start && before.file().is_some())
            .cloned()?;
        self.variable(&before, address)
    }

    /// The file that is mapped there. There is nothing in it if it cannot be read.
    fn module(&mut self, mapping: &Mapping) -> Rc<Module> {
        let key = (mapping.file().unwrap_or_default().to_owned(), mapping.inode);
        if let Some(known) = self.modules.get(&key) {
            return Rc::clone(known);
        }
        let place = self.place(mapping);
        let module = place.map_or_else(Rc::default, |place| self.files.module(&place));
        self.modules.insert(key, Rc::clone(&module));
        module
    }

    /// Returns how those of these files get names that have been read and have none for most of
    /// their functions, sorted.
    #[must_use]
    pub fn hints(&self, files: &BTreeSet<String>) -> Vec<Hint> {
        let nameless = |file: &String| {
            let first = (file.clone(), 0)..=(file.clone(), u64::MAX);
            let binary =
                self.modules.range(first).find_map(|(_, module)| module.binary.as_ref())?;
            (!binary.has_symbol_table()).then(|| binary.build_id().map(ToString::to_string))
        };
        let nameless: Vec<_> =
            files.iter().filter_map(|file| Some((file, nameless(file)?))).collect();
        if nameless.is_empty() {
            return Vec::new();
        }
        // When the process has ended, nobody can see its file system any more.
        let own = format!("/proc/{}/root", self.pid);
        let root = if self.same_root { Path::new("/") } else { Path::new(&own) };
        let packages = fs::metadata(root).is_ok().then(|| Packages::of(root));
        let servers = std::env::var("DEBUGINFOD_URLS").unwrap_or_default();
        let hint = |(file, id): (&String, _)| hint(file, id, packages.as_ref(), &servers);
        nameless.into_iter().map(hint).collect()
    }

    /// Whether any part of a file is mapped.
    #[must_use]
    pub fn has_file(&self, path: &Path) -> bool {
        self.mappings.iter().any(|mapping| mapping.file().map(Path::new) == Some(path))
    }

    /// Whether the program is written in Go.
    #[must_use]
    pub fn is_go(&self) -> bool {
        kilocore_symbols::is_go(&PathBuf::from(format!("/proc/{}/exe", self.pid)))
    }

    /// Returns where in memory functions lie that are in the program's own file or in libraries with
    /// locks of their own, each with what `wanted` says of its name as the linker knows it.
    #[must_use]
    pub fn functions(
        &mut self,
        wanted: &dyn Fn(&str) -> Option<usize>,
    ) -> Vec<(usize, Range<u64>)> {
        let own = fs::read_link(format!("/proc/{}/exe", self.pid)).unwrap_or_default();
        let own = own.to_string_lossy();
        let own = own.strip_suffix(GONE).unwrap_or(&own);
        let has_locks =
            |path: &str| path == own || LIBRARIES.iter().any(|library| path.contains(library));
        let mut all = Vec::new();
        for mapping in self.first_mappings(&has_locks) {
            let module = self.module(&mapping);
            let Some(binary) = &module.binary else { continue };
            let Some(zero) = zero(&mapping, binary) else { continue };
            let moved =
                |code: Range<u64>| code.start.wrapping_add(zero)..code.end.wrapping_add(zero);
            let found = binary.functions(wanted);
            all.extend(found.into_iter().map(|(index, code)| (index, moved(code))));
        }
        all
    }

    /// Returns where in memory those functions and variables of a library lie whose names, as the linker
    /// knows them, are `wanted`. The library is known by its file's name. It is not read for anything
    /// else.
    #[must_use]
    pub fn definitions(
        &self,
        library: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> BTreeMap<String, Range<u64>> {
        let is = |path: &str| Path::new(path).file_name().is_some_and(|name| name == library);
        let of = |mapping: Mapping| {
            let file = self.place(&mapping)?;
            let memory = mapping.start..mapping.end;
            Some(Definitions::open(&file, wanted).in_memory(memory, mapping.offset))
        };
        self.first_mappings(&is).into_iter().filter_map(of).flatten().collect()
    }

    /// The first mapping of each of these files.
    fn first_mappings(&self, files: &dyn Fn(&str) -> bool) -> Vec<Mapping> {
        let begins = |mapping: &&Mapping| mapping.offset == 0 && mapping.file().is_some_and(files);
        self.mappings.iter().filter(begins).cloned().collect()
    }

    /// Where the file that is mapped can be read, and no other. A file that is gone has no path, and
    /// another one may be at the path that it had: it is read through the mapping itself, which needs the
    /// rights of root, or as the program's own file.
    fn place(&self, mapping: &Mapping) -> Option<PathBuf> {
        let path = mapping.file()?;
        if !mapping.is_gone() {
            return Some(self.file(path));
        }
        let is_it = |place: &PathBuf| {
            fs::metadata(place).is_ok_and(|found| {
                (device(found.dev()), found.ino()) == (mapping.device, mapping.inode)
            })
        };
        let Mapping { start, end, .. } = mapping;
        let through = format!("/proc/{}/map_files/{start:x}-{end:x}", self.pid).into();
        let own = format!("/proc/{}/exe", self.pid).into();
        // It may be called so, or have got its name again.
        let named = [self.file(&mapping.path), self.file(path)];
        [through, own].into_iter().chain(named).find(is_it)
    }

    /// Where a file that is mapped can be read by its path. The process may see another file system. If it does
    /// not, its own view of it is not needed, through which nothing can be read when it has ended.
    fn file(&self, path: &str) -> PathBuf {
        if self.same_root {
            return PathBuf::from(path);
        }
        let real = PathBuf::from(format!("/proc/{}/root{path}", self.pid));
        if fs::metadata(&real).is_ok() { real } else { PathBuf::from(path) }
    }

    /// Returns the functions at an address of code, the innermost of those inlined there first.
    pub fn frames(&mut self, address: u64) -> Vec<Frame> {
        if let Some(known) = self.frames.get(&address) {
            return known.clone();
        }
        let frames = self.look_up(address);
        self.frames.insert(address, frames.clone());
        frames
    }

    fn look_up(&mut self, address: u64) -> Vec<Frame> {
        let unnamed =
            |module: String, offset| Frame { function: String::new(), module, offset, line: None };
        let mapping = maps::at(&self.mappings, address).cloned();
        let file = mapping.as_ref().and_then(Mapping::file).map(str::to_owned);
        let (Some(mapping), Some(path)) = (mapping, file) else {
            let generated = self.generated.as_ref().and_then(|map| map.function(address));
            let function = generated.map(str::to_owned).unwrap_or_default();
            return vec![Frame { function, ..unnamed(String::new(), address) }];
        };
        let module = self.module(&mapping);
        let in_file = address - mapping.start + mapping.offset;
        let Some(binary) = &module.binary else { return vec![unnamed(path, in_file)] };
        let offset = binary.address(in_file).unwrap_or(in_file);
        let mut frames: Vec<Frame> = binary
            .frames(offset)
            .into_iter()
            .map(|kilocore_symbols::Frame { function, line }| Frame {
                function,
                module: path.clone(),
                offset,
                line,
            })
            .collect();
        if let [only] = frames.as_mut_slice()
            && only.function.is_empty()
        {
            only.function = binary.function(offset).unwrap_or_default();
        }
        frames
    }

    /// Returns the calls on a stack, the innermost first, by the registers (instruction, stack and
    /// frame pointer) and a copy of the stack from the stack pointer on.
    pub fn stack(&mut self, registers: (u64, u64, u64), stack: &[u8]) -> Vec<Frame> {
        let mut unwinding = self.unwinding.take().unwrap_or_else(|| {
            let mappings = self.mappings.clone();
            Unwinding::of(&mappings, |mapping| {
                mapping.file()?;
                let module = self.module(mapping);
                Some((Rc::clone(module.tables.as_ref()?), zero(mapping, module.binary.as_ref()?)?))
            })
        });
        let addresses = unwinding.unwind(registers, stack);
        self.unwinding = Some(unwinding);
        addresses.into_iter().flat_map(|address| self.frames(address)).collect()
    }

    /// As [`stack`](Self::stack), of a thread that has just entered a function: its caller has left
    /// the address to go on at on top of the stack, and nothing else.
    pub fn stack_at_entry(&mut self, (ip, sp, bp): (u64, u64, u64), stack: &[u8]) -> Vec<Frame> {
        let mut frames = self.frames(ip);
        if let Some((top, rest)) = stack.split_first_chunk() {
            let caller = u64::from_ne_bytes(*top);
            frames.extend(self.stack((caller, sp.wrapping_add(8), bp), rest));
        }
        frames
    }
}

/// The numbers of a device, major and minor, as the kernel packs them into one.
fn device(packed: u64) -> (u64, u64) {
    let major = (packed >> 8 & 0xfff) | (packed >> 32 & 0xffff_f000);
    let minor = (packed & 0xff) | (packed >> 12 & 0xffff_ff00);
    (major, minor)
}

/// What tells one root of a file system from another.
fn root(path: &str) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
