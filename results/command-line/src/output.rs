//! Writing: on standard output, on the terminal, and into files that appear whole or not at all.

use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use kilocore_output_file::{OutputFile, write_whole};
use kilocore_show::{Format, Generated};
use serde::Serialize;

use crate::{Destination, Failure, lines, program, say, screen};

/// Prints text for people on standard output, in characters that can be shown there.
pub fn print(text: &str) {
    Destination::Stdout.print(text);
}

/// Prints text on standard output. If nobody reads it any more, it is dropped, and the program
/// [ends](crate::end) as one that has noticed. If it cannot be written, the program ends at once: its
/// result is nowhere.
pub fn print_as_is(text: &str) {
    Destination::Stdout.print_as_is(text);
}

/// Prints one JSON document on standard output.
///
/// # Errors
/// A figure that cannot be encoded.
pub fn json(document: &impl Serialize) -> Result<(), Failure> {
    print_as_is(&kilocore_show::in_json(document)?);
    Ok(())
}

/// A progress bar on standard error, if that is a terminal. Elsewhere, a line says every ten seconds how far it is.
#[must_use]
pub fn progress(steps: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() || screen::is_dumb() {
        let bar = ProgressBar::hidden().with_message(what);
        bar.set_length(steps);
        lines::tell(&bar);
        return bar;
    }
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = if screen::is_plain() { style.progress_chars("#> ") } else { style };
    ProgressBar::new(steps).with_style(style).with_message(what)
}

/// The width that tables on standard output may take.
#[must_use]
pub fn width() -> u16 {
    Destination::Stdout.width()
}

/// Who makes a report, how, and when.
#[must_use]
pub fn generated() -> Generated {
    program::generated()
}

/// The format that a report's ending asks for. Refuses one that names none, or has no place.
///
/// # Errors
/// A message about the ending or the folder.
pub fn format_of(path: &Path) -> Result<Format, Failure> {
    let format = Format::of(path)?;
    check_folder(path)?;
    Ok(format)
}

/// Whether a file's ending asks for a page.
#[must_use]
pub fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "html")
}

/// Refuses what no result can be written to: a file in a folder where none can be made, a folder, or `-`, by which
/// somebody means standard output and would get a file of that name.
///
/// # Errors
/// A message about the file or its folder.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::new(
            "-: a result is written to a file, and this names none; name one, or /dev/stdout (./- is a file of this \
             name)",
        ));
    }
    OutputFile::named(path).and_then(|output| output.check()).map_err(|why| unwritten(path, &why))
}

fn unwritten(path: &Path, why: &io::Error) -> Failure {
    let is_device = OutputFile::named(path).is_ok_and(|output| !output.is_regular());
    let mend = match why.kind() {
        io::ErrorKind::IsADirectory => "give the name of a file in it",
        _ if is_device => "choose one that takes what is written, or a file",
        _ => "choose a folder that exists and may be written to",
    };
    Failure::new(format!("cannot write {}: {why}; {mend}", path.display()))
}

/// Writes a file that appears complete or not at all, and says so. What is no regular file is written through.
///
/// # Errors
/// A message about the file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text).map_err(|why| unwritten(path, &why))?;
    say(&format!("written to {}", path.display()));
    Ok(())
}
