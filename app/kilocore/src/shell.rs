//! `kilocore completions` and `kilocore manual`: what a shell and a manual reader need, made from
//! the definition of the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use kilocore_command_line::{Failure, output};

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell that they are for
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArguments {
    /// Write the pages into this folder
    folder: PathBuf,
}

pub(crate) fn completions(
    arguments: &CompletionsArguments,
    mut program: Command,
) -> Result<ExitCode, Failure> {
    let name = program.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut text);
    output::print(&String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn manual(arguments: &ManualArguments, program: Command) -> Result<ExitCode, Failure> {
    let folder = &arguments.folder;
    let refused = |file: &Path, error: std::io::Error| {
        Failure::new(format!(
            "cannot write {}: {error}; choose a folder that may be written to",
            file.display()
        ))
    };
    fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
    // Makes the names of subcommands whole, and passes global options on.
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    collect(&program, program.get_name(), &mut pages);
    for (name, page) in pages {
        let file = folder.join(format!("{name}.1"));
        fs::write(&file, page).map_err(|error| refused(&file, error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of a command and those of its subcommands, by name.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    let mut page = Vec::new();
    let titled = command.clone().display_name(name.to_owned());
    // Writing to memory cannot fail.
    let _ = Man::new(titled).title(name.to_uppercase()).render(&mut page);
    pages.push((name.to_owned(), page));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect(inner, &format!("{name}-{}", inner.get_name()), pages);
    }
}
