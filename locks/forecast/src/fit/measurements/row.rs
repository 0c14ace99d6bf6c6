//! Turns the text of a row into a measurement.

use kilocore_locks::LockId;

use super::Measurement;
use super::error::shown;

/// What a row says, as text. A field is `None` if the row does not have it.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) lock: Option<String>,
    pub(super) cores: Option<String>,
    pub(super) threads: Option<String>,
    pub(super) throughput: Option<String>,
}

impl Row {
    /// Returns the measurement, or the reason why the row cannot be used.
    pub(super) fn measurement(self) -> Result<Measurement, String> {
        let name = present(self.lock, "lock")?;
        let lock: LockId = name.parse().or_else(|_| name.to_lowercase().parse()).map_err(|_| {
            format!(
                "Kilocore has no counterpart of lock '{}' (`kilocore list locks` lists what it has)",
                shown(&name)
            )
        })?;
        let cores = cores(&present(self.cores, "cores")?)?;
        if let Some(threads) = self.threads.filter(|text| !text.is_empty())
            && threads.parse() != Ok(f64::from(cores))
        {
            return Err(format!(
                "{} threads on {cores} cores: a fit is of one thread for each core",
                shown(&threads)
            ));
        }
        let throughput = throughput(&present(self.throughput, "throughput")?)?;
        let alias = (!name.eq_ignore_ascii_case(lock.name())).then_some(name);
        Ok(Measurement { lock, alias, cores, throughput })
    }
}

fn present(text: Option<String>, column: &str) -> Result<String, String> {
    text.filter(|text| !text.is_empty()).ok_or_else(|| format!("{column} is absent"))
}

fn cores(text: &str) -> Result<u32, String> {
    let wrong = || format!("cores is '{}', not a whole number from 1", shown(text));
    let cores: f64 = text.parse().map_err(|_| wrong())?;
    if cores.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&cores) {
        // It is in range, as was just checked.
        Ok(cores as u32)
    } else {
        Err(wrong())
    }
}

fn throughput(text: &str) -> Result<f64, String> {
    let wrong = |what: &str| Err(format!("throughput is '{}', {what}", shown(text)));
    match text.parse::<f64>() {
        Err(_) if text.contains(',') => {
            wrong("not a number (write decimals with a point, and thousands without a comma)")
        }
        Err(_) => wrong("not a number"),
        Ok(value) if value.is_nan() => wrong("not a number"),
        Ok(value) if value.is_infinite() => wrong("infinite"),
        Ok(value) if value < 0.0 => wrong("negative"),
        Ok(0.0) => wrong("zero"),
        Ok(value) => Ok(value),
    }
}
