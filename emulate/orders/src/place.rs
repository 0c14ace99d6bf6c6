//! Places in a program's run, as they are typed.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::signals;

/// A place in a program's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Its beginning.
    Start,
    /// Where a function is called.
    Call {
        /// The file that has the function: its path, or its name, which may end before its version. The program's own
        /// file if none is named.
        file: Option<String>,
        /// The function's name, as the linker knows it or as the source has it.
        function: String,
        /// Which of all the program's calls of it, from 1 on.
        time: Option<NonZeroU32>,
    },
    /// Where the program makes its first thread, or where the last thread that it has made has ended.
    Threads,
    /// Where the program sends itself a signal.
    Signal {
        /// The signal's number on Linux.
        number: i32,
        /// Which of all that it sends itself, from 1 on.
        time: Option<NonZeroU32>,
    },
    /// Where so much simulated time has passed, in ns.
    Time(u64),
}

/// Why a text names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// It names nothing.
    #[error(
        "no function is named; give one as in solve, solve@3 for its third call, or libfoo.so:solve"
    )]
    Empty,
    /// No function is called for the nth time.
    #[error("'{0}' is no number of a call; give one from 1 to 4294967295, as in solve@3")]
    Call(String),
    /// It begins as a time does.
    #[error("'{0}' is no simulated time; give ns, us, ms or s, as in 200ms or 1.5s")]
    Time(String),
    /// There is no such signal.
    #[error("'{0}' is no signal that a program sends itself; give one as in SIGUSR1")]
    Signal(String),
    /// Only a function is called, and only signals are sent, more than once.
    #[error("'{0}' comes once; leave out what is behind the @")]
    Once(String),
}

const START: &str = "start";
const THREADS: &str = "threads";
/// What stands before the number of a call. No shell does anything about it, and no name has it.
const TIMES: char = '@';
/// The longest time, in ns: some years.
const MOST_NS: f64 = 1e17;

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let (name, number) = match text.rsplit_once(TIMES) {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let time = number.map(|number| {
            number.parse::<NonZeroU32>().map_err(|_| PlaceError::Call(number.to_owned()))
        });
        let time = time.transpose()?;
        let once = match name {
            START => Some(Self::Start),
            THREADS => Some(Self::Threads),
            _ if name.starts_with(|first: char| first.is_ascii_digit()) => {
                let ns = ns(name).ok_or_else(|| PlaceError::Time(name.to_owned()))?;
                Some(Self::Time(ns))
            }
            _ => None,
        };
        if let Some(place) = once {
            return match time {
                None => Ok(place),
                Some(_) => Err(PlaceError::Once(name.to_owned())),
            };
        }
        if signals::is_named(name) {
            let number =
                signals::number(name).ok_or_else(|| PlaceError::Signal(name.to_owned()))?;
            return Ok(Self::Signal { number, time });
        }
        let (file, function) = file_and_function(name);
        if function.is_empty() || file.is_some_and(str::is_empty) {
            return Err(PlaceError::Empty);
        }
        Ok(Self::Call { file: file.map(str::to_owned), function: function.to_owned(), time })
    }
}

/// What stands before the first colon that is by itself, and what is behind it: names of C++ and Rust have two in a row.
fn file_and_function(name: &str) -> (Option<&str>, &str) {
    let bytes = name.as_bytes();
    let is_alone = |&at: &usize| {
        bytes[at] == b':' && bytes.get(at + 1) != Some(&b':') && (at == 0 || bytes[at - 1] != b':')
    };
    match (0..bytes.len()).find(is_alone) {
        Some(at) => (Some(&name[..at]), &name[at + 1..]),
        None => (None, name),
    }
}

/// A time, in ns.
fn ns(text: &str) -> Option<u64> {
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let ns = units.into_iter().find_map(|(unit, ns)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some((number * ns).round())
    })?;
    (0.0..=MOST_NS).contains(&ns).then_some(ns as u64)
}

impl Place {
    /// Whether it is in a file, by the path of that.
    #[must_use]
    pub fn is_in(&self, path: &str) -> bool {
        let Self::Call { file: Some(file), .. } = self else { return false };
        if file.contains('/') {
            return path == file;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_prefix(file).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Whether it is the same place wherever one begins to count: a time, or what comes for the nth time.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Call { time, .. } | Self::Signal { time, .. } => time.is_some(),
            Self::Start | Self::Time(_) => true,
            Self::Threads => false,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbered = |f: &mut fmt::Formatter<'_>, time: &Option<NonZeroU32>| match time {
            Some(time) => write!(f, "{TIMES}{time}"),
            None => Ok(()),
        };
        match self {
            Self::Start => f.write_str(START),
            Self::Threads => f.write_str(THREADS),
            Self::Call { file, function, time } => {
                if let Some(file) = file {
                    write!(f, "{file}:")?;
                }
                f.write_str(function)?;
                numbered(f, time)
            }
            Self::Signal { number, time } => {
                match signals::name(*number) {
                    Some(name) => f.write_str(name)?,
                    None => write!(f, "signal {number}")?,
                }
                numbered(f, time)
            }
            Self::Time(ns) => {
                let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
                let unit = units.into_iter().find(|(_, each)| *ns > 0 && ns.is_multiple_of(*each));
                match unit {
                    Some((unit, each)) => write!(f, "{}{unit}", ns / each),
                    None => write!(f, "{ns}ns"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(file: Option<&str>, function: &str, time: Option<u32>) -> Place {
        Place::Call {
            file: file.map(str::to_owned),
            function: function.to_owned(),
            time: time.and_then(NonZeroU32::new),
        }
    }

    #[test]
    fn places_are_read_as_they_are_typed_and_shown_as_they_are_read() {
        for (text, place) in [
            ("solve", call(None, "solve", None)),
            ("solve@3", call(None, "solve", Some(3))),
            ("libfoo.so:solve@12", call(Some("libfoo.so"), "solve", Some(12))),
            ("/usr/lib/libfoo.so.1:solve", call(Some("/usr/lib/libfoo.so.1"), "solve", None)),
            ("ns::solve(a::b, int)", call(None, "ns::solve(a::b, int)", None)),
            ("libx.so:ns::solve", call(Some("libx.so"), "ns::solve", None)),
            ("main.(*T).solve", call(None, "main.(*T).solve", None)),
            ("prog:threads", call(Some("prog"), "threads", None)),
            ("start", Place::Start),
            ("threads", Place::Threads),
            ("200ms", Place::Time(200_000_000)),
            ("1500ms", Place::Time(1_500_000_000)),
            ("7ns", Place::Time(7)),
            ("0ns", Place::Time(0)),
            ("SIGUSR1", Place::Signal { number: 10, time: None }),
            ("SIGCONT@2", Place::Signal { number: 18, time: NonZeroU32::new(2) }),
        ] {
            let read: Place = text.parse().expect(text);
            assert_eq!(read, place, "{text}");
            assert_eq!(read.to_string(), text);
        }
        assert_eq!("1.5s".parse(), Ok(Place::Time(1_500_000_000)));
    }

    #[test]
    fn a_place_is_in_the_file_that_it_names_whatever_its_version() {
        let is_in = |file: &str, path: &str| call(Some(file), "solve", None).is_in(path);
        assert!(is_in("libfoo.so", "/usr/lib/libfoo.so.1.2"));
        assert!(is_in("libfoo.so.1", "/usr/lib/libfoo.so.1.2"));
        assert!(is_in("/opt/libfoo.so", "/opt/libfoo.so"));
        assert!(!is_in("libfoo.so.1", "/usr/lib/libfoo.so.12"));
        assert!(!is_in("libfoo.so", "/usr/lib/my-libfoo.so"));
        assert!(!is_in("/opt/libfoo.so", "/usr/lib/libfoo.so"));
        assert!(!call(None, "solve", None).is_in("solve"));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let refused = |text: &str| text.parse::<Place>().expect_err(text);
        for text in ["", "libfoo.so:", ":solve"] {
            assert_eq!(refused(text), PlaceError::Empty, "{text}");
        }
        for text in ["solve@0", "solve@", "solve@x", "solve@-1", "solve@4294967296"] {
            assert!(matches!(refused(text), PlaceError::Call(_)), "{text}");
        }
        for text in ["200", "2 weeks", "1e30s", "3x"] {
            assert!(matches!(refused(text), PlaceError::Time(_)), "{text}");
        }
        assert!(matches!(refused("SIGNOSUCH"), PlaceError::Signal(_)));
        // Nobody is there to go on after these.
        assert!(matches!(refused("SIGKILL"), PlaceError::Signal(_)));
        for text in ["threads@2", "200ms@1", "start@1"] {
            assert!(matches!(refused(text), PlaceError::Once(_)), "{text}");
        }
    }
}
