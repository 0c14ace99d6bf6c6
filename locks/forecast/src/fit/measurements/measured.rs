//! What was measured under locks.

use kilocore_locks::LockId;

use super::error::ReadError;
use super::place::{InputPlace, LeftOut};

/// The throughput that was measured under one lock on one number of cores.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The lock, as Kilocore knows it.
    pub lock: LockId,
    /// The name of the lock in the input, if that is another name.
    pub alias: Option<String>,
    /// How many cores there were, each with one thread.
    pub cores: u32,
    /// The throughput, larger than zero. The unit is the same for all measurements.
    pub throughput: f64,
}

/// All that was measured of a program on a machine, under locks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measurements {
    /// The points, sorted by lock, alias and cores. No two points agree in all three.
    pub points: Vec<Measurement>,
    /// What was left out: columns that are not needed, then fields in the order of the file, then
    /// variants that are no lock.
    pub left_out: Vec<LeftOut>,
}

impl Measurements {
    /// Removes the points on more cores than the machine has hardware threads, and notes them as
    /// left out.
    ///
    /// # Errors
    /// [`ReadError`] if nothing is left.
    pub fn leave_out_beyond(
        &mut self,
        machine: &str,
        hardware_threads: u32,
    ) -> Result<(), ReadError> {
        let (kept, beyond): (_, Vec<Measurement>) =
            std::mem::take(&mut self.points).into_iter().partition(|p| p.cores <= hardware_threads);
        self.points = kept;
        if self.points.is_empty() {
            let machine = machine.to_owned();
            return Err(ReadError::beyond(machine, hardware_threads, &self.left_out));
        }
        self.left_out.extend(beyond.into_iter().map(|point: Measurement| LeftOut {
            place: InputPlace::Of { lock: point.name().to_owned(), cores: point.cores },
            why: format!("{machine} has {hardware_threads} hardware threads"),
        }));
        Ok(())
    }
}

impl Measurement {
    /// The name of the lock in the input.
    #[must_use]
    pub fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or(self.lock.name())
    }
}
