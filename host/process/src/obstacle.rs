//! Why nothing can be put under a program by `LD_PRELOAD`, as far as its file tells.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kilocore_linux::foreign_files::ForeignFile;
use object::read::elf::{Dyn, FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::read::{ReadCache, ReadRef, StringTable};
use object::{Endianness, elf};

use crate::find_program;

/// Why nothing can be put under a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// It is linked statically, so that there is no dynamic linker to load a library.
    Static,
    /// It runs with other rights than its starter's, and the system loads nothing into it.
    OtherRights,
    /// It is of another architecture, such as a 32-bit program.
    OtherArchitecture,
    /// It is linked with another C library than glibc, such as musl. That library's locks are
    /// others, and its dynamic linker loads none of the libraries that are made for glibc.
    OtherLibrary,
    /// It was compiled with ThreadSanitizer, which must see every call of its locks.
    ThreadSanitizer,
}

/// The kinds of dynamic linkers that are not glibc's, as the names of their files have them.
const OTHER_LINKERS: [&[u8]; 4] = [b"musl", b"uClibc", b"/linker", b"ld-elf"];

/// The libraries with ThreadSanitizer's runtime, by the beginnings of their names.
const THREAD_SANITIZERS: [&[u8]; 2] = [b"libtsan.so", b"libclang_rt.tsan"];

/// A function that each program with ThreadSanitizer has, also if it is linked statically.
const THREAD_SANITIZER: &[u8] = b"__tsan_init";

/// The most bytes of names that are looked through for it. The largest programs have some tens of millions.
const MOST_NAMES: u64 = 1 << 28;

/// Returns why nothing can be put under the program that a word of a command line names. The
/// interpreter of a script counts for the script. If the program cannot be found or read, nothing is
/// known to prevent it.
#[must_use]
pub fn obstacle_of_command(command: &[OsString]) -> Option<Obstacle> {
    let program = find_program(command.first()?).ok()?;
    obstacle_of_program(&program).map(|(_, obstacle)| obstacle)
}

/// The same of a program in a file, with the file that is judged: the interpreter's, if it is a script.
#[must_use]
pub fn obstacle_of_program(program: &Path) -> Option<(PathBuf, Obstacle)> {
    let judged = interpreter(program).unwrap_or_else(|| program.to_owned());
    obstacle(&judged).map(|obstacle| (judged, obstacle))
}

/// Returns why nothing can be put under the program in a file that is going to be executed, or
/// `None` if nothing is known to prevent it.
#[must_use]
pub fn obstacle(file: &Path) -> Option<Obstacle> {
    const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
    let changes_user = fs::metadata(file).is_ok_and(|metadata| {
        // SAFETY: take no argument.
        let own = unsafe { (libc::geteuid(), libc::getegid()) };
        metadata.mode() & SET_ID != 0 && own != (metadata.uid(), metadata.gid())
    });
    obstacle_of_image(file).or(changes_user.then_some(Obstacle::OtherRights))
}

/// The same without a look at whose rights it would get: of a program that is executed already, for
/// example, as `/proc/PID/exe`.
#[must_use]
pub fn obstacle_of_image(file: &Path) -> Option<Obstacle> {
    let mut opened = ForeignFile::open(file).ok()?.into_file();
    let mut beginning = [0; 5];
    opened.read_exact(&mut beginning).ok()?;
    if !beginning.starts_with(&elf::ELFMAG) {
        return None;
    }
    let own_class =
        if cfg!(target_pointer_width = "64") { elf::ELFCLASS64 } else { elf::ELFCLASS32 };
    if elf::FileClass(beginning[4]) != own_class {
        return Some(Obstacle::OtherArchitecture);
    }
    Image::parse(&ReadCache::new(opened))?.obstacle()
}

/// The headers of an executable file.
struct Image<'a, R: ReadRef<'a>> {
    bytes: R,
    header: &'a elf::FileHeader64<Endianness>,
    endian: Endianness,
    segments: &'a [elf::ProgramHeader64<Endianness>],
}

impl<'a, R: ReadRef<'a>> Image<'a, R> {
    fn parse(bytes: R) -> Option<Self> {
        let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, bytes).ok()?;
        Some(Self { bytes, header, endian, segments })
    }

    fn obstacle(&self) -> Option<Obstacle> {
        let machine = self.header.e_machine(self.endian);
        if own_machine().is_some_and(|own| own != machine) {
            return Some(Obstacle::OtherArchitecture);
        }
        let linker = self
            .segments
            .iter()
            .find_map(|segment| segment.interpreter(self.endian, self.bytes).ok().flatten());
        let Some(linker) = linker else {
            // Whoever names the dynamic linker itself has it load a program.
            return (!self.is_glibcs_linker().unwrap_or(false)).then_some(Obstacle::Static);
        };
        let contains = |part: &[u8]| linker.windows(part.len()).any(|window| window == part);
        if OTHER_LINKERS.iter().any(|other| contains(other)) {
            return Some(Obstacle::OtherLibrary);
        }
        self.has_thread_sanitizer().then_some(Obstacle::ThreadSanitizer)
    }

    /// Whether this is glibc's dynamic linker. Its own name is such as `ld-linux-x86-64.so.2`.
    fn is_glibcs_linker(&self) -> Option<bool> {
        let mut names = self.dynamic(elf::DT_SONAME)?;
        Some(names.any(|name| name.starts_with(b"ld-linux") || name.starts_with(b"ld64.so")))
    }

    /// Whether the program needs the runtime of ThreadSanitizer, or contains it.
    fn has_thread_sanitizer(&self) -> bool {
        self.needs_thread_sanitizer().unwrap_or(false)
            || self.contains_thread_sanitizer().unwrap_or(false)
    }

    fn needs_thread_sanitizer(&self) -> Option<bool> {
        let mut needed = self.dynamic(elf::DT_NEEDED)?;
        Some(needed.any(|name| THREAD_SANITIZERS.iter().any(|one| name.starts_with(one))))
    }

    /// The texts of one kind in the dynamic section.
    fn dynamic(&self, tag: elf::DynamicTag) -> Option<impl Iterator<Item = &'a [u8]>> {
        let sections = self.header.sections(self.endian, self.bytes).ok()?;
        let (entries, strings) = sections.dynamic(self.endian, self.bytes).ok()??;
        let strings = sections.strings(self.endian, self.bytes, strings).ok()?;
        let endian = self.endian;
        Some(
            entries
                .iter()
                .filter(move |entry| entry.d_tag(endian) == tag)
                .filter_map(move |entry| entry.string(endian, strings).ok()),
        )
    }

    fn contains_thread_sanitizer(&self) -> Option<bool> {
        let sections = self.header.sections(self.endian, self.bytes).ok()?;
        let symbols = sections.symbols(self.endian, self.bytes, elf::SHT_DYNSYM).ok()?;
        // All at once: a read for each of a large program's names takes longer than it runs.
        let strings = sections.section(symbols.string_section()).ok()?;
        if strings.sh_size(self.endian) > MOST_NAMES {
            return None;
        }
        let names = strings.data(self.endian, self.bytes).ok()?;
        let strings = StringTable::new(names, 0, names.len() as u64);
        let mut names = symbols.iter().filter_map(|symbol| {
            use object::read::elf::Sym as _;
            let name = symbol.name(self.endian, strings).ok()?;
            (symbol.st_shndx(self.endian) != elf::SHN_UNDEF).then_some(name)
        });
        Some(names.any(|name| name == THREAD_SANITIZER))
    }
}

/// The machine of this process's own program.
fn own_machine() -> Option<elf::Machine> {
    let file = ReadCache::new(File::open("/proc/self/exe").ok()?);
    let image = Image::parse(&file)?;
    Some(image.header.e_machine(image.endian))
}

/// Returns the program that executes a script: the one after `#!` in its first line, and so on if
/// that is a script, too. Of `env`, it is the program that `env` executes. A script has a line such
/// as `#!/usr/bin/python3` or `#!/usr/bin/env -S python3 -u`.
fn interpreter(script: &Path) -> Option<PathBuf> {
    /// The kernel follows no more.
    const DEEP: usize = 5;
    let mut found = None;
    let mut file = script.to_owned();
    for _ in 0..DEEP {
        let Some(next) = named_in_first_line(&file) else { break };
        file = next;
        found = Some(file.clone());
    }
    found
}

fn named_in_first_line(script: &Path) -> Option<PathBuf> {
    /// The kernel reads no more of the line.
    const LONG: u64 = 256;
    let mut line = Vec::new();
    BufReader::new(ForeignFile::open(script).ok()?.into_file().take(LONG))
        .read_until(b'\n', &mut line)
        .ok()?;
    let line = line.strip_prefix(b"#!")?;
    let mut words =
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(OsStr::from_bytes);
    let program = PathBuf::from(words.next()?);
    if program.file_name() != Some(OsStr::new("env")) {
        return Some(program);
    }
    let is_program = |word: &&OsStr| {
        let bytes = word.as_encoded_bytes();
        !bytes.starts_with(b"-") && !bytes.contains(&b'=')
    };
    words.find(is_program).and_then(|word| find_program(word).ok()).or(Some(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judgement of a shell whose bytes were changed.
    fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Option<Obstacle> {
        let mut bytes = fs::read("/bin/sh").expect("there is a shell");
        change(&mut bytes);
        let file = tempfile::NamedTempFile::new().expect("there is room");
        fs::write(file.path(), bytes).expect("there is room");
        obstacle_of_image(file.path())
    }

    #[test]
    fn a_pipe_in_a_programs_place_makes_nobody_wait() {
        let folder = tempfile::tempdir().expect("there is room");
        let pipe = folder.path().join("pipe");
        let name = std::ffi::CString::new(pipe.as_os_str().as_bytes()).expect("a plain path");
        // SAFETY: the name is a string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o700) }, 0);
        assert_eq!(obstacle_of_program(&pipe), None);
    }

    /// Where the program headers of a kind begin.
    fn headers(bytes: &[u8], kind: u32) -> Vec<usize> {
        let first = u64::from_ne_bytes(bytes[32..40].try_into().unwrap()) as usize;
        let count = u16::from_ne_bytes(bytes[56..58].try_into().unwrap()) as usize;
        (0..count)
            .map(|index| first + 56 * index)
            .filter(|at| bytes[*at..*at + 4] == kind.to_ne_bytes())
            .collect()
    }

    #[test]
    fn programs_are_told_by_their_headers() {
        assert_eq!(changed(|_| ()), None);
        assert_eq!(changed(|bytes| bytes[4] = 1), Some(Obstacle::OtherArchitecture));
        assert_eq!(changed(|bytes| bytes[18] ^= 0x7f), Some(Obstacle::OtherArchitecture));
        let without_linker = |bytes: &mut Vec<u8>| {
            for header in headers(bytes, 3) {
                bytes[header..header + 4].copy_from_slice(&0u32.to_ne_bytes());
            }
        };
        assert_eq!(changed(without_linker), Some(Obstacle::Static));
        let with_linker = |name: &[u8]| {
            changed(|bytes| {
                for header in headers(bytes, 3) {
                    let at = &bytes[header + 8..header + 16];
                    let at = u64::from_ne_bytes(at.try_into().unwrap()) as usize;
                    bytes[at..at + name.len()].copy_from_slice(name);
                }
            })
        };
        assert_eq!(with_linker(b"/lib/ld-musl-x86_64.so.1\0"), Some(Obstacle::OtherLibrary));
        assert_eq!(with_linker(b"/system/bin/linker64\0"), Some(Obstacle::OtherLibrary));
        assert_eq!(with_linker(b"/opt/ld-linux-x86.so.2\0"), None);
        assert_eq!(obstacle_of_image(Path::new("/proc/self/exe")), None);
        assert_eq!(changed(|bytes| bytes.truncate(30)), None, "cut short, nobody knows");
        assert_eq!(changed(|bytes| *bytes = b"#!/bin/sh\n".to_vec()), None);
    }

    #[test]
    fn scripts_are_what_executes_them() {
        let folder = tempfile::tempdir().expect("there is room");
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("there is room");
            path
        };
        let shell = find_program(OsStr::new("sh")).expect("there is a shell");
        let plain = script("plain", "#! /bin/sh -e\necho\n");
        assert_eq!(interpreter(&plain), Some(PathBuf::from("/bin/sh")));
        let nested = script("nested", &format!("#!{}\n", plain.display()));
        assert_eq!(interpreter(&nested), Some(PathBuf::from("/bin/sh")));
        let by_env = script("env", "#!/usr/bin/env -S A=b sh -e\n");
        assert_eq!(interpreter(&by_env), Some(shell));
        assert_eq!(interpreter(&script("none", "echo\n")), None);
        let round = folder.path().join("round");
        let round = script("round", &format!("#!{}\n", round.display()));
        assert_eq!(interpreter(&round).as_deref(), Some(&*round));
        assert_eq!(obstacle_of_command(&["no-such-program-anywhere".into()]), None);
        assert_eq!(obstacle_of_command(&[]), None);
    }
}
