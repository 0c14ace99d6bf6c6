//! Making recordings.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kilocore_sampled_profile::SampledProfile;
use kilocore_sampled_profile::perf_data::{self, Options, PerfDataError};
use kilocore_symbols::DebugFiles;
use tempfile::TempDir;

/// A directory with a program, where recordings of it are made.
pub(crate) struct Host {
    directory: TempDir,
}

impl Drop for Host {
    /// The program says what it left in `/tmp`, as just-in-time compilers do.
    fn drop(&mut self) {
        let left = fs::read_to_string(self.path("left")).unwrap_or_default();
        for path in left.lines().filter(|line| line.starts_with("/tmp/perf-")) {
            let _ = fs::remove_file(path);
        }
    }
}

/// How many processors there are.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Host {
    /// Makes one; none where perf may not record the kernel.
    pub(crate) fn new() -> Option<Self> {
        let host = Self { directory: tempfile::tempdir().expect("there is room") };
        let mut works = host.perf(&["record", "-a", "-o", "try.data", "--", "true"]);
        if !works.stderr(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
            eprintln!("perf cannot record here: nothing is compared");
            return None;
        }
        let shows = |line: &str| !line.starts_with("0000000000000000 ");
        if !fs::read_to_string("/proc/kallsyms").is_ok_and(|text| text.lines().any(shows)) {
            eprintln!("the kernel's symbols are hidden here: nothing is compared");
            return None;
        }
        host.build("-O1");
        Some(host)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Builds the program and its library.
    pub(crate) fn build(&self, optimization: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perf_record");
        let gcc = |arguments: &[&str], to: &str, from: &str| {
            let status = Command::new("gcc")
                .args(["-g", optimization, "-fno-omit-frame-pointer", "-Wl,--build-id"])
                .args(["-fno-optimize-sibling-calls", "-o"])
                .arg(self.path(to))
                .arg(source.join(from))
                .args(arguments)
                .status();
            assert!(status.expect("gcc runs").success());
        };
        gcc(&["-pthread", "-ldl"], "program", "program.c");
        gcc(&["-shared", "-fPIC"], "library.so", "library.c");
    }

    fn perf(&self, arguments: &[&str]) -> Command {
        let mut perf = Command::new("perf");
        // Its copies of files belong to the test as well.
        perf.args(arguments).current_dir(self.directory.path()).env("HOME", self.directory.path());
        perf
    }

    /// What perf prints to its standard output.
    pub(crate) fn perf_prints(&self, arguments: &[&str]) -> String {
        let output = self.perf(arguments).stderr(Stdio::null()).output().expect("perf runs");
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Records the program into a file.
    pub(crate) fn record(&self, name: &str, arguments: &[&str]) -> PathBuf {
        let program = self.path("program").display().to_string();
        let library = self.path("library.so").display().to_string();
        let mut perf = self.perf(&["record", "-o", name]);
        perf.args(arguments).args(["--", &program, &library]);
        let output = perf.output().expect("perf runs");
        fs::write(self.path("left"), &output.stdout).expect("there is room");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        self.path(name)
    }

    /// Records the program through a pipe.
    pub(crate) fn record_pipe(&self, name: &str, arguments: &[&str]) -> PathBuf {
        let program = self.path("program").display().to_string();
        let library = self.path("library.so").display().to_string();
        // The program's own output would be in between.
        let quiet = format!("exec {program} {library} >left");
        let mut perf = self.perf(&["record", "-o", "-"]);
        perf.args(arguments).args(["--", "sh", "-c", &quiet]);
        let file = File::create(self.path(name)).expect("there is room");
        let status = perf.stdout(file).stderr(Stdio::null()).status();
        assert!(status.expect("perf runs").success());
        self.path(name)
    }

    /// Records the program, and kills perf when it has written something.
    pub(crate) fn record_and_kill(&self, name: &str) -> PathBuf {
        let program = self.path("program").display().to_string();
        let library = self.path("library.so").display().to_string();
        let mut perf = self.perf(&["record", "-o", name, "-m", "4", "-F", "9999", "--"]);
        perf.args([&program, &library]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut perf = perf.spawn().expect("perf runs");
        // The program prints when it is about to end.
        let mut line = String::new();
        let mut lines = BufReader::new(perf.stdout.take().expect("it is piped"));
        lines.read_line(&mut line).expect("it prints");
        fs::write(self.path("left"), line).expect("there is room");
        perf.kill().expect("it runs");
        perf.wait().expect("it is ours");
        self.path(name)
    }

    /// This host's kernel symbols, as another boot may have them.
    pub(crate) fn shifted_kallsyms(&self, by: u64) -> PathBuf {
        let text = fs::read_to_string("/proc/kallsyms").expect("it is shown to those who record");
        let shifted: Vec<String> = text
            .lines()
            .map(|line| {
                let (address, rest) = line.split_once(' ').expect("lines have addresses");
                let address = u64::from_str_radix(address, 16).expect("it is a number");
                format!("{:016x} {rest}\n", address.wrapping_add(by))
            })
            .collect();
        fs::write(self.path("kallsyms"), shifted.concat()).expect("there is room");
        self.path("kallsyms")
    }

    /// Names are looked for here and not in the cache of whoever runs the test.
    pub(crate) fn options(&self) -> Options {
        Options { debug_files: DebugFiles::none(), ..Options::default() }
    }

    pub(crate) fn try_read(
        &self,
        file: &Path,
        options: &Options,
    ) -> Result<SampledProfile, PerfDataError> {
        let file = BufReader::new(File::open(file).expect("it is there"));
        perf_data::read(file, options, &mut |_| {})
    }

    pub(crate) fn read(&self, file: &Path, options: &Options) -> SampledProfile {
        self.try_read(file, options).expect("it can be read")
    }
}
