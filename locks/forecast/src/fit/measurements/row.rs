//! Turns the text of a point in JSON into a measurement.

use super::error::shown;

/// What a point says, as text. A field is `None` if the point does not have it.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) variant: Option<String>,
    pub(super) cores: Option<String>,
    pub(super) threads: Option<String>,
    pub(super) throughput: Option<String>,
}

/// The variant, cores and throughput of a point.
pub(super) type Measured = (String, u32, f64);

impl Row {
    /// Returns the measurement, or the reason why the point cannot be used.
    pub(super) fn measurement(self) -> Result<Measured, String> {
        let name = present(self.variant, "lock")?;
        let cores = cores(&present(self.cores.or_else(|| self.threads.clone()), "cores")?)?;
        if let Some(threads) = self.threads.filter(|text| !text.is_empty())
            && threads.parse() != Ok(f64::from(cores))
        {
            return Err(format!(
                "{} threads on {cores} cores: a fit is of one thread for each core",
                shown(&threads)
            ));
        }
        let throughput = throughput(&present(self.throughput, "throughput")?)?;
        Ok((name, cores, throughput))
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
    let wrong = |what: &str| format!("throughput is '{}', {what}", shown(text));
    let value: f64 = text.parse().map_err(|_| wrong("not a number"))?;
    super::cell::sound(value, value).map_err(wrong)
}
