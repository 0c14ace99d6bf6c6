//! The output of a program, opened for it alone.
//!
//! Whether a call waits at a file (`O_NONBLOCK`) is a property of the open file, and all that inherit it share that. Several
//! programs are emulated at a time, and one that changes it, as `xz` does, would be seen by the others. So a pipe is opened
//! anew for each. A file is not: its place would be another one.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;

use kilocore_process::Output;
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};

/// Standard output and error of one program.
#[derive(Debug)]
pub(crate) struct OwnOutput(Option<[OwnedFd; 2]>);

impl OwnOutput {
    /// Where a program's output goes, for it alone.
    pub(crate) fn of(output: Output<'_>) -> io::Result<Self> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        Ok(Self(match output {
            Output::Inherited => Some([anew(stdout.as_fd())?, anew(stderr.as_fd())?]),
            Output::ToStderr => {
                let both = anew(stderr.as_fd())?;
                Some([both.try_clone()?, both])
            }
            Output::Discarded => None,
            Output::To { stdout, stderr } => Some([anew(stdout)?, anew(stderr)?]),
        }))
    }

    pub(crate) fn output(&self) -> Output<'_> {
        match &self.0 {
            Some([stdout, stderr]) => Output::To { stdout: stdout.as_fd(), stderr: stderr.as_fd() },
            None => Output::Discarded,
        }
    }
}

/// A pipe, opened once more with the same properties. All else, and a pipe of somebody else's, is the same open file.
fn anew(file: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let same = file.try_clone_to_owned()?;
    let opened = || {
        let path = format!("/proc/self/fd/{}", same.as_raw_fd());
        // One with a name and without a reader would be waited for.
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = open(path, flags, Mode::empty()).ok()?;
        fcntl_setfl(&opened, fcntl_getfl(file).ok()?).ok()?;
        Some(opened)
    };
    let is_pipe = File::from(same.try_clone()?).metadata()?.file_type().is_fifo();
    Ok(if is_pipe { opened() } else { None }.unwrap_or(same))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write, pipe};

    use super::*;

    #[test]
    fn what_one_changes_of_a_pipe_another_one_does_not_see() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let of = || {
            OwnOutput::of(Output::To { stdout: writer.as_fd(), stderr: writer.as_fd() })
                .expect("opened")
        };
        let (one, other) = (of(), of());
        let [Some([one, _]), Some([other, _])] = [&one.0, &other.0] else { panic!("two") };
        fcntl_setfl(one, OFlags::NONBLOCK).expect("it is set");
        for unchanged in [other.as_fd(), writer.as_fd()] {
            assert!(!fcntl_getfl(unchanged).expect("flags").contains(OFlags::NONBLOCK));
        }
        File::from(other.try_clone().expect("cloned")).write_all(b"x").expect("written");
        let mut byte = [0];
        reader.read_exact(&mut byte).expect("the same pipe");
        assert_eq!(byte, *b"x");
    }

    #[test]
    fn a_file_stays_where_it_is() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"before").expect("written");
        let own = OwnOutput::of(Output::To { stdout: file.as_fd(), stderr: file.as_fd() });
        let Some([one, _]) = own.expect("opened").0 else { panic!("two") };
        File::from(one).write_all(b"after").expect("written");
        assert_eq!(file.metadata().expect("it is there").len(), 11);
    }
}
