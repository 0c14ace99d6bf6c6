//! `kilocore list policies`: by which policies `kilocore steer` can decide.

use std::process::ExitCode;

use clap::Args;
use kilocore_sched_policy::PolicyName;
use serde::Serialize;

use kilocore_command_line::Failure;
use kilocore_command_line::output;

/// Lists the policies of `kilocore steer`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show this one in full
    #[arg(value_name = "NAME")]
    name: Option<PolicyName>,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    about: &'static str,
    needs_hardware_counters: bool,
    only_inside_a_scheduler: bool,
}

impl From<PolicyName> for Entry {
    fn from(policy: PolicyName) -> Self {
        Self {
            name: name(policy),
            about: policy.about(),
            needs_hardware_counters: policy.needs_counters(),
            only_inside_a_scheduler: policy.needs_scheduler(),
        }
    }
}

/// What is typed for a policy. Of that with a number, the number stays open.
fn name(policy: PolicyName) -> String {
    if matches!(policy, PolicyName::Confined(_)) {
        "confined=N".to_owned()
    } else {
        policy.to_string()
    }
}

/// All policies that can steer a program.
fn all() -> impl Iterator<Item = PolicyName> {
    PolicyName::steering().chain([PolicyName::Confined(1)])
}

pub(crate) fn policies(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let entries: Vec<Entry> = match arguments.name {
        Some(policy) => vec![Entry::from(policy)],
        None => all().map(Entry::from).collect(),
    };
    if arguments.json {
        output::json(&serde_json::json!({ "policies": entries }))?;
    } else if arguments.name.is_some() {
        output::print(&entries.iter().map(in_full).collect::<String>());
    } else {
        let row =
            |entry: &Entry| [entry.name.clone(), entry.about.to_owned(), needs(entry).to_owned()];
        let rows: Vec<[String; 3]> = entries.iter().map(row).collect();
        let headings = ["name", "what it does", "needs"];
        output::print(&kilocore_show::terminal::words_table(headings, &rows, output::width()));
    }
    Ok(ExitCode::SUCCESS)
}

fn needs(entry: &Entry) -> &'static str {
    if entry.needs_hardware_counters { "hardware counters" } else { "" }
}

fn in_full(entry: &Entry) -> String {
    let Entry { name, about, .. } = entry;
    let mut text = format!("{name}: {about}\n");
    if entry.needs_hardware_counters {
        text.push_str(
            "  needs        counters of the processor, which virtual machines often lack\n",
        );
    }
    text.push_str(&match entry.only_inside_a_scheduler {
        true => {
            "  steers       in simulations only; it must decide inside of a scheduler\n".to_owned()
        }
        false => format!("  try it       kilocore steer --policy {name} -- COMMAND\n"),
    });
    text
}
