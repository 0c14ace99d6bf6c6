//! The packages of a system of Debian's kind, and which of them have debugging symbols.
//!
//! The package manager keeps a list of each package's files, a path to a line, in
//! `/var/lib/dpkg/info/PACKAGE.list` or `PACKAGE:ARCHITECTURE.list`.

use std::fs;
use std::path::{Path, PathBuf};

use kilocore_linux::foreign_files::ForeignFile;

/// The packages of a system, below its root.
#[derive(Debug)]
pub(crate) struct Packages {
    lists: Vec<PathBuf>,
    archive: Option<&'static str>,
}

impl Packages {
    /// Those of a system. There are none if it is of another kind.
    pub(crate) fn of(root: &Path) -> Self {
        let entries = fs::read_dir(root.join("var/lib/dpkg/info")).into_iter().flatten().flatten();
        let mut lists: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "list"))
            .take(MOST_LISTS)
            .collect();
        lists.sort();
        Self { lists, archive: debug_archive(root) }
    }

    /// Returns the package with the names of a file's functions, and the archive that it is in if
    /// that is one of its own. Returns `None` for a file of no package.
    pub(crate) fn with_names_of(&self, file: &str) -> Option<(String, Option<&'static str>)> {
        let package = self.package(file)?;
        Some(match with_names_beside(&package) {
            Some(known) => (known, None),
            None => (format!("{package}-dbgsym"), self.archive),
        })
    }

    /// The package that a file is of.
    fn package(&self, file: &str) -> Option<String> {
        // `/lib` is a link to `/usr/lib` now, and packages have files under either name.
        let other = match file.strip_prefix("/usr") {
            Some(short) => short.to_owned(),
            None => format!("/usr{file}"),
        };
        let has = |list: &&PathBuf| {
            let text = read(list);
            let mut lines = text.split(|byte| *byte == b'\n');
            lines.any(|line| line == file.as_bytes() || line == other.as_bytes())
        };
        let name = self.lists.iter().find(has)?.file_stem()?.to_str()?;
        Some(name.split(':').next().unwrap_or(name).to_owned())
    }
}

/// No system has more packages.
const MOST_LISTS: usize = 1 << 17;

/// A file of the system that a process sees, which may be one that the process has made.
fn read(path: &Path) -> Vec<u8> {
    /// No list of a package's files is longer.
    const LONGEST: u64 = 1 << 25;
    ForeignFile::open(path).and_then(|file| file.contents(LONGEST)).unwrap_or_default()
}

/// The archive of packages that end in `-dbgsym`, which the usual one has not.
fn debug_archive(root: &Path) -> Option<&'static str> {
    let text = read(&root.join("etc/os-release"));
    let text = String::from_utf8_lossy(&text);
    let id = text.lines().find_map(|line| line.strip_prefix("ID="))?;
    match id.trim_matches('"') {
        "debian" => Some("the archive debian-debug, http://deb.debian.org/debian-debug"),
        "ubuntu" => Some("the archive of debug symbols, http://ddebs.ubuntu.com"),
        _ => None,
    }
}

/// The package with another one's symbols that the usual archive has, of the few of which there is
/// one.
fn with_names_beside(package: &str) -> Option<String> {
    let version = |begin: &str| {
        let rest = package.strip_prefix(begin)?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        Some(&rest[..end]).filter(|version| !version.is_empty())
    };
    if package == "libc6" {
        return Some("libc6-dbg".to_owned());
    }
    if let Some(version) = version("openjdk-") {
        return Some(format!("openjdk-{version}-dbg"));
    }
    // Both the interpreter and the library; `python3-x` is a module.
    let version = version("libpython").or_else(|| version("python"))?;
    version.contains('.').then(|| format!("python{version}-dbg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_leads_to_the_package_with_its_names() {
        let root = tempfile::tempdir().expect("there is room");
        let info = root.path().join("var/lib/dpkg/info");
        fs::create_dir_all(&info).expect("there is room");
        fs::create_dir_all(root.path().join("etc")).expect("there is room");
        fs::write(root.path().join("etc/os-release"), "NAME=x\nID=debian\n").expect("room");
        for (list, file) in [
            ("libexample1:amd64.list", "/lib/x86_64-linux-gnu/libexample.so.1"),
            ("libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6"),
            ("other.list", "/usr/bin/other"),
            ("other.md5sums", "/usr/bin/none"),
        ] {
            fs::write(info.join(list), format!("/.\n/lib\n{file}\n")).expect("there is room");
        }
        let packages = Packages::of(root.path());
        let of = |file| packages.with_names_of(file);
        let (package, archive) = of("/usr/lib/x86_64-linux-gnu/libexample.so.1").expect("it is");
        assert_eq!(package, "libexample1-dbgsym");
        assert!(archive.is_some_and(|archive| archive.contains("debian-debug")));
        assert_eq!(of("/usr/lib/x86_64-linux-gnu/libc.so.6"), Some(("libc6-dbg".into(), None)));
        assert_eq!(of("/bin/other").map(|found| found.0).as_deref(), Some("other-dbgsym"));
        assert_eq!(of("/usr/bin/none"), None);
        assert_eq!(Packages::of(&info).with_names_of("/usr/bin/other"), None);
    }

    #[test]
    fn some_packages_have_symbols_beside_them() {
        for (package, expected) in [
            ("openjdk-17-jre-headless", Some("openjdk-17-dbg")),
            ("python3.11-minimal", Some("python3.11-dbg")),
            ("libpython3.11", Some("python3.11-dbg")),
            ("python3-numpy", None),
            ("libgomp1", None),
        ] {
            assert_eq!(with_names_beside(package).as_deref(), expected, "{package}");
        }
    }
}
