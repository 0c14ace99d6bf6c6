//! What is known of a run before it begins: if any of it differs, the result may.
//!
//! # Decisions
//! * **QEMU and the plugin are known by their stamps**, as files are, and not by a digest of what they hold. The paths that
//!   lead to them count here, and what has really been loaded, with the libraries that QEMU brings, the plugin sees from
//!   inside. Nothing has to be read, and the same build installed again costs a run.
//! * **Links on the way to a program count.** The plugin sees where they have led; that they lead elsewhere now is seen
//!   here.
//! * **All of the environment counts**, as do the working folder, limits, user, groups, and what the system calls
//!   itself. Programs see all of it, and most that differs comes from another shell or host.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use kilocore_emulation_orders::{Orders, Stamp};
use kilocore_process::Output;
use kilocore_qemu::Program;
use rustix::fs::fcntl_getfl;
use rustix::process::{Resource, getegid, geteuid, getgid, getgroups, getrlimit, getuid};
use rustix::system::uname;
use rustix::termios::{isatty, tcgetattr, tcgetwinsize};
use sha2::{Digest, Sha256};

use crate::Emulator;
use crate::environment::{Variable, inherited};
use crate::kept_run::Question;

/// A run that is about to begin.
pub(crate) struct Run<'a> {
    pub(crate) emulator: &'a Emulator,
    pub(crate) orders: &'a Orders,
    pub(crate) program: &'a Program,
    /// Variables as QEMU is told of them, beside those of this process.
    pub(crate) variables: &'a [OsString],
    pub(crate) output: Output<'a>,
}

/// With this variable, QEMU looks for the program's files elsewhere first.
const ELSEWHERE: &str = "QEMU_LD_PREFIX";

/// Limits that programs see.
const LIMITS: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];

/// Words of which none can be taken for a part of the next one.
struct Words(Sha256);

impl Words {
    fn add(&mut self, word: impl AsRef<[u8]>) {
        let word = word.as_ref();
        self.0.update((word.len() as u64).to_le_bytes());
        self.0.update(word);
    }

    fn add_all<W: AsRef<[u8]>>(&mut self, words: impl IntoIterator<Item = W>) {
        let words: Vec<W> = words.into_iter().collect();
        self.add((words.len() as u64).to_le_bytes());
        words.into_iter().for_each(|word| self.add(word));
    }
}

impl Run<'_> {
    /// All of it. None if some of it is not known.
    pub(crate) fn question(&self) -> Option<Question> {
        let mut inherited: Vec<Variable> = inherited().collect();
        if inherited.iter().any(|(name, _)| name == ELSEWHERE) {
            return None;
        }
        inherited.sort();
        let mut words = Words(Sha256::new());
        words.add("a run of kilocore emulate");
        // The file that was started, also if another one is in its place by now.
        let own = Stamp::of(&File::open("/proc/self/exe").ok()?.metadata().ok()?);
        words.add(format!("{own:?}"));
        let Emulator { library, qemu, cpu, .. } = self.emulator;
        if !is_program(qemu) {
            return None;
        }
        words.add_all([
            qemu.as_os_str().as_bytes(),
            library.as_os_str().as_bytes(),
            cpu.as_bytes(),
        ]);
        words.add(self.orders.to_bytes());
        let Program { file, name, arguments } = self.program;
        let loader = kilocore_qemu::loader(file);
        for file in [Some(qemu), Some(library), Some(file), loader.as_ref()] {
            let stamp = file.map(|file| file.metadata().map(|is| Stamp::of(&is)));
            words.add(format!("{:?}", stamp.transpose().ok()?));
        }
        words.add_all([file.as_os_str().as_bytes(), name.as_bytes()]);
        words.add_all(arguments.iter().map(|word| word.as_bytes()));
        words.add(std::env::current_dir().ok()?.as_os_str().as_bytes());
        words.add_all(self.variables.iter().map(|word| word.as_bytes()));
        words.add_all(
            inherited.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]),
        );
        words.add(system()?);
        let [stdout, stderr] = described(self.output)?;
        words.add_all([stdout, stderr]);
        Some(words.0.finalize().into())
    }
}

/// The system and its user, as programs see them.
fn system() -> Option<String> {
    let system = uname();
    let ids = (getuid(), geteuid(), getgid(), getegid());
    let (groups, limits) = (getgroups().ok()?, LIMITS.map(getrlimit));
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let told = |line: &&str| ["Umask:", "SigIgn:", "CapEff:"].iter().any(|it| line.starts_with(it));
    let status: Vec<&str> = status.lines().filter(told).collect();
    Some(format!("{system:?} {ids:?} {groups:?} {limits:?} {status:?}"))
}

/// Whether a file is a program, and no script of which nobody knows what it will start.
fn is_program(path: &Path) -> bool {
    let mut beginning = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == *b"\x7fELF"
}

/// What a program sees of its standard output and error.
fn described(output: Output<'_>) -> Option<[String; 2]> {
    let own = (std::io::stdout(), std::io::stderr());
    let of = |file: BorrowedFd<'_>| of_output(file);
    Some(match output {
        Output::Inherited => [of(own.0.as_fd())?, of(own.1.as_fd())?],
        Output::ToStderr => [of(own.1.as_fd())?, of(own.1.as_fd())?],
        Output::Discarded => ["nowhere".to_owned(), "nowhere".to_owned()],
        Output::To { stdout, stderr } => [of(stdout)?, of(stderr)?],
    })
}

/// What kind of file it is and on which device, in what pieces it is written, and what terminal. How long the file is
/// already, and where, is nothing that programs ask.
fn of_output(file: BorrowedFd<'_>) -> Option<String> {
    let is = File::from(file.try_clone_to_owned().ok()?).metadata().ok()?;
    let kind = is.mode() & libc::S_IFMT;
    let device = if is.is_file() { is.dev() } else { is.rdev() };
    let flags = fcntl_getfl(file).ok()?;
    let terminal = isatty(file).then(|| (tcgetattr(file).ok(), tcgetwinsize(file).ok()));
    Some(format!("{kind:o} {device} {} {flags:?} {terminal:?}", is.blksize()))
}
