//! What is run when all runs are answered.

use std::io;
use std::path::PathBuf;

use kilocore_process::{Output, Start, run, shell_status};
use kilocore_sweep_plan::AfterCommand;

use crate::command::told_by;
use crate::{AfterEnd, Outcome, Sweep};

impl Sweep<'_> {
    /// Runs the commands that the plan has after all runs, if all of these are answered: one after the other, up to the first that
    /// fails. What they print goes to this process's standard error.
    pub fn conclude(&self, find: &dyn Fn(&str) -> Option<PathBuf>, outcome: &mut Outcome) {
        if !outcome.is_complete() {
            return;
        }
        for command in &self.plan.after {
            let end = conclude_with(command, find, outcome);
            let goes_on = end == AfterEnd::Well && outcome.told_by.is_none();
            outcome.after.push(end);
            if !goes_on {
                return;
            }
        }
    }
}

fn conclude_with(
    command: &AfterCommand,
    find: &dyn Fn(&str) -> Option<PathBuf>,
    outcome: &mut Outcome,
) -> AfterEnd {
    let (name, words) = command.words.split_first().expect("a command has a program");
    let Some(program) = find(name) else {
        return AfterEnd::Failed(format!("there is no program '{name}'"));
    };
    let words: Vec<_> = [program.into()].into_iter().chain(words.iter().map(Into::into)).collect();
    let start = Start {
        command: &words,
        output: Output::ToStderr,
        ends_for_certain: true,
        ..Start::default()
    };
    match run(start) {
        Err(error) => AfterEnd::Failed(format!("did not begin: {}", io::Error::from(error))),
        Ok(end) => {
            outcome.told_by = told_by(&end).or(outcome.told_by);
            match end.status.success() {
                true => AfterEnd::Well,
                false => {
                    AfterEnd::Failed(format!("ended with status {}", shell_status(end.status)))
                }
            }
        }
    }
}
