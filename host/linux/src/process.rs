//! What the system tells of a process.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A file, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file at the end of all links.
    pub fn of(path: &str) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// A few words about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// `R` for running, `S` and `D` for asleep, `Z` for one that has ended.
    pub state: u8,
    pub parent: u32,
    /// Whether it is one of the kernel's own threads, which execute no program.
    pub is_kernel: bool,
    /// When it was started, in ticks since the system was: with its id it names a process.
    pub started: u64,
}

/// Returns the processes of the system, or none if it does not say.
pub fn all() -> Vec<u32> {
    numbers("/proc")
}

/// Returns the id of the process or thread that the whole system started last. While it is the
/// same, there are no new ones. It is the last number of `/proc/loadavg`:
///
/// ```text
/// 0.41 0.30 0.22 2/311 48213
/// ```
pub fn newest() -> Option<u32> {
    let mut text = [0; 128];
    let text = crate::read("/proc/loadavg", &mut text).ok()?;
    std::str::from_utf8(text).ok()?.split_ascii_whitespace().next_back()?.parse().ok()
}

/// Whether a process or thread has ended. What is left of it waits for its parent.
#[must_use]
pub fn has_ended(pid: u32) -> bool {
    status(pid).is_none_or(|status| matches!(status.state, b'Z' | b'X'))
}

/// Returns the threads of a process, or an empty list if the process is gone.
pub fn threads(pid: u32) -> Vec<u32> {
    numbers(&format!("/proc/{pid}/task"))
}

fn numbers(directory: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the status of a process or thread, or `None` if it is gone. It parses `/proc/PID/stat`,
/// of which it takes the state, the parent, the flags and the start time (fields 3, 4, 9 and 22):
///
/// ```text
/// 4711 (my server) S 4700 4711 4700 34816 4711 4194304 120 0 0 0 3 1 0 0 20 0 8 0 731022 …
/// ```
pub fn status(pid: u32) -> Option<Status> {
    let mut text = [0; 1024];
    let text = crate::read(&format!("/proc/{pid}/stat"), &mut text).ok()?;
    parse_status(text)
}

/// The flag of the kernel's own threads, `PF_KTHREAD` in Linux.
const KERNEL_THREAD: u32 = 0x0020_0000;

fn parse_status(text: &[u8]) -> Option<Status> {
    // The name in parentheses may contain anything, even parentheses.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut words = std::str::from_utf8(&text[end + 1..]).ok()?.split_ascii_whitespace();
    let state = *words.next()?.as_bytes().first()?;
    let parent = words.next()?.parse().ok()?;
    let flags: u32 = words.nth(4)?.parse().ok()?;
    let started = words.nth(12)?.parse().ok()?;
    Some(Status { state, parent, is_kernel: flags & KERNEL_THREAD != 0, started })
}

/// Whether a process has an environment, even an empty one. While a process executes a program, it
/// has none for a moment. Returns true if it cannot be told.
pub fn has_environment(pid: u32) -> bool {
    let mut text = [0; 1024];
    let Ok(text) = crate::read(&format!("/proc/{pid}/stat"), &mut text) else {
        return true;
    };
    parse_environment(text) != Some(0)
}

/// What a process executes, as far as it can be told from another execution: where the code ends,
/// and where the stack and the environment begin. As a rule each execution chooses other places,
/// and where the system does not, another program has other code or other words in its stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    code_ends: u64,
    stack_begins: u64,
    environment_begins: u64,
}

/// What a process executes; `None` while it is about to execute another program, when it has ended,
/// and where the system does not tell this user.
#[must_use]
pub fn image(pid: u32) -> Option<Image> {
    let mut text = [0; 1024];
    let text = crate::read(&format!("/proc/{pid}/stat"), &mut text).ok()?;
    parse_image(text).filter(|image| image.environment_begins != 0)
}

/// The fields 27, 28 and 50.
fn parse_image(text: &[u8]) -> Option<Image> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut words = std::str::from_utf8(&text[end + 1..]).ok()?.split_ascii_whitespace();
    let code_ends = words.nth(24)?.parse().ok()?;
    let stack_begins = words.next()?.parse().ok()?;
    let environment_begins = words.nth(21)?.parse().ok()?;
    Some(Image { code_ends, stack_begins, environment_begins })
}

/// The process that a thread belongs to, `Tgid` of its status. A process has a thread of its own
/// number.
#[must_use]
pub fn process_of(thread: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Parses `env_start` of `/proc/PID/stat`, the fiftieth field: the address of the environment, 0
/// without one.
fn parse_environment(text: &[u8]) -> Option<u64> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(&text[end + 1..]).ok()?.split_ascii_whitespace().nth(47)?.parse().ok()
}

/// The name that a thread or, by its main thread, a process has given itself.
#[must_use]
pub fn name(pid: u32, thread: u32) -> Option<String> {
    let mut text = [0; 64];
    let text = crate::read(&format!("/proc/{pid}/task/{thread}/comm"), &mut text).ok()?;
    Some(String::from_utf8_lossy(text).trim_end_matches('\n').to_owned())
}

/// The path of what a process executes.
pub fn executable(pid: u32) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_program_has_an_environment_and_a_zombie_has_none() {
        assert!(has_environment(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().expect("there is a `true`");
        let mut ended = std::mem::MaybeUninit::<libc::siginfo_t>::uninit();
        // SAFETY: the child is there, and the place for what became of it is valid.
        let waited = unsafe {
            libc::waitid(libc::P_PID, child.id(), ended.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT)
        };
        assert_eq!(waited, 0);
        assert!(!has_environment(child.id()));
        child.wait().expect("it is this process's child");
    }

    #[test]
    fn a_status_is_read_whatever_the_name() {
        let line = b"17 (a) b (c) S 5 17 17 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99\n";
        let expected = Status { state: b'S', parent: 5, is_kernel: false, started: 4711 };
        assert_eq!(parse_status(line), Some(expected));
        // kthreadd's flags.
        let kernel = b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 9 0";
        let expected = Status { state: b'S', parent: 0, is_kernel: true, started: 9 };
        assert_eq!(parse_status(kernel), Some(expected));
        assert_eq!(parse_status(b"17 (a"), None);
    }

    #[test]
    fn an_image_is_read_from_its_fields() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let line = format!("17 (a) b) {}", fields.join(" "));
        let expected = Image { code_ends: 27, stack_begins: 28, environment_begins: 50 };
        assert_eq!(parse_image(line.as_bytes()), Some(expected));
        let own = std::process::id();
        assert!(image(own).is_some() && image(own) == image(own));
        assert_eq!(image(u32::MAX), None);
    }

    #[test]
    fn a_thread_belongs_to_its_process() {
        // SAFETY: takes no argument.
        let thread = std::thread::spawn(|| process_of(unsafe { libc::gettid() } as u32));
        assert_eq!(thread.join().unwrap(), Some(std::process::id()));
        assert_eq!(process_of(u32::MAX), None);
    }

    #[test]
    fn this_process_is_known() {
        let own = std::process::id();
        let status = status(own).expect("it is there");
        assert_eq!(status.parent, std::os::unix::process::parent_id());
        assert!(all().contains(&own) && threads(own).contains(&own));
        assert!(threads(u32::MAX).is_empty());
        assert!(newest().is_some());
    }
}
