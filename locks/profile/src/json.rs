//! Reading and writing profiles.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use kilocore_output_file::OutputFile;
use serde::Deserialize;

use crate::Profile;

/// [`Profile::format`] of every profile.
pub const FORMAT: &str = "kilocore-profile";

/// [`Profile::version`] of the profiles that this version reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// Why a profile cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("{}: {source}; name a profile that exists and may be read", file.display())]
    Read {
        /// The path of the profile, as the caller gave it.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("{}: {source}; nothing was written, choose another place", file.display())]
    Write {
        /// The path of the profile, as the caller gave it.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not JSON, or JSON of another shape.
    #[error("{}:{line}:{column}: {what}; make a profile with `kilocore record locks`", file.display())]
    Syntax {
        /// The path of the profile, as the caller gave it.
        file: PathBuf,
        /// The line in the file, from 1.
        line: usize,
        /// The column in that line, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The file ends in the middle.
    #[error("{}:{line}:{column}: the file ends here, in the middle of the profile; it was cut short, so measure again", file.display())]
    Truncated {
        /// The path of the profile, as the caller gave it.
        file: PathBuf,
        /// The line in the file, from 1.
        line: usize,
        /// The column in that line, from 1.
        column: usize,
    },
    /// The file is JSON, but no profile.
    #[error("{}: format: {found:?} is not {FORMAT:?}; make a profile with `kilocore record locks`", file.display())]
    Foreign {
        /// The path of the profile, as the caller gave it.
        file: PathBuf,
        /// What its `format` says.
        found: String,
    },
    /// The file is a profile of another version.
    #[error("{}: version: {found}, but this program reads {FORMAT_VERSION}; measure again", file.display())]
    Version {
        /// The path of the profile, as the caller gave it.
        file: PathBuf,
        /// What its `version` says.
        found: u64,
    },
    /// The file has a value that makes no sense.
    #[error("{}: {place}: {what}; measure again", file.display())]
    Absurd {
        /// The path of the profile, as the caller gave it.
        file: PathBuf,
        /// The path of the value in the document, such as `runs[0].wall_ns`.
        place: String,
        /// Why the value makes no sense, without a full stop.
        what: String,
    },
}

/// The part of a document that says what it is.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: String,
    #[serde(default)]
    version: u64,
}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// If the file cannot be read, is no profile, or is one of another version. The message
    /// names the file, the place in it and the mend.
    pub fn read(path: &Path) -> Result<Self, ProfileError> {
        let text = fs::read(path)
            .map_err(|source| ProfileError::Read { file: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// Reads a profile from memory. `file` is used only in messages.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(file: &Path, text: &[u8]) -> Result<Self, ProfileError> {
        let located = |error: serde_json::Error| {
            let (file, line, column) = (file.to_owned(), error.line(), error.column());
            if error.is_eof() {
                return ProfileError::Truncated { file, line, column };
            }
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default().to_owned();
            ProfileError::Syntax { file, line, column, what }
        };
        let head: Head = serde_json::from_slice(text).map_err(located)?;
        if head.format != FORMAT {
            return Err(ProfileError::Foreign { file: file.to_owned(), found: head.format });
        }
        if head.version != u64::from(FORMAT_VERSION) {
            return Err(ProfileError::Version { file: file.to_owned(), found: head.version });
        }
        let profile: Self = serde_json::from_slice(text).map_err(located)?;
        profile.check().map_err(|(place, what)| ProfileError::Absurd {
            file: file.to_owned(),
            place,
            what: what.to_owned(),
        })?;
        Ok(profile)
    }

    /// Checks the document, and says where it contradicts itself.
    fn check(&self) -> Result<(), (String, &'static str)> {
        if !(self.host.clock_ghz > 0.0 && self.host.clock_ghz.is_finite()) {
            return Err(("host.clock_ghz".to_owned(), "a clock must go forward"));
        }
        if self.host.cores == 0 {
            return Err(("host.cores".to_owned(), "a program runs on one core at least"));
        }
        if self.runs.is_empty() {
            return Err(("runs".to_owned(), "there is no run"));
        }
        for (index, run) in self.runs.iter().enumerate() {
            if !(run.wall_time.0 >= 0.0 && run.wall_time.0.is_finite()) {
                return Err((format!("runs[{index}].wall_ns"), "not a duration"));
            }
            for (number, process) in run.processes.iter().enumerate() {
                for lock in &process.locks {
                    let sorted = |buckets: &[(f64, u64)]| {
                        buckets.iter().all(|bucket| bucket.0 >= 0.0)
                            && buckets.windows(2).all(|pair| pair[0].0 < pair[1].0)
                    };
                    if !(sorted(&lock.hold.buckets) && sorted(&lock.wait.buckets)) {
                        let place =
                            format!("runs[{index}].processes[{number}].locks (id {})", lock.id);
                        return Err((place, "the buckets of a histogram do not ascend"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the profile, either all of it or nothing. What is no regular file is written through.
    ///
    /// # Errors
    /// If that cannot be done. Then nothing is left behind.
    pub fn write(&self, path: &Path) -> Result<(), ProfileError> {
        self.write_to(path).map_err(|source| ProfileError::Write { file: path.to_owned(), source })
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let output = OutputFile::named(path)?;
        let mut file = BufWriter::new(output.begin()?);
        serde_json::to_writer(&mut file, self).map_err(io::Error::from)?;
        file.write_all(b"\n")?;
        output.take(file.into_inner().map_err(io::IntoInnerError::into_error)?)
    }
}
