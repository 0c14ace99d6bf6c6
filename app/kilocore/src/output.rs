//! Where results go: a table for people, one JSON document for programs, a file by its ending.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use kilocore_report::CurvesReport;
use kilocore_show::{Format, Generated, Report};
use serde::Serialize;

use crate::failure::Failure;
use crate::screen;

/// How a result is wanted.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a report; its ending chooses the format: .html, .svg, .csv or .json
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Prints text for people on standard output, in characters that can be shown there.
pub(crate) fn print(text: &str) {
    print_as_is(&screen::shown(text));
}

/// Prints text on standard output; a reader that has gone away is no failure. If it cannot be
/// written, the program ends: its result is nowhere.
pub(crate) fn print_as_is(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("kilocore: cannot write the result: {error}; send it where there is room");
            std::process::exit(2);
        }
        _ => {}
    }
}

/// Prints one JSON document on standard output.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    print_as_is(&kilocore_show::in_json(document)?);
    Ok(())
}

/// A progress bar on standard error, if that is a terminal; else one that shows nothing.
pub(crate) fn progress(steps: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() || screen::is_dumb() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = if screen::is_plain() { style.progress_chars("#> ") } else { style };
    ProgressBar::new(steps).with_style(style).with_message(what)
}

/// The width that tables may take.
pub(crate) fn width() -> u16 {
    screen::width()
}

/// Who makes a report, how, and when.
pub(crate) fn generated() -> Generated {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| kilocore_predict::shell_word(&word.to_string_lossy()))
        .collect();
    Generated {
        by: format!("kilocore {}", env!("CARGO_PKG_VERSION")),
        command: format!("kilocore {}", words.join(" ")),
        at: None,
    }
}

/// Refuses a report whose ending names no format or that has no place, before any work is done.
pub(crate) fn check(options: &Options) -> Result<(), Failure> {
    options.output.as_deref().map_or(Ok(()), |path| format_of(path).map(drop))
}

/// The format that a report's ending asks for. Refuses one that names none, or has no place.
pub(crate) fn format_of(path: &Path) -> Result<Format, Failure> {
    let format = Format::of(path)?;
    check_folder(path)?;
    Ok(format)
}

/// Whether a file's ending asks for a page.
pub(crate) fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "html")
}

/// Refuses a file in a folder where none can be made.
pub(crate) fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // The only sure way to find out; the file is gone at once.
    tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map(drop).map_err(|error| {
        Failure::new(format!(
            "cannot write {}: {error}; choose a folder that exists and may be written to",
            path.display()
        ))
    })
}

/// Writes a file that appears complete or not at all, and says so.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    kilocore_show::write_whole(path, text).map_err(|error| {
        Failure::new(format!(
            "cannot write {}: {error}; choose a folder that exists and may be written to",
            path.display()
        ))
    })?;
    eprintln!("kilocore: written to {}", path.display());
    Ok(())
}

/// Writes a report, if one is wanted.
pub(crate) fn report(options: &Options, report: &impl Report) -> Result<(), Failure> {
    if let Some(path) = &options.output {
        kilocore_show::write(path, report)?;
        eprintln!("kilocore: report written to {}", path.display());
    }
    Ok(())
}

/// Gives out curves: `document` as JSON, or a table; and a report, if one is wanted.
pub(crate) fn curves(
    options: &Options,
    document: &impl Serialize,
    report_of: &CurvesReport<'_>,
) -> Result<(), Failure> {
    report(options, report_of)?;
    if options.json {
        return json(document);
    }
    print(&kilocore_report::terminal::curves_table(report_of.curves, width()));
    Ok(())
}
