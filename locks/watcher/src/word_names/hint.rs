//! What would give names to the functions of a file that has been stripped of them.
//!
//! A distribution has the names in a package of its own, and which one that is follows from the
//! package of the file. For files of no package there may be a server that has names by build id, and
//! otherwise only who built the file has them.

use std::fmt;

use crate::word_names::packages::Packages;

/// What would name the functions of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hint {
    /// The path of the file.
    pub module: String,
    /// What to do so that its functions get names.
    pub remedy: Remedy,
}

/// What to do for names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Install a package of the distribution.
    Package {
        /// The package with the names.
        package: String,
        /// The archive that it is in, if that is not the one where all packages are.
        archive: Option<&'static str>,
    },
    /// Fetch the names from a server that has them by build id.
    Debuginfod {
        /// The build id in hexadecimal digits.
        build_id: String,
        /// The servers, as they are set.
        servers: String,
    },
    /// Nobody else has them: build the file without stripping it.
    DoNotStrip,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, remedy } = self;
        match remedy {
            Remedy::Package { package, archive: None } => {
                write!(f, "install {package} for the names in {module}")
            }
            Remedy::Package { package, archive: Some(archive) } => {
                write!(f, "install {package} (from {archive}) for the names in {module}")
            }
            Remedy::Debuginfod { build_id, servers } => write!(
                f,
                "for the names in {module}, ask DEBUGINFOD_URLS={servers} debuginfod-find \
                 debuginfo {build_id}"
            ),
            Remedy::DoNotStrip => {
                write!(f, "{module} was stripped of its names; build it without strip or -s")
            }
        }
    }
}

/// What would name the functions of a file without symbols. `packages` are those of the system that
/// the file is of, if that can be seen, and `servers` those that are set to be asked.
pub(crate) fn hint(
    module: &str,
    build_id: Option<String>,
    packages: Option<&Packages>,
    servers: &str,
) -> Hint {
    let package = packages.and_then(|packages| packages.with_names_of(module));
    let remedy = match (package, build_id) {
        (Some((package, archive)), _) => Remedy::Package { package, archive },
        (None, Some(build_id)) if !servers.trim().is_empty() => {
            Remedy::Debuginfod { build_id, servers: servers.trim().to_owned() }
        }
        (None, _) => Remedy::DoNotStrip,
    };
    Hint { module: module.to_owned(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_package_servers_are_asked_and_then_the_builder() {
        let text = |id: Option<&str>, servers| {
            hint("/opt/a", id.map(str::to_owned), None, servers).to_string()
        };
        assert!(
            text(Some("abcd"), " https://a.example ")
                .ends_with("DEBUGINFOD_URLS=https://a.example debuginfod-find debuginfo abcd")
        );
        for (id, servers) in [(Some("abcd"), " "), (None, "https://a.example")] {
            assert!(text(id, servers).ends_with("without strip or -s"), "{id:?} {servers}");
        }
    }
}
