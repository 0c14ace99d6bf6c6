//! The chance that the advice states of a gain, beside how often it was right.

use kilocore_forecast::{ForecastGain, Gain};
use kilocore_show::markdown::table;
use kilocore_show::terminal::columns::Align::{Left, Right};

/// The ends of the ranges of chances.
const RANGES: [(f64, f64); 5] =
    [(0.5, 0.6), (0.6, 2.0 / 3.0), (2.0 / 3.0, 0.75), (0.75, 0.9), (0.9, 1.0)];

/// The chance that the forecast states of the side that it is on, whichever that is.
fn chance(gain: &Gain) -> f64 {
    let of_gain = ForecastGain::exactly(gain.forecast).chance();
    of_gain.max(1.0 - of_gain)
}

/// A row of the table: how many decided gains have a chance in that range, and of these the forecast and the
/// constant answer 'a gain' have how many on the right side.
fn row(gains: &[Gain], (low, high): (f64, f64)) -> [usize; 3] {
    // A chance of 1 belongs to the last range.
    let within = |gain: &&Gain| {
        let chance = chance(gain);
        low <= chance && (chance < high || high >= 1.0)
    };
    let of: Vec<&Gain> = gains.iter().filter(|gain| gain.is_decided()).filter(within).collect();
    let right = of.iter().filter(|gain| gain.is_right()).count();
    let gained = of.iter().filter(|g| g.measured > 1.0).count();
    [of.len(), right, gained]
}

/// The table, as Markdown.
pub(super) fn chances(gains: &[Gain]) -> String {
    let columns = [
        ("stated chance", Left),
        ("rows", Right),
        ("on the right side", Right),
        ("if all are taken for gains", Right),
    ];
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let line = |range: (f64, f64)| {
        let [rows, right, gained] = row(gains, range);
        let share = |part: usize| match rows {
            0 => "–".to_owned(),
            rows => percent(part as f64 / rows as f64),
        };
        vec![
            format!("{} to {}", percent(range.0), percent(range.1)),
            rows.to_string(),
            share(right),
            share(gained),
        ]
    };
    table(&columns, &RANGES.map(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_all_that_is_decided() {
        let gains: Vec<Gain> = [(2.0, 2.5), (2.0, 0.9), (0.5, 0.3), (1.02, 3.0), (3.0, 1.0)]
            .map(|(measured, forecast)| Gain { measured, forecast })
            .to_vec();
        let rows = RANGES.map(|range| row(&gains, range));
        let sums = [0, 1, 2].map(|at| rows.iter().map(|row| row[at]).sum::<usize>());
        assert_eq!(sums, [4, 2, 3], "{rows:?}");
        let text = chances(&gains);
        assert!(text.contains("| 90 % to 100 % |"), "{text}");
    }
}
