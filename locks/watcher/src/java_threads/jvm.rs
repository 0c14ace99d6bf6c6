//! What the system's files say of a virtual machine before anybody talks to it: whether it is one,
//! whose it is, what its own id for itself is, and whether it takes a signal or dies of it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kilocore_linux::foreign_files::ForeignFile;
use kilocore_linux::maps::{self, Mapping};

use crate::java_threads::error::AttachError;

/// The bit of SIGQUIT in the masks of `/proc/PID/status`.
const QUIT: u64 = 1 << (libc::SIGQUIT - 1);

/// A process that is a HotSpot virtual machine.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) pid: u32,
    /// Its id as it sees itself, which names its files.
    pub(crate) own_pid: u32,
    /// Whether it has process ids of its own.
    pub(crate) nested: bool,
    /// The effective user and group that it runs as.
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl Machine {
    /// Looks at a process.
    pub(crate) fn of(pid: u32) -> Result<Self, AttachError> {
        let status = Status::of(pid)?;
        if !status.is_ours() {
            return Err(AttachError::NotOurs(pid));
        }
        let libraries = libraries(pid).map_err(|error| refused(pid, "reading its maps", error))?;
        if !libraries.hotspot {
            return Err(AttachError::NotHotSpot(pid));
        }
        let attaches =
            libraries.counters.and_then(|file| attaches(&rooted(pid, &file), status.user));
        if !attaches.unwrap_or_else(|| !options_disable(pid)) {
            return Err(AttachError::Disabled(pid));
        }
        Ok(Self::with(pid, status))
    }

    fn with(pid: u32, status: Status) -> Self {
        let Status { own_pid, nested, user, group, .. } = status;
        Self { pid, own_pid, nested, user, group }
    }

    /// A process that is known to be one.
    pub(crate) fn unchecked(pid: u32) -> Result<Self, AttachError> {
        Ok(Self::with(pid, Status::of(pid)?))
    }

    /// The machine's directory for temporary files, by a path that leads there from here.
    pub(crate) fn tmp(&self) -> PathBuf {
        rooted(self.pid, Path::new("/tmp"))
    }

    /// The directory that the machine works in.
    pub(crate) fn directory(&self) -> PathBuf {
        format!("/proc/{}/cwd", self.pid).into()
    }
}

/// A path of a process that may have another root.
fn rooted(pid: u32, path: &Path) -> PathBuf {
    let relative = path.strip_prefix("/").unwrap_or(path);
    Path::new(&format!("/proc/{pid}/root")).join(relative)
}

/// What an error of reading below `/proc/PID` means.
fn refused(pid: u32, what: &'static str, source: io::Error) -> AttachError {
    match source.kind() {
        io::ErrorKind::NotFound => AttachError::NoProcess(pid),
        io::ErrorKind::PermissionDenied => AttachError::NotOurs(pid),
        _ if source.raw_os_error() == Some(libc::ESRCH) => AttachError::NoProcess(pid),
        _ => AttachError::System { pid, what, source },
    }
}

/// What is mapped in a process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Libraries {
    /// Whether the library of HotSpot is.
    pub(crate) hotspot: bool,
    /// The file of its performance counters, if there is one.
    counters: Option<PathBuf>,
}

/// Reads what is mapped in a process.
pub(crate) fn libraries(pid: u32) -> io::Result<Libraries> {
    Ok(mapped(&maps::of(pid)?))
}

fn mapped(mappings: &[Mapping]) -> Libraries {
    let mut libraries = Libraries::default();
    let mut other = false;
    for path in mappings.iter().filter_map(Mapping::file).map(Path::new) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        libraries.hotspot |= name == "libjvm.so";
        // OpenJ9 has a libjvm.so as well. It writes files when it gets SIGQUIT.
        other |= name.starts_with("libj9vm");
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        if folder.is_some_and(|folder| folder.starts_with("hsperfdata_")) {
            libraries.counters = Some(path.to_owned());
        }
    }
    libraries.hotspot &= !other;
    libraries
}

/// Whether the machine's performance counters say that it listens to tools: the first letter of
/// `sun.rt.jvmCapabilities` is 1 then. Returns `None` if they do not tell. They lie where others can put
/// files, too, so they count only if they belong to the machine's user or to root.
fn attaches(counters: &Path, user: u32) -> Option<bool> {
    /// HotSpot writes no more, whatever its options say.
    const MOST: u64 = 1 << 21;
    let file = ForeignFile::open_in_shared_folder(counters, &[user, 0]).ok()?;
    parse_counters(&file.contents(MOST).ok()?)
}

/// An entry has 20 bytes, then its name; the last four are the offset of its value from its start.
fn parse_counters(bytes: &[u8]) -> Option<bool> {
    const NAME: &[u8] = b"sun.rt.jvmCapabilities\0";
    const ENTRY: usize = 20;
    let name = bytes.windows(NAME.len()).position(|window| window == NAME)?;
    let entry = name.checked_sub(ENTRY)?;
    let offset: [u8; 4] = bytes.get(name - 4..name)?.try_into().ok()?;
    let value = entry.checked_add(usize::try_from(u32::from_ne_bytes(offset)).ok()?)?;
    match bytes.get(value)? {
        b'1' => Some(true),
        b'0' => Some(false),
        _ => None,
    }
}

/// Whether the options of a machine without performance counters tell it not to listen. The last
/// option counts, and those of `_JAVA_OPTIONS` come last.
fn options_disable(pid: u32) -> bool {
    let read = |file| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let (environment, command) = (read("environ"), read("cmdline"));
    parse_options(&String::from_utf8_lossy(&environment), &String::from_utf8_lossy(&command))
}

fn parse_options(environment: &str, command: &str) -> bool {
    let variable = |name: &str| {
        let prefix = format!("{name}=");
        environment.split('\0').find_map(|line| line.strip_prefix(&*prefix)).unwrap_or("")
    };
    let first = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"].map(variable);
    let words = first.iter().flat_map(|text| text.split_ascii_whitespace());
    words
        .chain(command.split('\0'))
        .chain(variable("_JAVA_OPTIONS").split_ascii_whitespace())
        .filter_map(|word| match word {
            "-XX:+DisableAttachMechanism" => Some(true),
            "-XX:-DisableAttachMechanism" => Some(false),
            _ => None,
        })
        .next_back()
        .unwrap_or(false)
}

/// A few lines of `/proc/PID/status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    /// The process's id as it sees itself.
    own_pid: u32,
    nested: bool,
    user: u32,
    group: u32,
    /// Whether it catches SIGQUIT.
    pub(crate) catches_quit: bool,
    /// Whether it is stopped, by a signal or a debugger.
    pub(crate) stopped: bool,
}

impl Status {
    pub(crate) fn of(pid: u32) -> Result<Self, AttachError> {
        let text = fs::read(format!("/proc/{pid}/status"))
            .map_err(|error| refused(pid, "reading its status", error))?;
        parse_status(&String::from_utf8_lossy(&text)).ok_or(AttachError::NoProcess(pid))
    }

    /// Whether the process listens to this one, as HotSpot decides it.
    fn is_ours(&self) -> bool {
        // SAFETY: the two calls take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        user == 0 || (user, group) == (self.user, self.group)
    }
}

/// Reads the lines that are needed. Kernels of before 2015 have no line `NSpid`.
///
/// ```text
/// State:  S (sleeping)
/// Pid:    4711
/// Uid:    1000    1000    1000    1000
/// NSpid:  4711    7
/// SigCgt: 2000000181005ccf
/// ```
fn parse_status(text: &str) -> Option<Status> {
    let line =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let effective = |name| line(name)?.split_ascii_whitespace().nth(1)?.parse().ok();
    let ids = line("NSpid").or_else(|| line("Pid"))?;
    let caught = u64::from_str_radix(line("SigCgt")?.trim(), 16).ok()?;
    Some(Status {
        own_pid: ids.split_ascii_whitespace().next_back()?.parse().ok()?,
        nested: ids.split_ascii_whitespace().count() > 1,
        user: effective("Uid")?,
        group: effective("Gid")?,
        catches_quit: caught & QUIT != 0,
        stopped: line("State")?.trim_start().starts_with(['T', 't']),
    })
}

/// The ids of a machine's threads by their ids as it sees them, if these differ.
pub(crate) fn thread_ids(machine: &Machine) -> Option<BTreeMap<u32, u32>> {
    let pid = machine.pid;
    machine.nested.then(|| {
        let inner = |thread| {
            let status = fs::read(format!("/proc/{pid}/task/{thread}/status")).ok()?;
            Some((parse_status(&String::from_utf8_lossy(&status))?.own_pid, thread))
        };
        kilocore_linux::threads(pid).into_iter().filter_map(inner).collect()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_maps(text: &str) -> Libraries {
        mapped(&maps::parse(text))
    }

    const STATUS: &str = "Name:\tjava\nState:\tt (tracing stop)\nPid:\t4711\nUid:\t1\t2\t3\t4\n\
                          Gid:\t5\t6\t7\t8\nNSpid:\t4711\t9\nSigCgt:\t0000000000000004\n";

    #[test]
    fn a_status_is_read() {
        let expected = Status {
            own_pid: 9,
            nested: true,
            user: 2,
            group: 6,
            catches_quit: true,
            stopped: true,
        };
        assert_eq!(parse_status(STATUS), Some(expected));
        let plain = STATUS.replace("NSpid:\t4711\t9\n", "").replace("t (t", "S (s");
        let plain = parse_status(&plain.replace("004\n", "ffb\n")).unwrap();
        assert_eq!((plain.own_pid, plain.nested, plain.stopped), (4711, false, false));
        assert!(!plain.catches_quit, "all signals but SIGQUIT");
        assert_eq!(parse_status("State:\tS\n"), None);
    }

    #[test]
    fn hotspot_is_told_from_others() {
        let map = |path: &str| format!("7f00-7f10 r-xp 00000000 08:01 13   {path}\n");
        assert!(of_maps(&map("/opt/j d k/lib/server/libjvm.so (deleted)")).hotspot);
        assert!(!of_maps(&map("/opt/lib/libjvm.so.txt")).hotspot);
        assert!(!of_maps("7f00-7f10 r-xp 00000000 00:00 0\n").hotspot);
        let j9 = map("/opt/lib/j9vm/libjvm.so") + &map("/opt/lib/default/libj9vm29.so");
        assert!(!of_maps(&j9).hotspot);
        let counters = of_maps(&map("/tmp/hsperfdata_a b/47")).counters;
        assert_eq!(counters, Some("/tmp/hsperfdata_a b/47".into()));
    }

    #[test]
    fn the_last_option_counts() {
        let (on, off) = ("-XX:-DisableAttachMechanism", "-XX:+DisableAttachMechanism");
        assert!(!parse_options("", "java\0Main\0"));
        assert!(parse_options("", &format!("java\0{off}\0Main\0")));
        assert!(!parse_options(&format!("JAVA_TOOL_OPTIONS={off}\0"), &format!("java\0{on}\0")));
        assert!(parse_options(
            &format!("A=\0_JAVA_OPTIONS=-Xint {off}\0"),
            &format!("java\0{on}\0")
        ));
        assert!(!parse_options(&format!("MY_JAVA_OPTIONS={off}\0"), "java\0"));
    }

    fn counters() -> Vec<u8> {
        let mut bytes = vec![7; 32];
        bytes.extend(48_u32.to_ne_bytes());
        bytes.extend(b"sun.rt.jvmCapabilities\0");
        bytes.resize(16 + 48, 0);
        bytes.extend(b"1100");
        bytes
    }

    #[test]
    fn counters_of_somebody_else_are_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let own = kilocore_linux::foreign_files::own_user();
        fs::write(path("47"), counters()).unwrap();
        assert_eq!(attaches(&path("47"), own), Some(true));
        std::os::unix::fs::symlink(path("47"), path("link")).unwrap();
        assert_eq!(attaches(&path("link"), own), None);
        // A sparse file costs its owner nothing.
        let grown = fs::OpenOptions::new().append(true).open(path("47")).unwrap();
        grown.set_len(1 << 23).unwrap();
        assert_eq!(attaches(&path("47"), own), None);
        if own != 0 {
            eprintln!("the rest is left out: only root can give a file to another user");
            return;
        }
        grown.set_len(counters().len() as u64).unwrap();
        std::os::unix::fs::chown(path("47"), Some(65534), None).unwrap();
        assert_eq!(attaches(&path("47"), 65534), Some(true));
        assert_eq!(attaches(&path("47"), 1), None);
    }

    #[test]
    fn counters_tell_whether_a_machine_listens() {
        let mut bytes = counters();
        assert_eq!(parse_counters(&bytes), Some(true));
        bytes[16 + 48] = b'0';
        assert_eq!(parse_counters(&bytes), Some(false));
        bytes.truncate(16 + 48);
        assert_eq!(parse_counters(&bytes), None);
        assert_eq!(parse_counters(b"sun.rt.jvmCapabilities\0"), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(
            text in "((Pid|NSpid|Uid|Gid|SigCgt|State):[\t 0-9a-fT-]{0,12}\n){0,8}",
            maps in "([0-9a-f -]{0,20}[/a-z_.]{0,20}\n){0,5}",
            before in proptest::collection::vec(any::<u8>(), 0..40),
            after in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let _ = (parse_status(&text), of_maps(&maps));
            let counters = [&before[..], b"sun.rt.jvmCapabilities\0", &after].concat();
            let _ = parse_counters(&counters);
        }
    }
}
