//! What the programs of this crate have in common: how much work to do, and the page that tables go into.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kilocore_show::markdown::Marked;

/// How much is measured or simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// What the page is made with.
    Full,
    /// Enough to see that it works.
    Quick,
}

/// Tables in Markdown, with the name of the marks between which they stand in the page.
pub type Section = (&'static str, String);

/// Runs a program with its command line: makes the sections, and prints them or puts them into a page.
/// Exit status 2 stands for everything that is wrong, which is said on standard error.
pub fn run(
    program: &str,
    sections: impl FnOnce(Effort) -> Result<Vec<Section>, String>,
) -> ExitCode {
    let answer = request(env::args().skip(1)).and_then(|(effort, page)| {
        let sections = sections(effort)?;
        match page {
            Some(page) => put(&page, &sections),
            None => {
                sections.iter().for_each(|(_, text)| print!("{text}"));
                Ok(())
            }
        }
    });
    match answer {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{program}: {message}");
            ExitCode::from(2)
        }
    }
}

fn request(mut words: impl Iterator<Item = String>) -> Result<(Effort, Option<PathBuf>), String> {
    let (mut effort, mut page) = (Effort::Full, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => effort = Effort::Quick,
            "--page" => page = Some(words.next().ok_or("--page: say which")?.into()),
            _ => return Err(format!("{word}: there are only --quick and --page FILE")),
        }
    }
    Ok((effort, page))
}

fn put(page: &Path, sections: &[Section]) -> Result<(), String> {
    let put = || {
        let mut page = Marked::open(page)?;
        sections.iter().try_for_each(|(name, text)| page.put(name, text))?;
        page.save()
    };
    put().map_err(|error: kilocore_show::markdown::MarkedError| error.to_string())
}
