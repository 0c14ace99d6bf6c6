//! Orders carried out by cgroups: a thread is moved into a child of the cgroup that it began in.
//!
//! There is one child for each set of cores that was ordered, named `kilocore-sched-PID-N` after the
//! daemon. Its parent is the home of all its threads, so that nothing else has to be remembered of
//! them. A thread that a confined one creates is born in the same child, and membership tells it from one
//! that has chosen the same mask for itself.
//!
//! A cpuset narrows the masks that threads have and does not change what they have asked for, so that
//! this is in force again once they are home. Kernels before 6.2 forget what was asked for. There it is
//! set again from the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use kilocore_sched_policy::CpuSet;

use crate::error::NoCpusets;
use crate::group;
use crate::hierarchy::{Mount, Version};
use crate::host::Host;
use crate::journal::Journal;
use crate::ledger::Fact;

/// The cgroups of a daemon.
#[derive(Debug)]
pub(crate) struct Cpusets {
    mount: Mount,
    next: u32,
    /// By home and cores, or why there can be none.
    groups: BTreeMap<(PathBuf, String), Result<PathBuf, i32>>,
    ours: BTreeSet<PathBuf>,
    forgets: bool,
}

impl Cpusets {
    /// The hierarchy in which these processes can be confined; without any, this one and what it starts.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn find(pids: &[u32], host: &mut dyn Host) -> Result<Self, NoCpusets> {
        let mount = Mount::find(host).ok_or(NoCpusets::NoHierarchy)?;
        let cpusets = Self {
            mount,
            next: 1,
            groups: BTreeMap::new(),
            ours: BTreeSet::new(),
            forgets: group::forgets_masks(host),
        };
        let own = [std::process::id()];
        for &pid in if pids.is_empty() { &own } else { pids } {
            // One that is not there is told of by others.
            if host.stat(pid).is_none() {
                continue;
            }
            let home = cpusets.home(host, (pid, pid));
            let home = home.ok_or(NoCpusets::Hidden(pid, cpusets.mount.point.clone()))?;
            for path in [home.join(cpusets.mount.version.threads()), home] {
                host.may_write(&path).map_err(|error| NoCpusets::NotWritable(path, error))?;
            }
        }
        Ok(cpusets)
    }

    /// The hierarchy in words.
    pub(crate) fn describe(&self) -> String {
        format!("cgroup v{} at {}", self.mount.version.number(), self.mount.point.display())
    }

    /// Makes a cgroup for each process, to see now whether that can be done.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn begin(
        &mut self,
        pids: &[u32],
        host: &mut dyn Host,
        journal: &mut Journal,
    ) -> Result<io::Result<()>, NoCpusets> {
        for &pid in pids {
            let Some(home) = self.home(host, (pid, pid)) else { continue };
            let Mount { version, point, .. } = &self.mount;
            let Some(cores) = group::cores(host, *version, &home, point) else { continue };
            match self.group(&home, &cores, host, journal) {
                Ok(group) => group.map_err(|code| self.refused(home, code))?,
                Err(error) => return Ok(Err(error)),
            };
        }
        Ok(Ok(()))
    }

    fn refused(&self, home: PathBuf, code: i32) -> NoCpusets {
        let error = io::Error::from_raw_os_error(code);
        match self.mount.version {
            Version::Two if matches!(code, libc::EBUSY | libc::EOPNOTSUPP) => {
                NoCpusets::NotThreaded(home, error)
            }
            _ => NoCpusets::Refused(home, error),
        }
    }

    /// The cgroup in which a thread was before it was confined.
    fn home(&self, host: &mut dyn Host, of: (u32, u32)) -> Option<PathBuf> {
        let folder = self.mount.folder(host, of)?;
        let home = if self.ours.contains(&folder) { folder.parent()?.to_owned() } else { folder };
        Some(home)
    }

    /// Whether a thread is in one of our cgroups.
    pub(crate) fn hold(&self, host: &mut dyn Host, of: (u32, u32)) -> bool {
        !self.ours.is_empty()
            && self.mount.folder(host, of).is_some_and(|folder| self.ours.contains(&folder))
    }

    /// Confines a thread to those of these cores that its home has, and returns them.
    ///
    /// # Errors
    /// The outer ones are those of the journal, the inner ones the system's: `ESRCH` if the thread is gone.
    pub(crate) fn confine(
        &mut self,
        of: (u32, u32),
        wanted: &CpuSet,
        host: &mut dyn Host,
        journal: &mut Journal,
    ) -> io::Result<io::Result<CpuSet>> {
        let refused = |code| Ok(Err(io::Error::from_raw_os_error(code)));
        let Some(home) = self.home(host, of) else {
            return refused(if host.affinity(of.1).is_ok() { libc::EPERM } else { libc::ESRCH });
        };
        let version = self.mount.version;
        let cores = group::cores(host, version, &home, &self.mount.point);
        let cpus = cores.map_or(wanted.clone(), |cores| cores.intersection(wanted));
        if cpus.is_empty() {
            return refused(libc::EINVAL);
        }
        Ok(match self.group(&home, &cpus, host, journal)? {
            Ok(group) => group::take_in(host, version, &group, of.1).map(|()| cpus),
            Err(code) => Err(io::Error::from_raw_os_error(code)),
        })
    }

    /// Moves a thread home, if it is ours, and gives it this mask, if the kernel has forgotten its own.
    ///
    /// # Errors
    /// `ESRCH` if it is gone.
    pub(crate) fn release(
        &mut self,
        of: (u32, u32),
        allowed: &CpuSet,
        host: &mut dyn Host,
    ) -> io::Result<()> {
        let folder = self.mount.folder(host, of).filter(|folder| self.ours.contains(folder));
        let Some(home) = folder.as_deref().and_then(Path::parent) else { return Ok(()) };
        group::take_in(host, self.mount.version, home, of.1)?;
        if self.forgets && host.affinity(of.1)? != *allowed {
            host.set_affinity(of.1, allowed)?;
        }
        Ok(())
    }

    /// The cgroup below this home with these cores, or the number of the error why there is none.
    fn group(
        &mut self,
        home: &Path,
        cpus: &CpuSet,
        host: &mut dyn Host,
        journal: &mut Journal,
    ) -> io::Result<Result<PathBuf, i32>> {
        let key = (home.to_owned(), cpus.to_string());
        if let Some(known) = self.groups.get(&key) {
            return Ok(known.clone());
        }
        let made = self.make(home, cpus, host, journal)?;
        let made = made.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO));
        self.ours.extend(made.iter().cloned());
        self.groups.insert(key, made.clone());
        Ok(made)
    }

    fn make(
        &mut self,
        home: &Path,
        cpus: &CpuSet,
        host: &mut dyn Host,
        journal: &mut Journal,
    ) -> io::Result<io::Result<PathBuf>> {
        let Mount { version, point, .. } = self.mount.clone();
        if version == Version::Two {
            let Some(lacking) = group::without_controller(host, home, &point) else {
                return Ok(Err(io::Error::from_raw_os_error(libc::ENOENT)));
            };
            for folder in lacking {
                journal.write(vec![Fact::Enabled(folder.clone())])?;
                if let Err(error) = group::give_controller(host, &folder) {
                    return Ok(Err(error));
                }
            }
        }
        let daemon = journal.ledger().daemon.id;
        let path = loop {
            let path = home.join(format!("kilocore-sched-{daemon}-{}", self.next));
            self.next += 1;
            // One may be left of a daemon with the same number whose journal was lost.
            if host.read_file(&path.join(version.threads())).is_err() {
                break path;
            }
        };
        journal.write(vec![Fact::Group(version, path.clone())])?;
        Ok(group::make(host, version, &path, cpus).map(|()| path))
    }
}
