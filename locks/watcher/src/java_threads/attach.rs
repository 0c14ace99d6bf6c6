//! HotSpot's attach protocol. A virtual machine listens on the socket `.java_pidPID` in its `/tmp`,
//! where PID is its id as it sees itself. At first it does not listen: it begins to if SIGQUIT comes
//! while there is a file `.attach_pidPID` there or in the directory that it works in. Without such a
//! file, SIGQUIT makes it print its threads. A request is five strings, each ended by a zero:
//! version, command and three arguments. An answer is a number, a line feed, and text until the end.
//! Each connection is for one request.
//!
//! Since JDK 24 the machine sends each line as it prints it, with the program stopped meanwhile, so
//! that a slow listener keeps the program from running. A second version of requests has options, and
//! one of them makes the machine print first and send afterwards, as older ones do.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::java_threads::error::AttachError;
use crate::java_threads::jvm::{Machine, Status};
use crate::java_threads::peer::{self, Process};
use crate::java_threads::rights::FileRights;

/// Whether the virtual machine tells which threads hold which synchronizers of
/// `java.util.concurrent`, such as a `ReentrantLock`. Who waits for one is told either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronizers {
    /// It does, and stops the program for as long as it takes to look through the whole heap.
    Listed,
    /// The virtual machine leaves them out, and stops the program for a moment only.
    LeftOut,
}

/// What a virtual machine answers to a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: Vec<u8>,
    /// Whether this is all of it.
    pub(crate) complete: bool,
}

/// What an answer may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    time: Duration,
    /// The longest answer that is taken, in bytes.
    length: usize,
}

const LIMITS: Limits = Limits { time: Duration::from_secs(5), length: 16 << 20 };

/// For how long to wait before each look whether the machine listens, in milliseconds. They make 2 s
/// together. A machine that has little else to do listens after 20 ms.
const PAUSES: [u64; 15] = [1, 2, 4, 8, 16, 32, 64, 128, 249, 249, 249, 249, 249, 250, 250];

/// How much of a refusal is kept, in characters.
const REFUSAL: usize = 200;

/// Asks which version of requests the machine takes, with which options. Old ones do not know this.
const VERSION: &[u8] = b"1\0getversion\0options\0\0\0";

/// Asks for the threads.
pub(crate) fn ask(machine: &Machine, synchronizers: Synchronizers) -> Result<Reply, AttachError> {
    let pid = machine.pid;
    let stream = match listening(machine)? {
        Some(stream) => stream,
        None => wake(machine)?,
    };
    let streams = match talk(pid, stream, VERSION, LIMITS) {
        Ok(reply) => has_streaming(&reply.text),
        Err(AttachError::Refused { .. }) => false,
        Err(error) => return Err(error),
    };
    let stream = listening(machine)?.ok_or(AttachError::NotListening(pid))?;
    talk(pid, stream, &request(synchronizers, streams), LIMITS)
}

/// Whether an answer such as `2 streaming` says that sending line by line can be turned off.
fn has_streaming(answer: &[u8]) -> bool {
    let answer = String::from_utf8_lossy(answer);
    let Some((version, options)) = answer.trim().split_once(' ') else { return false };
    version == "2" && options.split(',').any(|option| option == "streaming")
}

/// The request for the threads. In the second version, the length of all that follows comes after
/// the version.
fn request(synchronizers: Synchronizers, streams: bool) -> Vec<u8> {
    let argument = match synchronizers {
        Synchronizers::Listed => "-l",
        Synchronizers::LeftOut => "",
    };
    if !streams {
        return format!("1\0threaddump\0{argument}\0\0\0").into_bytes();
    }
    let request = format!("threaddump streaming=0\0{argument}\0");
    format!("2\0{}\0{request}", request.len()).into_bytes()
}

fn system(pid: u32, what: &'static str, source: io::Error) -> AttachError {
    AttachError::System { pid, what, source }
}

/// Returns a connection if the machine listens already. A socket that nobody listens on was left
/// behind by a process of the same number.
fn listening(machine: &Machine) -> Result<Option<UnixStream>, AttachError> {
    let pid = machine.pid;
    match peer::connect(&machine.tmp().join(format!(".java_pid{}", machine.own_pid))) {
        Ok(stream) => match kilocore_linux::peer(&stream) {
            Ok(by) if by == pid => Ok(Some(stream)),
            Ok(by) => Err(AttachError::SomebodyElse { pid, by }),
            Err(source) => Err(system(pid, "asking who listens", source)),
        },
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => Ok(None),
            ErrorKind::PermissionDenied => Err(AttachError::NotOurs(pid)),
            ErrorKind::WouldBlock => Err(AttachError::Slow(pid)),
            _ => Err(system(pid, "connecting to its socket", error)),
        },
    }
}

/// Makes the machine listen, and returns a connection.
fn wake(machine: &Machine) -> Result<UnixStream, AttachError> {
    let pid = machine.pid;
    let process = Process::open(pid).map_err(|source| signal_error(pid, source))?;
    // Removes the file on every way out of here.
    let _file = AttachFile::create(machine)?;
    // The last thing before the signal: it ends whatever does not catch it.
    let status = Status::of(pid)?;
    if status.stopped {
        return Err(AttachError::Stopped(pid));
    }
    if !status.catches_quit {
        return Err(AttachError::NotCaught(pid));
    }
    process.quit().map_err(|source| signal_error(pid, source))?;
    for pause in PAUSES {
        thread::sleep(Duration::from_millis(pause));
        if let Some(stream) = listening(machine)? {
            return Ok(stream);
        }
    }
    Err(AttachError::NotListening(pid))
}

fn signal_error(pid: u32, source: io::Error) -> AttachError {
    match source.raw_os_error() {
        // The latter is for a number that is a thread's.
        Some(libc::ESRCH | libc::EINVAL) => AttachError::NoProcess(pid),
        _ => system(pid, "signalling it", source),
    }
}

/// The file that tells a machine what SIGQUIT is for. It is made and removed with the rights of the
/// machine's user: whose `/tmp` is a link to another folder, or who works in one, gains nothing by it.
#[derive(Debug)]
struct AttachFile {
    path: PathBuf,
    user: u32,
    group: u32,
}

impl AttachFile {
    /// In the directory for temporary files, or else in the one that the machine works in.
    fn create(machine: &Machine) -> Result<Self, AttachError> {
        let name = format!(".attach_pid{}", machine.own_pid);
        Self::create_in(&machine.tmp(), &name, machine)
            .or_else(|_| Self::create_in(&machine.directory(), &name, machine))
            .map_err(|source| system(machine.pid, "creating .attach_pid* for it", source))
    }

    fn create_in(directory: &Path, name: &str, machine: &Machine) -> io::Result<Self> {
        let Machine { user, group, .. } = *machine;
        let path = directory.join(name);
        let _rights = FileRights::of(user, group);
        match File::create_new(&path) {
            Ok(_) => Ok(Self { path, user, group }),
            // Left behind by a tool that was killed, or another one asks at this moment. It serves
            // if the machine takes it, which it does from its own user and from root.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let found = fs::symlink_metadata(&path)?;
                if found.is_file() && [user, 0].contains(&found.uid()) {
                    Ok(Self { path, user, group })
                } else {
                    Err(error)
                }
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for AttachFile {
    fn drop(&mut self) {
        let _rights = FileRights::of(self.user, self.group);
        // If it is gone already, so much the better.
        let _ = fs::remove_file(&self.path);
    }
}

/// Sends a request and reads the answer.
fn talk(
    pid: u32,
    mut stream: UnixStream,
    request: &[u8],
    limits: Limits,
) -> Result<Reply, AttachError> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => AttachError::HungUp(pid),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => AttachError::Slow(pid),
        _ => system(pid, "talking to it", error),
    };
    stream.set_write_timeout(Some(limits.time)).map_err(failed)?;
    stream.write_all(request).map_err(failed)?;
    understand(pid, read(&stream, limits).map_err(failed)?)
}

/// Reads until the other side has no more to say, or as much as the limits allow.
fn read(mut stream: &UnixStream, limits: Limits) -> io::Result<Reply> {
    let end = Instant::now() + limits.time;
    let mut text = Vec::new();
    let mut room = vec![0; 64 << 10];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut room) {
            Ok(0) => return Ok(Reply { text, complete: true }),
            Ok(more) => text.extend_from_slice(&room[..more]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if text.len() > limits.length {
            text.truncate(limits.length);
            return Ok(Reply { text, complete: false });
        }
    }
}

/// Takes the number off an answer.
fn understand(pid: u32, mut reply: Reply) -> Result<Reply, AttachError> {
    if reply.text.is_empty() {
        return Err(AttachError::HungUp(pid));
    }
    let end =
        reply.text.iter().position(|byte| *byte == b'\n').ok_or(AttachError::Protocol(pid))?;
    let code = std::str::from_utf8(&reply.text[..end]).ok().and_then(|code| code.parse().ok());
    let code: i64 = code.ok_or(AttachError::Protocol(pid))?;
    reply.text.drain(..=end);
    if code == 0 {
        return Ok(reply);
    }
    let text = String::from_utf8_lossy(&reply.text);
    Err(AttachError::Refused { pid, code, text: text.trim().chars().take(REFUSAL).collect() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SMALL: Limits = Limits { time: Duration::from_millis(200), length: 100 };

    /// What a machine is understood to say that is asked, and then says `words` and hangs up.
    fn said(words: &'static [u8]) -> Result<Reply, AttachError> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let machine = thread::spawn(move || {
            let mut asked = vec![0; VERSION.len()];
            theirs.read_exact(&mut asked).unwrap();
            assert_eq!(asked, VERSION);
            theirs.write_all(words).unwrap();
        });
        let reply = talk(7, ours, VERSION, SMALL);
        machine.join().unwrap();
        reply
    }

    #[test]
    fn requests_are_as_each_version_wants_them() {
        let text =
            |synchronizers, streams| String::from_utf8(request(synchronizers, streams)).unwrap();
        assert_eq!(text(Synchronizers::Listed, false), "1\0threaddump\0-l\0\0\0");
        assert_eq!(text(Synchronizers::LeftOut, false), "1\0threaddump\0\0\0\0");
        assert_eq!(text(Synchronizers::Listed, true), "2\x0026\0threaddump streaming=0\0-l\0");
        assert_eq!(text(Synchronizers::LeftOut, true), "2\x0024\0threaddump streaming=0\0\0");
        assert!(has_streaming(b"2 streaming") && has_streaming(b"2 more,streaming\n"));
        assert!(
            !has_streaming(b"2") && !has_streaming(b"3 streaming") && !has_streaming(b"\xff 2")
        );
    }

    #[test]
    fn answers_are_told_from_refusals() {
        let reply = said(b"0\nFull thread dump\n").unwrap();
        assert_eq!(reply, Reply { text: b"Full thread dump\n".to_vec(), complete: true });
        let refusal = said(b"101\n no such version \n").unwrap_err();
        assert!(
            matches!(&refusal, AttachError::Refused { code: 101, text, .. } if text == "no such version"),
            "{refusal}"
        );
        assert!(matches!(said(b""), Err(AttachError::HungUp(7))));
        assert!(matches!(said(b"HTTP/1.1\n"), Err(AttachError::Protocol(7))));
        assert!(matches!(said(b"0"), Err(AttachError::Protocol(7))));
    }

    #[test]
    fn a_long_answer_is_cut() {
        const LONG: &[u8] = &[b'\n'; 120];
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"0").unwrap();
        theirs.write_all(LONG).unwrap();
        let reply = talk(7, ours, VERSION, SMALL).unwrap();
        assert_eq!((reply.text.len(), reply.complete), (98, false));
    }

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let answer = talk(7, ours, VERSION, SMALL);
        assert!(matches!(answer, Err(AttachError::Slow(7))));
    }

    #[test]
    fn who_hangs_up_at_once_is_understood() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let answer = talk(7, ours, VERSION, SMALL);
        assert!(matches!(answer, Err(AttachError::HungUp(7))));
    }

    #[test]
    fn the_file_is_made_with_the_rights_of_the_machine() {
        if kilocore_linux::foreign_files::own_user() != 0 {
            eprintln!("left out: only root can act for another user");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine { pid: 7, own_pid: 7, nested: false, user: 65534, group: 65534 };
        let create = |folder: &Path| AttachFile::create_in(folder, ".attach_pid7", &machine);
        assert!(create(directory.path()).is_err(), "the user may not write there");
        let own = directory.path().join("own");
        fs::create_dir(&own).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(&own, Some(65534), None).unwrap();
        let file = create(&own).unwrap();
        assert_eq!(fs::metadata(&file.path).unwrap().uid(), 65534);
        drop(file);
        assert!(!own.join(".attach_pid7").exists());
        // This thread has its own rights again.
        fs::write(directory.path().join("x"), "").unwrap();
        assert_eq!(fs::metadata(directory.path().join("x")).unwrap().uid(), 0);
    }

    #[test]
    fn pauses_make_two_seconds() {
        assert_eq!(PAUSES.iter().sum::<u64>(), 2000);
    }
}
