//! What a file says of how it is executed: by its mode, the file system that it is on, and its beginning.

use std::ffi::{CString, OsStr};
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use kilocore_linux::foreign_files::ForeignFile;
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef};
use object::{Endianness, elf};

/// The kernel looks at this much of a file.
const BEGINNING: u64 = 256;

/// The beginning of a file, by which the kernel knows what it is.
#[derive(Debug)]
pub(crate) struct Beginning(Vec<u8>);

impl Beginning {
    /// That of a file, if it may be read.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let file = ForeignFile::open(path).map_err(io::Error::other)?.into_file();
        let mut bytes = Vec::new();
        file.take(BEGINNING).read_to_end(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Whether it may be a script without a first line that says so, which `execvp` gives to a shell.
    pub(crate) fn is_text(&self) -> bool {
        !self.0.contains(&0) && !self.0.starts_with(&elf::ELFMAG)
    }

    /// The interpreter that the first line names, if it names one.
    pub(crate) fn interpreter(&self) -> Option<PathBuf> {
        let line = self.0.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let mut words = line.split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty());
        Some(PathBuf::from(OsStr::from_bytes(words.next()?)))
    }

    /// The number of the machine in an ELF file.
    fn machine(&self) -> Option<u16> {
        let bytes: [u8; 2] = self.0.get(18..20)?.try_into().ok()?;
        let is_elf = self.0.starts_with(&elf::ELFMAG);
        let big = self.0[5] == 2;
        is_elf.then(|| if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    /// Whether it is an ELF file that the kernel executes itself. Others may be executed by an emulator,
    /// which knows better what they need.
    pub(crate) fn runs_here(&self) -> bool {
        self.machine().is_some_and(|machine| OWN.contains(&machine))
    }

    /// What another kind of machine or system it is a program for.
    pub(crate) fn foreign(&self) -> Option<String> {
        if self.0.starts_with(b"MZ") {
            return Some("Windows".to_owned());
        }
        if MACOS.iter().any(|magic| self.0.starts_with(magic)) {
            return Some("macOS".to_owned());
        }
        let machine = self.machine().filter(|machine| !OWN.contains(machine))?;
        Some(machine_name(machine).map_or_else(
            || format!("another machine (number {machine} in ELF files)"),
            str::to_owned,
        ))
    }
}

/// The machines whose programs this one's kernel executes, by their numbers in ELF files.
#[cfg(target_arch = "x86_64")]
const OWN: [u16; 2] = [62, 3];
/// The machines whose programs this one's kernel executes, by their numbers in ELF files.
#[cfg(target_arch = "aarch64")]
const OWN: [u16; 2] = [183, 40];
/// The machines whose programs this one's kernel executes, by their numbers in ELF files.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OWN: [u16; 0] = [];

/// Names of machines that people meet, by their numbers in ELF files.
const MACHINES: [(u16, &str); 9] = [
    (3, "x86 with 32 bits"),
    (8, "MIPS"),
    (21, "POWER"),
    (22, "IBM Z"),
    (40, "Arm with 32 bits"),
    (62, "x86-64"),
    (183, "Arm with 64 bits"),
    (243, "RISC-V"),
    (258, "LoongArch"),
];

/// The name of a machine by its number in ELF files, if people meet it.
#[must_use]
pub fn machine_name(number: u16) -> Option<&'static str> {
    MACHINES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// How programs for macOS begin: those for one kind of machine, and those for several.
const MACOS: [&[u8]; 3] = [b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe\0\0\0"];

/// The dynamic linker that an ELF file names.
pub(crate) fn linker(path: &Path) -> Option<PathBuf> {
    let file = ReadCache::new(ForeignFile::open(path).ok()?.into_file());
    linker_of::<elf::FileHeader64<Endianness>, _>(&file)
        .or_else(|| linker_of::<elf::FileHeader32<Endianness>, _>(&file))
}

fn linker_of<'a, H, R>(bytes: R) -> Option<PathBuf>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'a>,
{
    let header = H::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?;
    let mut named = segments.iter().filter_map(|one| one.interpreter(endian, bytes).ok().flatten());
    Some(PathBuf::from(OsStr::from_bytes(named.next()?)))
}

/// Whether its mode lets anybody execute it.
pub(crate) fn is_for_anybody(about: &Metadata) -> bool {
    about.permissions().mode() & 0o111 != 0
}

/// Whether this process may execute a file.
pub(crate) fn is_allowed(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the name is a string.
    unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}

/// Where the file system of a file is mounted, if nothing on it may be executed.
pub(crate) fn noexec_mount(path: &Path) -> Option<PathBuf> {
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: zero bytes are valid for this struct of numbers.
    let mut about: libc::statvfs = unsafe { core::mem::zeroed() };
    // SAFETY: the name is a string, and `about` is ours to be written.
    let known = unsafe { libc::statvfs(name.as_ptr(), &raw mut about) } == 0;
    if !known || about.f_flag & libc::ST_NOEXEC == 0 {
        return None;
    }
    let whole = path.canonicalize().ok()?;
    let device = whole.metadata().ok()?.dev();
    let same = |folder: &&Path| folder.metadata().is_ok_and(|about| about.dev() == device);
    whole.ancestors().take_while(same).last().map(Path::to_owned)
}
