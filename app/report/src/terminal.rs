//! Tables for the terminal.
//!
//! Plain text, so that the same serves a terminal, a pipe and a log. Every function takes a
//! [`Style`]: the columns that it may use, and whether it may go beyond ASCII. A width alone does for
//! one.

mod fit;
mod forecast;
mod locate;
mod profile;
mod times;
mod traced;

use kilocore_locks::LockInfo;
use kilocore_machine::Description;
use kilocore_show::terminal::columns::{Align, table, text_of};
use kilocore_show::terminal::{NARROWEST, Style};
use kilocore_show::text::printable;

pub use fit::fit_table;
pub use forecast::{curves_table, forecast_table};
pub use locate::locate_table;
pub use profile::profile_table;
pub use times::times_table;

/// Machines by name.
#[must_use]
pub fn machines_table(machines: &[Description], style: impl Into<Style>) -> String {
    let style = style.into();
    let headings = [("name", Align::Left), ("threads", Align::Right), ("what it is", Align::Left)];
    let mut table = table(style.width.max(NARROWEST), &headings);
    for machine in machines {
        table.add_row([
            printable(&machine.name),
            machine.hardware_threads().to_string(),
            printable(&machine.title),
        ]);
    }
    style.shown(text_of(&table))
}

/// Locks by name, with what each is best and worst at.
#[must_use]
pub fn locks_table<'a>(
    locks: impl IntoIterator<Item = &'a LockInfo>,
    style: impl Into<Style>,
) -> String {
    let style = style.into();
    let headings = ["name", "what it is", "best at", "worst at"].map(|name| (name, Align::Left));
    let mut table = table(style.width.max(NARROWEST), &headings);
    for lock in locks {
        table.add_row([lock.name, lock.title, lock.best_at, lock.worst_at]);
    }
    style.shown(text_of(&table))
}
