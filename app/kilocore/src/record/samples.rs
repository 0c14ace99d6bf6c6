//! `kilocore record samples -- CMD…`: a sampled profile of one run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_process::shell_status;
use kilocore_sampled_profile::sampler::Output;
use kilocore_show::number;

use crate::sampling::{self, Sampling};
use crate::{examples, launch};
use kilocore_command_line::{CoreList, Failure, output, say};

/// Samples one run of a program.
#[derive(Debug, Args)]
#[command(after_help = examples::RECORD_SAMPLES)]
pub(crate) struct Arguments {
    /// Write the recording here. What is known of the run is written beside it
    #[arg(long, short, value_name = "FILE", default_value = "kilocore.samples")]
    output: PathBuf,
    /// Numbers of cores, as in 1,6,12-48:12. The program is run once, so one is named [default: all
    /// that may be used]
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    #[command(flatten)]
    sampling: Sampling,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn record(arguments: &Arguments) -> Result<ExitCode, Failure> {
    output::check_folder(&arguments.output)?;
    launch::check(&arguments.command)?;
    let rule = arguments.sampling.rule()?;
    let counts = arguments.cores.as_ref().map_or(&[][..], |list| &list.0);
    sampling::check_cores(counts)?;
    if counts.len() > 1 {
        return Err(Failure::new(
            "--cores: one run is recorded, on one number of cores; name one, or let `kilocore locate` \
             make the runs on several",
        ));
    }
    let run = sampling::Run {
        profile: &arguments.output,
        rule: &rule,
        cores: counts.first().copied(),
        empty_input: false,
        output: Output::Inherited,
    };
    let (recording, counter) = arguments.sampling.run(&arguments.command, &run)?;
    launch::check_loaded(&arguments.command, shell_status(recording.status))?;
    // A profile is of use without the work, too; who compares it can still say how much that was.
    let work = counter.finish(recording.status);
    if let Err(error) = &work {
        say(&format!("how much work was done is not known: {error}"));
    }
    let work = work.as_ref().ok();
    sampling::write_facts(&arguments.output, &recording, work, &arguments.command)?;
    say(&format!(
        "recording written to {}: {} samples in {} on {}; `kilocore show` summarizes it, and \
         `kilocore compare` holds it against another",
        arguments.output.display(),
        number::count(recording.samples),
        number::nanoseconds(recording.elapsed.0 as f64),
        sampling::in_words(recording.cores)
    ));
    Ok(ExitCode::from(u8::try_from(shell_status(recording.status)).unwrap_or(u8::MAX)))
}
