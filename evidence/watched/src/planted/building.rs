//! Programs are built when somebody asks for one, and kept below the target folder.
//!
//! What was built lies in a folder whose name has a hash of all that the build depends on: the
//! sources, the words to the compiler, and which compiler it is. So nothing that is there is ever
//! stale. A build takes place aside and is then renamed, as two test programs may build at once.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, fs, io};

use crate::planted::program::{Language, Need, Program, Recipe};

/// Why a program is not built.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BuildError {
    /// A package is not installed.
    #[error("{program} needs {file} of the Debian package {package}: install {package}")]
    Missing { program: &'static str, file: &'static str, package: &'static str },
    /// The compiler refuses the program.
    #[error("{program} does not build: {command}\n{message}")]
    Compiler { program: &'static str, command: String, message: String },
    /// The system refuses something else.
    #[error("{program} does not build: {}: {message}", place.display())]
    System { program: &'static str, place: PathBuf, message: String },
}

/// A program that is built.
#[derive(Debug, Clone)]
pub struct Built {
    program: &'static Program,
    /// The words that start it, without its arguments.
    words: Vec<OsString>,
}

impl Built {
    /// Returns the program that this is.
    pub fn program(&self) -> &'static Program {
        self.program
    }

    /// Returns the words that start the program, without its arguments.
    pub fn words(&self) -> &[OsString] {
        &self.words
    }

    /// Returns the words of a command that runs the program with `threads` threads for `seconds`.
    /// They hold the lock for `hold` of their own time, and compute for `think` on average between.
    ///
    /// A program takes from 1 to 1000 threads, times up to 1000 seconds, and at most an hour in all.
    /// Some programs cannot do with one thread and start more; their truth says how many.
    pub fn command(
        &self,
        threads: usize,
        hold: Duration,
        think: Duration,
        seconds: Duration,
    ) -> Vec<OsString> {
        let microseconds =
            |time: Duration| format!("{}.{:03}", time.as_micros(), time.subsec_nanos() % 1000);
        let arguments = [
            threads.to_string(),
            microseconds(hold),
            microseconds(think),
            format!("{}.{:09}", seconds.as_secs(), seconds.subsec_nanos()),
        ];
        self.words.iter().cloned().chain(arguments.map(OsString::from)).collect()
    }
}

impl Program {
    /// Builds the program, if it is not built yet.
    ///
    /// # Errors
    /// If a package is not installed, which the error names, or if a compiler or the system refuses.
    pub fn build(&'static self) -> Result<Built, BuildError> {
        let target = target_folder().ok_or_else(|| BuildError::System {
            program: self.name(),
            place: env::current_exe().unwrap_or_default(),
            message: "no folder above this program is one of Cargo's target folders".to_owned(),
        })?;
        self.build_below(&target)
    }

    fn build_below(&'static self, target: &Path) -> Result<Built, BuildError> {
        if let Some(&Need { file, package }) = missing(self.needs) {
            return Err(BuildError::Missing { program: self.name(), file, package });
        }
        let words = match self.recipe {
            Recipe::Interpreter(interpreter) => {
                vec![interpreter.into(), source_folder().join(self.sources[0]).into()]
            }
            Recipe::Cargo => {
                build_examples(target)?;
                vec![target.join(PROFILE.1).join("examples").join(self.name()).into()]
            }
            Recipe::Java { class } => {
                let folder = self.kept(target)?;
                vec!["/usr/bin/java".into(), "-cp".into(), folder.into(), class.into()]
            }
            Recipe::Go | Recipe::Compiler { .. } => {
                vec![self.kept(target)?.join(self.name()).into()]
            }
        };
        Ok(Built { program: self, words })
    }

    /// Returns the folder with what was built, after it has been built if need be.
    fn kept(&self, target: &Path) -> Result<PathBuf, BuildError> {
        let refused = |place: &Path| {
            let place = place.to_owned();
            let program = self.name();
            move |error: io::Error| BuildError::System {
                program,
                place,
                message: error.to_string(),
            }
        };
        let folder = target.join("planted");
        let key = self.key().map_err(refused(&source_folder()))?;
        let kept = folder.join(format!("{}-{key:016x}", self.name()));
        if kept.exists() {
            return Ok(kept);
        }
        fs::create_dir_all(&folder).map_err(refused(&folder))?;
        let aside = tempfile::Builder::new()
            .prefix(".building-")
            .tempdir_in(&folder)
            .map_err(refused(&folder))?;
        run(self.name(), &mut self.compilation(aside.path(), target))?;
        match fs::rename(aside.path(), &kept) {
            // Nothing is left aside that would have to go.
            Ok(()) => drop(aside.keep()),
            // Somebody else has built the same in the meantime.
            Err(_) if kept.exists() => {}
            Err(error) => return Err(refused(&kept)(error)),
        }
        Ok(kept)
    }

    /// What a build depends on, as a number.
    fn key(&self) -> io::Result<u64> {
        let mut key = DefaultHasher::new();
        format!("{:?}", self.compilation(Path::new(""), Path::new(""))).hash(&mut key);
        for source in self.sources {
            fs::read(source_folder().join(source))?.hash(&mut key);
        }
        for need in self.needs {
            // Debian keeps the time at which a package was built. So this tells one version from
            // another, and no compiler has to be started.
            let place = fs::canonicalize(need.file)?;
            let file = fs::metadata(&place)?;
            (place, file.len(), file.modified()?).hash(&mut key);
        }
        Ok(key.finish())
    }

    /// The command that builds the program into a folder.
    fn compilation(&self, into: &Path, target: &Path) -> Command {
        let sources = self.sources.iter().map(|source| source_folder().join(source));
        match self.recipe {
            Recipe::Compiler { compiler, words } => {
                let mut command = Command::new(compiler);
                // A call that ends a function stays a call, so that whoever looks at the stack finds
                // the section while the lock is released.
                command.args(["-O2", "-g", "-fno-optimize-sibling-calls", "-pthread"]);
                command.args(["-Wall", "-Wextra", "-Werror"]);
                command.args(sources.take(1)).args(words);
                command.arg("-o").arg(into.join(self.name()));
                command
            }
            Recipe::Go => {
                let mut command = Command::new("/usr/bin/go");
                command.args(["build", "-o"]).arg(into.join(self.name())).args(sources);
                // Nothing is fetched, and nothing is left outside of the target folder.
                command.env("GOCACHE", target.join("planted/go-cache"));
                command.env("GO111MODULE", "off").env("GOPROXY", "off").env("GOFLAGS", "");
                command.env("CGO_ENABLED", "0");
                command
            }
            Recipe::Java { .. } => {
                let mut command = Command::new("/usr/bin/javac");
                command.args(["-g", "-Xlint:all", "-Werror", "-d"]).arg(into).args(sources);
                command
            }
            Recipe::Cargo | Recipe::Interpreter(_) => unreachable!("nothing of these is kept"),
        }
    }
}

/// Cargo's profile in which this crate is built, and that profile's folder.
const PROFILE: (&str, &str) =
    if cfg!(debug_assertions) { ("dev", "debug") } else { ("release", "release") };

/// Builds all programs in Rust, once in a process. Cargo knows best what they depend on. They are
/// built in the profile of this crate and with what `make` tests in that profile. With this package
/// alone, Cargo would choose other features for what it depends on, and build all that anew.
fn build_examples(target: &Path) -> Result<(), BuildError> {
    static BUILT: OnceLock<Result<(), BuildError>> = OnceLock::new();
    let build = || {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--profile", PROFILE.0, "--workspace"]);
        if PROFILE.0 == "release" {
            cargo.args(tested_apart().map(|name| format!("--exclude=kilocore-{name}")));
        }
        for program in Program::all().iter().filter(|one| one.language() == Language::Rust) {
            cargo.args(["--example", program.name()]);
        }
        cargo.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
        run("rust", &mut cargo)
    };
    BUILT.get_or_init(build).clone()
}

/// The crates of the line `APART := platform locks` of the `Makefile`.
fn tested_apart() -> impl Iterator<Item = &'static str> {
    let makefile = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Makefile"));
    let line = makefile.lines().find_map(|line| line.strip_prefix("APART := "));
    line.expect("the Makefile says what is tested apart").split(' ')
}

/// Waits for a compiler. If it fails, the error has all that it printed.
fn run(program: &'static str, command: &mut Command) -> Result<(), BuildError> {
    let shown = format!("{command:?}");
    let failed = |message| BuildError::Compiler { program, command: shown, message };
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            Err(failed(format!("{}\n{}", output.status, String::from_utf8_lossy(&text))))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The first of the files that is not there.
fn missing(needs: &[Need]) -> Option<&Need> {
    needs.iter().find(|need| !Path::new(need.file).exists())
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// The target folder that this program lies in. Cargo marks it as one that holds what can be made
/// again.
fn target_folder() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let here = Need { file: "/", package: "base-files" };
        let gone = Need { file: "/usr/bin/no-such-compiler", package: "no-such-package" };
        assert_eq!(missing(&[here]), None);
        assert_eq!(missing(&[here, gone]), Some(&gone));
    }

    #[test]
    fn two_builds_at_once_leave_one_program() {
        let target = tempfile::tempdir().expect("a folder");
        let program = Program::named("c-mutex").expect("there is one");
        let build = || program.build_below(target.path()).expect("it builds");
        let (one, two) = std::thread::scope(|scope| {
            let (one, two) = (scope.spawn(build), scope.spawn(build));
            (one.join().expect("it ends"), two.join().expect("it ends"))
        });
        assert_eq!(one.words, two.words);
        assert!(Path::new(&one.words[0]).exists(), "{:?}", one.words);
        let left = fs::read_dir(target.path().join("planted")).expect("it is there").count();
        assert_eq!(left, 1, "nothing is left of the build that came too late");
    }

    #[test]
    fn what_was_built_is_not_built_again() {
        let target = tempfile::tempdir().expect("a folder");
        let program = Program::named("c-mutex").expect("there is one");
        let built = program.build_below(target.path()).expect("it builds");
        let time =
            || fs::metadata(&built.words[0]).and_then(|file| file.modified()).expect("a time");
        let before = time();
        assert_eq!(program.build_below(target.path()).expect("it builds").words, built.words);
        assert_eq!(time(), before);
    }

    #[test]
    fn times_are_written_in_microseconds_and_seconds() {
        let program = Program::named("python-gil").expect("there is one");
        let built = Built { program, words: vec!["run".into()] };
        let command = built.command(
            3,
            Duration::from_nanos(1_002_003),
            Duration::from_micros(7),
            Duration::from_millis(1500),
        );
        assert_eq!(command, ["run", "3", "1002.003", "7.000", "1.500000000"]);
    }
}
