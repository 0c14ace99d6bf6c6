//! How far a sweep is, on a terminal.

use indicatif::ProgressBar;
use kilocore_command_line::output;
use kilocore_show::number::count;
use kilocore_sweep::{BatchStanding, Progress, Standing};

/// How far it is, on the bar.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Self {
        Self(output::progress(0, "sweeping"))
    }

    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn is_at(&self, standing: Standing) {
        let Standing { runs_ended, runs, points_ended, points, time_left, batch } = standing;
        self.0.set_length((runs + points) as u64);
        self.0.set_position((runs_ended + points_ended) as u64);
        let mut message = "sweeping".to_owned();
        if let Some(BatchStanding { waiting, running, is_silent }) = batch {
            let tasks = |tasks: usize| count(tasks as u64);
            message += &format!(", {} tasks run and {} wait", tasks(running), tasks(waiting));
            if is_silent {
                message += ", the batch system does not answer";
            }
        } else if let Some(left) = time_left {
            message += &format!(", {} of computing left", about(left.as_secs()));
        }
        self.0.set_message(message);
    }
}

/// So many seconds, in few words.
fn about(seconds: u64) -> String {
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6_000 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
    }
}
