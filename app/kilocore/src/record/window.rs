//! Which part of a program's run is recorded.

use std::time::Duration;

use clap::Args;

use crate::time;

/// The part of a program's run that is recorded.
#[derive(Debug, Args)]
pub(crate) struct Window {
    /// Leave out what the program does in its first seconds, as in 2.5 or 500ms. SIGUSR1 to kilocore
    /// begins the recording anew at any time, and SIGUSR2 ends it
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) delay: Option<Duration>,
    /// How long to do so, as in 10, 90s or 5m. Then a program that kilocore has started is asked to end
    /// (SIGTERM)
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub(crate) duration: Option<Duration>,
}
