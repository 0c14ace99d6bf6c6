//! Files appear whole or not at all, in the format that their ending asks for.

use std::path::Path;

use kilocore_show::{Format, Report, ReportError, write};

/// A report of a name; of none, there is nothing to show.
struct Shown(&'static str);

impl Shown {
    fn as_format(&self, format: Format) -> Result<String, ReportError> {
        match self.0 {
            "" => Err(ReportError::NoCurves),
            name => Ok(format!("{} of {name}", format.ending())),
        }
    }
}

impl Report for Shown {
    fn html(&self) -> Result<String, ReportError> {
        self.as_format(Format::Html)
    }

    fn svg(&self) -> Result<String, ReportError> {
        self.as_format(Format::Svg)
    }

    fn csv(&self) -> Result<String, ReportError> {
        self.as_format(Format::Csv)
    }

    fn json(&self) -> Result<String, ReportError> {
        self.as_format(Format::Json)
    }

    fn markdown(&self) -> Result<String, ReportError> {
        self.as_format(Format::Markdown)
    }
}

#[test]
fn the_ending_chooses_the_format() {
    let report = Shown("a report");
    let directory = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("a.html", Format::Html),
        ("a.svg", Format::Svg),
        ("a.b.CSV", Format::Csv),
        ("a.json", Format::Json),
        ("a.md", Format::Markdown),
    ] {
        let path = directory.path().join(name);
        write(&path, &report).unwrap();
        let expected = report.render(format).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }
}

#[test]
fn other_endings_are_refused_with_those_that_are_not() {
    let report = Shown("a report");
    let directory = tempfile::tempdir().unwrap();
    for name in ["report.pdf", "report", ".html", "report."] {
        let path = directory.path().join(name);
        let error = write(&path, &report).unwrap_err();
        assert!(matches!(error, ReportError::Ending { .. }));
        let message = error.to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        assert!(message.ends_with("end it in .html, .svg, .csv, .json or .md"), "{message}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_file_is_replaced_whole_or_kept() {
    let report = Shown("a report");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.html");
    std::fs::write(&path, "before").unwrap();
    // A reader that opened the old file keeps it: the new one took its name, not its place.
    let mut old = std::fs::File::open(&path).unwrap();
    write(&path, &report).unwrap();
    let mut kept = String::new();
    std::io::Read::read_to_string(&mut old, &mut kept).unwrap();
    assert_eq!(kept, "before");
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, "html of a report");

    assert!(write(&path, &Shown("")).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file");
}

#[test]
fn a_failure_to_put_the_file_in_place_leaves_nothing() {
    let report = Shown("a report");
    let directory = tempfile::tempdir().unwrap();
    // A directory of that name cannot be replaced by a file.
    let path = directory.path().join("taken.html");
    std::fs::create_dir(&path).unwrap();
    let error = write(&path, &report).unwrap_err();
    assert!(matches!(error, ReportError::Write { .. }));
    assert!(error.to_string().starts_with(&path.display().to_string()));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);

    let path = directory.path().join("missing/report.csv");
    let message = write(&path, &report).unwrap_err().to_string();
    assert!(message.contains("missing/report.csv"), "{message}");
    assert!(write(Path::new("/dev/null/report.csv"), &report).is_err());
}

#[cfg(unix)]
#[test]
fn the_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let shown = Shown("a report");
    let directory = tempfile::tempdir().unwrap();
    let (report, plain) = (directory.path().join("report.csv"), directory.path().join("plain"));
    write(&report, &shown).unwrap();
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&report), mode(&plain));
}
