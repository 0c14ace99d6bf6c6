//! What the cores' time went to, as the kernel counts it: proc_stat(5).

use std::collections::BTreeMap;
use std::fs;
use std::ops::Sub;
use std::time::Duration;

use kilocore_platform::CpuId;

/// What the time of some cores went to, since the machine was started or in a while. The kernel counts
/// in ticks, mostly of 10 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CoreTime {
    /// Programs and the kernel ran.
    pub busy: Duration,
    /// They wanted to run, and the machine that this one is a guest of let another run.
    pub stolen: Duration,
    /// There was nothing to run.
    pub idle: Duration,
}

/// What the time of each core that is turned on went to since the machine was started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoreTimes(BTreeMap<CpuId, CoreTime>);

impl CoreTimes {
    /// Reads them; nothing where the kernel does not show them.
    #[must_use]
    pub fn now() -> Self {
        // SAFETY: an integer only.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let ticks = u32::try_from(ticks).ok().filter(|&ticks| ticks > 0).unwrap_or(100);
        Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default(), ticks)
    }

    fn parse(text: &str, ticks_per_second: u32) -> Self {
        let core = |line: &str| -> Option<(CpuId, CoreTime)> {
            let mut words = line.strip_prefix("cpu")?.split(' ');
            let core = CpuId(words.next()?.parse().ok()?);
            let mut ticks = [0_u64; 8];
            for count in &mut ticks {
                *count = words.next()?.parse().ok()?;
            }
            let [user, nice, system, idle, waiting, interrupts, soft, stolen] = ticks;
            let time = |ticks: u64| Duration::from_secs(ticks) / ticks_per_second;
            let busy =
                [user, nice, system, interrupts, soft].into_iter().fold(0, u64::saturating_add);
            let (busy, idle) = (time(busy), time(idle.saturating_add(waiting)));
            Some((core, CoreTime { busy, stolen: time(stolen), idle }))
        };
        Self(text.lines().filter_map(core).collect())
    }

    /// What the time of some cores went to since `before`. Nothing if one of them was turned on or off
    /// meanwhile.
    #[must_use]
    pub fn of_since(&self, cores: &[CpuId], before: &Self) -> Option<CoreTime> {
        cores.iter().try_fold(CoreTime::default(), |sum, core| {
            let more = *self.0.get(core)? - *before.0.get(core)?;
            let CoreTime { busy, stolen, idle } = sum;
            Some(CoreTime {
                busy: busy + more.busy,
                stolen: stolen + more.stolen,
                idle: idle + more.idle,
            })
        })
    }
}

impl Sub for CoreTime {
    type Output = Self;

    /// What was added since. The kernel's idle time may go back a little, which counts as none.
    fn sub(self, before: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(before.busy),
            stolen: self.stolen.saturating_sub(before.stolen),
            idle: self.idle.saturating_sub(before.idle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 0 50 900 10 0 5 7 3 0\ncpu0 60 1 20 400 10 2 3 4 3 0\n\
                        cpu2 40 0 30 500 0 0 2 3 0 0\nintr 5 6\nctxt 9\n";

    fn milliseconds(ticks: u64) -> Duration {
        Duration::from_millis(ticks * 10)
    }

    #[test]
    fn each_core_is_read() {
        let times = CoreTimes::parse(STAT, 100);
        let both = times.of_since(
            &[CpuId(0), CpuId(2)],
            &CoreTimes::parse("cpu0 10 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 3\n", 100),
        );
        let expected = CoreTime {
            busy: milliseconds(60 + 1 + 20 + 2 + 3 - 10 + 40 + 30 + 2),
            stolen: milliseconds(4),
            idle: milliseconds(910),
        };
        assert_eq!(both, Some(expected));
        assert_eq!(times.of_since(&[CpuId(1)], &times), None, "it is turned off");
    }

    #[test]
    fn lines_that_are_damaged_are_passed_over() {
        assert_eq!(CoreTimes::parse("cpu0 1 2 3\ncpux\ncpu9 a b\n", 100), CoreTimes::default());
    }

    #[test]
    fn this_host_has_its_cores() {
        let before = CoreTimes::now();
        let cores: Vec<CpuId> = before.0.keys().copied().collect();
        let since = CoreTimes::now().of_since(&cores, &before).unwrap();
        assert!(!cores.is_empty());
        assert!(since.busy < Duration::from_secs(10 * cores.len() as u64), "{since:?}");
    }
}
