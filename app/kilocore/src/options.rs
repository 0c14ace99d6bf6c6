//! The whole command line, held to its rules: an option means one thing everywhere, every option is in the
//! table of `docs/guide/options.md`, and the help of every command reads in a terminal of 80 columns.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};

use super::Arguments;

/// Options with more than one meaning, and why.
const SEVERAL_MEANINGS: [(&str, &str); 3] = [
    ("--lock", "a program runs under one lock, and a forecast compares several"),
    ("--output", "of what is recorded, the recording is the result; of all else, a report is"),
    ("--rwlock", "as for `--lock`"),
];

/// Writes the table of options, if it is set, in the place of comparing it.
const WRITE: &str = "KILOCORE_WRITE_OPTIONS";

/// The commands that people type, each with its whole name. Of those with subcommands, those that can do without.
fn leaves() -> Vec<(String, Command)> {
    fn collect(command: &Command, name: &str, leaves: &mut Vec<(String, Command)>) {
        let inner = || command.get_subcommands().filter(|inner| !inner.is_hide_set());
        if inner().next().is_none() || command.is_subcommand_negates_reqs_set() {
            leaves.push((name.to_owned(), command.clone()));
        }
        for inner in inner().filter(|inner| inner.get_name() != "help") {
            collect(inner, &format!("{name} {}", inner.get_name()), leaves);
        }
    }
    let mut program = Arguments::command();
    program.build();
    let mut leaves = Vec::new();
    for command in program.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let name = command.get_name();
        if name != "help" {
            collect(command, name, &mut leaves);
        }
    }
    leaves
}

/// What an option means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    /// The name of its value; nothing of a flag.
    value: String,
    /// The first sentence of its help, without what it is if it is not given.
    sentence: String,
}

impl Meaning {
    fn of(option: &Arg) -> Self {
        let takes_value = option.get_action().takes_values();
        let names = option.get_value_names().unwrap_or_default();
        let names = names.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" ");
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = help.split(". ").next().unwrap_or_default();
        let sentence = sentence.split(" [default:").next().unwrap_or_default();
        Self {
            value: if takes_value { names } else { String::new() },
            sentence: sentence.to_owned(),
        }
    }
}

/// The meanings of each option, each with the commands where it has it.
type Options = BTreeMap<String, BTreeMap<Meaning, Vec<String>>>;

fn options() -> Options {
    let mut options = Options::new();
    for (name, command) in leaves() {
        for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
            let Some(long) = option.get_long() else { continue };
            let places = options.entry(format!("--{long}")).or_default();
            places.entry(Meaning::of(option)).or_default().push(name.clone());
        }
    }
    options.remove("--help");
    options
}

#[test]
fn an_option_means_one_thing_everywhere() {
    for (option, meanings) in options() {
        let reason = SEVERAL_MEANINGS.iter().find(|(known, _)| *known == option);
        match reason {
            None => assert_eq!(meanings.len(), 1, "{option}: {meanings:#?}"),
            Some((_, reason)) => assert!(meanings.len() > 1, "{option} has one meaning: {reason}"),
        }
        for Meaning { sentence, .. } in meanings.keys() {
            assert!(!sentence.is_empty(), "{option} has no help");
        }
    }
}

#[test]
fn every_command_that_gives_a_result_gives_it_as_json_too() {
    let without: Vec<String> = leaves()
        .into_iter()
        .filter(|(_, command)| {
            !command.get_arguments().any(|option| option.get_long() == Some("json"))
        })
        .map(|(name, _)| name)
        .collect();
    // A recording that is no document is a file; `run` becomes the program; what is removed is no result; completions are
    // for a shell.
    let expected = [
        "record samples",
        "record pages",
        "record references",
        "run",
        "cache clear",
        "completions",
    ];
    assert_eq!(without, expected);
    for (option, meanings) in options().iter().filter(|(option, _)| *option == "--json") {
        assert!(meanings.keys().all(|meaning| meaning.value.is_empty()), "{option} is a flag");
    }
}

/// The table, as a page.
fn page() -> String {
    let mut page = String::from(
        "# Options\n\nEach option of `kilocore` means one thing, wherever it stands. `kilocore COMMAND --help` says \
         more.\nThis page is made from the command line itself; `KILOCORE_WRITE_OPTIONS=1 cargo test \
         --release -p kilocore\n--bin kilocore options` writes it anew. `kilocore-lab` has \
         `--no-cache` as well, before or after\nthe name of an experiment.\n\n| option | meaning | where |\n| --- | \
         --- | --- |\n",
    );
    for (option, meanings) in options() {
        for (Meaning { value, sentence }, places) in meanings {
            let space = if value.is_empty() { "" } else { " " };
            let places: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
            let sentence = sentence.replace('|', "\\|").replace('<', "\\<");
            let places = places.join(", ");
            writeln!(page, "| `{option}{space}{value}` | {sentence} | {places} |")
                .expect("writing to a string cannot fail");
        }
    }
    page.push_str("\nThese have more than one meaning:\n\n");
    for (option, reason) in SEVERAL_MEANINGS {
        writeln!(page, "* `{option}`: {reason}.").expect("writing to a string cannot fail");
    }
    page
}

#[test]
fn the_table_of_options_is_that_of_the_command_line() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/options.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, page()).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).expect("the page is there");
    let differing = written.lines().zip(page().lines().map(str::to_owned)).find(|(a, b)| a != b);
    assert!(
        written == page(),
        "docs/guide/options.md is not that of the command line, first in {differing:?}; write it anew with {WRITE}=1"
    );
}

#[test]
fn help_reads_in_a_terminal_of_80_columns() {
    let mut program = Arguments::command();
    program.build();
    let groups = ["record", "list"].map(|name| {
        let group = program.find_subcommand(name).expect("it is there");
        (name.to_owned(), group.clone())
    });
    let all = leaves().into_iter().chain(groups).chain([(String::new(), program.clone())]);
    for (name, command) in all {
        let mut command = command.term_width(80);
        for help in [command.render_help(), command.render_long_help()] {
            let help = help.to_string();
            assert!(help.contains("Usage:"), "{name}: {help}");
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "kilocore {name} --help: {line}");
            }
        }
    }
}
