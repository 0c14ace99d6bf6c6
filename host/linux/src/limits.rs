//! What limits the figures of a while from outside: how often a control group holds processes up meanwhile,
//! and the cores that are turned off.

use std::fs;

use crate::quota::{Quota, Throttling};

/// How often the control group of a process has held it up since this was made.
#[derive(Debug, Clone, Default)]
pub struct HeldUp {
    quota: Option<Quota>,
    before: Throttling,
}

impl HeldUp {
    /// Looks at the group of a process.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let quota = Quota::of(pid);
        let before = quota.as_ref().and_then(Quota::throttling).unwrap_or_default();
        Self { quota, before }
    }

    /// The limit, if there is one.
    #[must_use]
    pub fn quota(&self) -> Option<&Quota> {
        self.quota.as_ref()
    }

    /// How often it held the process up until now.
    #[must_use]
    pub fn so_far(&self) -> Throttling {
        let now = self.quota.as_ref().and_then(Quota::throttling).unwrap_or_default();
        now.since(self.before)
    }

    /// What that makes of figures on so many cores, if it changes them ([`Quota::warning`]).
    #[must_use]
    pub fn warning(&self, cores: u32) -> Option<String> {
        self.quota.as_ref()?.warning(cores, self.so_far())
    }
}

/// The cores that are turned off, as the system writes lists: `4-7`.
#[must_use]
pub fn offline_cores() -> Option<String> {
    offline_in("/sys/devices/system/cpu/offline")
}

fn offline_in(file: &str) -> Option<String> {
    let list = fs::read_to_string(file).ok()?;
    let list = list.trim();
    (!list.is_empty()).then(|| list.to_owned())
}

/// Says that cores are turned off, if some are.
#[must_use]
pub fn offline_warning() -> Option<String> {
    offline_cores().map(|cores| about_offline(&cores))
}

/// Says that these cores are turned off.
#[must_use]
pub fn about_offline(cores: &str) -> String {
    format!("cores {cores} of this machine were turned off, so that nothing ran there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_that_are_turned_off_are_told_and_an_empty_list_is_none() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let name = file.path().to_str().expect("a plain path");
        for (text, told) in [("4-7\n", Some("4-7")), ("\n", None), ("", None)] {
            fs::write(name, text).expect("there is room");
            assert_eq!(offline_in(name).as_deref(), told);
        }
        assert_eq!(offline_in("/nowhere"), None);
        assert!(about_offline("4-7").starts_with("cores 4-7 "));
    }

    #[test]
    fn what_a_group_did_before_does_not_count() {
        let root = tempfile::tempdir().expect("there is room");
        let tell = |periods: u64, throttled: u64| {
            let text = format!("nr_periods {periods}\nnr_throttled {throttled}\n");
            fs::write(root.path().join("cpu.stat"), text).expect("there is room");
        };
        tell(10, 5);
        let quota = Quota { cores: 0.5, group: root.path().to_owned(), name: "/box".to_owned() };
        let before = quota.throttling().expect("it was just written");
        let held_up = HeldUp { quota: Some(quota), before };
        tell(14, 8);
        assert_eq!(held_up.so_far(), Throttling { periods: 4, throttled: 3, time: None });
        let said = held_up.warning(2).expect("it allows less");
        assert!(said.contains("held it up in 3 of 4 periods"), "{said}");
        assert_eq!(HeldUp::default().warning(2), None);
    }
}
