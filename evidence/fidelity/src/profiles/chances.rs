//! The chance that the advice states of a gain, beside how often the likelier side was right.

use kilocore_forecast::ForecastGain;
use kilocore_show::markdown::table;
use kilocore_show::terminal::columns::Align::{Left, Right};

use super::LockGain;

/// The least chances of the likelier side from which on there is an answer.
const LEAST: [f64; 6] = [0.5, 0.55, 0.6, 2.0 / 3.0, 0.75, 0.9];

/// Of the decided gains, how many have at least this chance by that account, and in how many of these the
/// likelier side was right, or the measurement was a gain.
fn row(gains: &[&LockGain], least: f64, chance: fn(&LockGain) -> f64) -> [usize; 3] {
    let side = |gain: &LockGain| chance(gain).max(1.0 - chance(gain));
    let of: Vec<&LockGain> = gains.iter().copied().filter(|gain| side(gain) >= least).collect();
    let gained = |gain: &&&LockGain| gain.gain.measured > 1.0;
    let right = of.iter().filter(|gain| (chance(gain) > 0.5) == gained(gain)).count();
    [of.len(), right, of.iter().filter(gained).count()]
}

fn by_forecast_alone(gain: &LockGain) -> f64 {
    ForecastGain::exactly(gain.gain.forecast).chance(None)
}

fn by_others_alone(gain: &LockGain) -> f64 {
    // A forecast of which nothing is known leaves what is known of others.
    let unknown = ForecastGain { gain: 1.0, low: f64::MIN_POSITIVE, high: f64::MAX };
    unknown.chance(gain.published)
}

/// The table, as Markdown.
pub(super) fn chances(gains: &[LockGain]) -> String {
    let decided: Vec<&LockGain> = gains.iter().filter(|gain| gain.gain.is_decided()).collect();
    let columns = [
        ("least chance", Left),
        ("answered", Right),
        ("right", Right),
        ("if all are taken for gains", Right),
        ("forecast alone: answered", Right),
        ("right", Right),
        ("other programs alone: answered", Right),
        ("right", Right),
    ];
    let share = |part: usize, of: usize| match of {
        0 => "–".to_owned(),
        of => format!("{:.0} %", part as f64 / of as f64 * 100.0),
    };
    let line = |least: f64| {
        let [answered, right, gained] = row(&decided, least, LockGain::chance);
        let alone = [by_forecast_alone as fn(&LockGain) -> f64, by_others_alone]
            .map(|chance| row(&decided, least, chance));
        let mut line = vec![
            format!("{:.0} %", least * 100.0),
            share(answered, decided.len()),
            share(right, answered),
            share(gained, answered),
        ];
        for [answered, right, _] in alone {
            line.extend([share(answered, decided.len()), share(right, answered)]);
        }
        line
    };
    table(&columns, &LEAST.map(line))
}

#[cfg(test)]
mod tests {
    use kilocore_forecast::{Gain, PublishedGain};
    use kilocore_locks::LockId;

    use super::*;

    fn gain(measured: f64, forecast: f64, middle: Option<f64>) -> LockGain {
        let published =
            |middle| PublishedGain { cases: 9, middle, spread: 1.3, gained: 4, lost: 4 };
        let gain = Gain { measured, forecast };
        LockGain { lock: LockId::Mcs, gain, published: middle.map(published) }
    }

    #[test]
    fn an_answer_is_of_the_likelier_side() {
        let gains = [gain(2.0, 2.5, None), gain(2.0, 0.9, Some(1.8)), gain(0.5, 0.3, Some(3.0))];
        let all: Vec<&LockGain> = gains.iter().collect();
        assert_eq!(row(&all, 0.5, LockGain::chance), [3, 2, 2]);
        assert_eq!(row(&all, 0.5, by_forecast_alone), [3, 2, 2]);
        // Nothing is known of the first: it is on neither side, which is that of a loss.
        assert_eq!(row(&all, 0.55, by_others_alone), [2, 1, 1]);
        assert_eq!(row(&all, 0.999_999, LockGain::chance), [0, 0, 0]);
    }

    #[test]
    fn what_is_not_decided_is_left_out() {
        let text = chances(&[gain(1.02, 3.0, None), gain(2.0, 3.0, None)]);
        assert!(text.contains("| 90 % | 100 % | 100 % |"), "{text}");
    }
}
