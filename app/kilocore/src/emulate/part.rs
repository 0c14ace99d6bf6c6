//! The part of a program's run that somebody asks for.

use clap::Args;
use kilocore_command_line::Failure;
use kilocore_emulation_orders::{Place, Window};

/// A part of a program's run.
#[derive(Debug, Clone, Args)]
pub(super) struct Part {
    /// Show only what comes from here on, such as from the call of a function. WHERE is solve; solve@3 for its third
    /// call; libfoo.so:solve for one of a library; threads, where the program makes its first thread; SIGUSR1, where
    /// it sends itself that signal; or a simulated time, 200ms. Up to there or to its first thread, the program takes
    /// less, as loads and stores are not simulated
    #[arg(long, value_name = "WHERE")]
    from: Option<Place>,
    /// End the program where this happens next, or for the nth time if a number is given. WHERE is as for --from, but
    /// `threads` is where the last thread has ended that the program has made
    #[arg(long, value_name = "WHERE", value_parser = end)]
    until: Option<Place>,
    /// Simulate loads and stores from here on already, so that caches are warm where the part begins; `start` is the
    /// program's beginning
    #[arg(long, value_name = "WHERE", requires = "from")]
    warm_from: Option<Place>,
}

fn end(text: &str) -> Result<Place, String> {
    match text.parse() {
        Ok(Place::Start) => Err("nothing ends where it begins".to_owned()),
        Ok(place) => Ok(place),
        Err(error) => Err(format!("{error}")),
    }
}

impl Part {
    /// The part, which is the whole run if nothing is said. Refuses one that its times make impossible; where other
    /// places come, the run tells.
    pub(super) fn window(&self) -> Result<Window, Failure> {
        let Self { from, until, warm_from } = self.clone();
        if let (Some(Place::Time(from)), Some(Place::Time(warm))) = (&from, &warm_from)
            && warm > from
        {
            return Err(Failure::new(format!(
                "--warm-from {} comes after --from {}, so that caches would be empty where the part begins; let it name \
                 what comes earlier, such as start",
                Place::Time(*warm),
                Place::Time(*from)
            )));
        }
        if let (Some(Place::Time(from)), Some(Place::Time(until))) = (&from, &until)
            && from >= until
        {
            return Err(Failure::new(format!(
                "--until {} does not come after --from {}, so that nothing is between them; let it name what comes later",
                Place::Time(*until),
                Place::Time(*from)
            )));
        }
        Ok(Window { from, until, warm: warm_from })
    }
}
