//! `kilocore list benchmarks`.

use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Failure, output};
use kilocore_kernel_bench::{Info, Kind, benchmarks};
use serde::Serialize;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show this one in full
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    title: &'static str,
    operation: &'static str,
    source: &'static str,
    default: Kind,
    kinds: Vec<Kind>,
    only_because: Option<&'static str>,
}

impl From<&Info> for Entry {
    fn from(info: &Info) -> Self {
        let Info { name, title, operation, source, default, only, .. } = *info;
        let possible = |kind: &Kind| info.check_kind(*kind).is_ok();
        let kinds = [Kind::Processes, Kind::Threads].into_iter().filter(possible).collect();
        Self { name, title, operation, source, default, kinds, only_because: only }
    }
}

pub(crate) fn benchmarks(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(name) = &arguments.name {
        let entry = Entry::from(benchmarks::find(name)?.info());
        if arguments.json {
            output::json(&serde_json::json!({ "benchmarks": [entry] }))?;
        } else {
            output::print(&in_full(&entry));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let entries: Vec<Entry> = benchmarks::shown().map(|b| Entry::from(b.info())).collect();
    if arguments.json {
        output::json(&serde_json::json!({ "benchmarks": entries }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |entry: &Entry| {
        let kinds = match entry.kinds.len() {
            1 => entry.default.to_string(),
            _ => format!("{} *", entry.default),
        };
        [entry.name, entry.operation, &kinds, entry.source].map(str::to_owned)
    };
    let rows: Vec<[String; 4]> = entries.iter().map(row).collect();
    let headings = ["name", "one operation", "tasks", "source"];
    output::print(&kilocore_show::terminal::words_table(headings, &rows, output::width()));
    output::print("* or the other kind: --as processes, --as threads\n");
    Ok(ExitCode::SUCCESS)
}

fn in_full(entry: &Entry) -> String {
    let Entry { name, title, operation, source, default, kinds, only_because } = entry;
    let tasks = match only_because {
        Some(why) => format!("{default}: {why}"),
        None if kinds.len() == 1 => default.to_string(),
        None => format!("{default}, or the other kind by --as"),
    };
    format!(
        "{name}: {title}\n  operation    {operation}\n  tasks        {tasks}\n  source       {source}\n  \
         try it       kilocore bench {name}\n"
    )
}
