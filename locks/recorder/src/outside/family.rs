//! The program's processes: its own, and all that descend from it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::thread;
use std::time::Duration;

use kilocore_lock_profile::{Unrecorded, WhyUnrecorded};

use super::image::{Recorder, Verdict};
use kilocore_linux::{self as process, FileId};

/// How many times an image is looked at before it counts as one that has no recorder for an unknown
/// reason. The library is loaded a moment after the program.
const PATIENCE: u32 = 20;

/// A process of the program.
#[derive(Debug)]
struct Member {
    started: u64,
    image: Option<FileId>,
    executable: String,
    verdict: Verdict,
    /// How often its image was looked at.
    looks: u32,
    /// Whether it has left this process's file system.
    elsewhere: bool,
}

/// What a look at a process shows.
#[derive(Debug)]
struct Look {
    image: Option<FileId>,
    /// The path of what it executes, if that is another file than before.
    executes_anew: Option<String>,
    /// Whether the recorder is in it; `None` if that was known already.
    verdict: Option<Verdict>,
}

impl Look {
    /// Looks at what a process executes. It may execute another program meanwhile, and then nothing of
    /// what was seen is believed (`None`): the path could be of one program, and what keeps the recorder
    /// out of the other. A process of which everything is known costs one system call.
    fn at(pid: u32, member: &Member, recorder: &Recorder) -> Option<Self> {
        let path = format!("/proc/{pid}/exe");
        let file = FileId::of(&path);
        let image = file.as_ref().ok().copied();
        let same = image == member.image && member.verdict != Verdict::Nothing;
        // A program may execute itself again, with another environment.
        let next = member.looks.saturating_add(1);
        if same && member.verdict != Verdict::Open && !next.is_power_of_two() {
            return Some(Self { image, executes_anew: None, verdict: None });
        }
        let before = process::image(pid);
        let executes_anew = (!same).then(|| {
            process::executable(pid)
                .map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
        });
        let verdict = Some(recorder.examine(pid, &file, same));
        // What is about to execute has no image, and that of before and that of after could be two
        // such moments. Where this user is not told, the file is not told either.
        let seen = before.is_some() || file.is_err();
        let steady = seen && process::image(pid) == before && FileId::of(&path).ok() == image;
        steady.then_some(Self { image, executes_anew, verdict })
    }
}

/// The processes of the program that is watched, and what is known of each.
#[derive(Debug)]
pub(crate) struct Family {
    recorder: Recorder,
    /// Whether descendants that lose their parents become this process's children.
    adopts: bool,
    /// When the program was started, in ticks since the system was.
    began: u64,
    members: BTreeMap<u32, Member>,
    /// The system's newest process when processes were last looked for.
    newest: Option<u32>,
    /// Processes that do not belong to the program.
    others: HashSet<u32>,
    unrecorded: BTreeMap<(String, WhyUnrecorded), u32>,
    /// Processes with the recorder that left this process's file system.
    elsewhere: BTreeMap<u32, String>,
    /// What processes executed, including processes that are gone.
    executables: BTreeMap<u32, String>,
}

impl Family {
    /// Returns the family of a program that has just been started.
    pub(crate) fn of(program: u32, recorder: Recorder, adopts: bool) -> Self {
        let mut family = Self {
            recorder,
            adopts,
            began: 0,
            members: BTreeMap::new(),
            newest: None,
            others: HashSet::from([std::process::id()]),
            unrecorded: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            executables: BTreeMap::new(),
        };
        if let Some(status) = process::status(program) {
            family.began = status.started;
            family.admit(program, status.started);
            family.look_at(program);
        }
        family
    }

    /// Whether anything is known of the program's images.
    pub(crate) fn is_known(&self) -> bool {
        !self.executables.is_empty()
    }

    /// The processes that are there.
    pub(crate) fn members(&self) -> impl Iterator<Item = u32> {
        self.members.keys().copied()
    }

    /// Finds new processes, forgets those that have ended, and looks at what the rest execute.
    pub(crate) fn look(&mut self) {
        let newest = process::newest();
        if newest.is_none() || newest != self.newest {
            self.newest = newest;
            self.find();
        }
        let members: Vec<u32> = self.members().collect();
        for pid in members {
            self.look_at(pid);
        }
    }

    /// Finds new processes, and forgets those that have ended.
    fn find(&mut self) {
        let there: BTreeSet<u32> = process::all().into_iter().collect();
        self.members.retain(|pid, _| there.contains(pid));
        self.others.retain(|pid| there.contains(pid));
        let mut new: BTreeMap<u32, process::Status> = there
            .into_iter()
            .filter(|pid| !self.members.contains_key(pid) && !self.others.contains(pid))
            .filter_map(|pid| Some((pid, process::status(pid)?)))
            .filter(|(_, status)| status.state != b'Z')
            .collect();
        // Several new processes may descend from each other. Each belongs to the program if its
        // parent does.
        loop {
            let ours: Vec<u32> = new
                .iter()
                .filter(|(_, status)| self.members.contains_key(&status.parent))
                .map(|(pid, _)| *pid)
                .collect();
            if ours.is_empty() {
                break;
            }
            for pid in ours {
                if let Some(status) = new.remove(&pid) {
                    self.admit(pid, status.started);
                }
            }
        }
        for (pid, status) in new {
            if self.is_lost_child(pid, &status) {
                self.admit(pid, status.started);
            } else {
                self.others.insert(pid);
            }
        }
    }

    /// Whether a process descends from the program, although its parent today does not.
    fn is_lost_child(&self, pid: u32, status: &process::Status) -> bool {
        status.started >= self.began
            && if self.adopts {
                status.parent == std::process::id()
            } else {
                self.recorder.is_asked(pid) == Some(true)
            }
    }

    fn admit(&mut self, pid: u32, started: u64) {
        let member = Member {
            started,
            image: None,
            executable: String::new(),
            verdict: Verdict::Nothing,
            looks: 0,
            elsewhere: false,
        };
        self.members.insert(pid, member);
    }

    /// Looks at what a process executes, unless it keeps executing other programs.
    fn look_at(&mut self, pid: u32) {
        const TRIES: u32 = 3;
        let Some(member) = self.members.get(&pid) else { return };
        let look = (0..TRIES).find_map(|_| Look::at(pid, member, &self.recorder));
        if let Some(look) = look {
            self.take(pid, look);
        }
    }

    /// Takes over what a look showed.
    fn take(&mut self, pid: u32, look: Look) {
        let Some(member) = self.members.get_mut(&pid) else { return };
        if let Some(executable) = look.executes_anew {
            member.image = look.image;
            member.looks = 0;
            member.executable = executable;
        }
        member.looks = member.looks.saturating_add(1);
        match look.verdict {
            Some(Verdict::Nothing) => return,
            Some(verdict) => {
                member.verdict = verdict;
                self.executables.insert(pid, member.executable.clone());
            }
            None => {}
        }
        if member.verdict == Verdict::Loaded && !member.elsewhere {
            member.elsewhere = self.recorder.sees_other_root(pid);
            if member.elsewhere {
                self.elsewhere.insert(pid, member.executable.clone());
            }
        }
        let why = match member.verdict {
            Verdict::Without(why) => Some(why),
            Verdict::Open if member.looks == PATIENCE => Some(WhyUnrecorded::Unknown),
            _ => None,
        };
        if let Some(why) = why {
            self.unrecorded.entry((member.executable.clone(), why)).or_insert(pid);
        }
    }

    /// Returns the processes that go on after the program's end. Processes that are about to end,
    /// because of a signal or the loss of their parent, are left out.
    fn still_running(&self) -> Vec<(u32, String)> {
        const TRIES: u32 = 20;
        let mut running: Vec<(u32, &Member)> =
            self.members.iter().map(|(pid, member)| (*pid, member)).collect();
        for _ in 0..TRIES {
            running.retain(|(pid, member)| {
                process::status(*pid)
                    .is_some_and(|now| now.started == member.started && now.state != b'Z')
            });
            if running.is_empty() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        running.into_iter().map(|(pid, member)| (pid, member.executable.clone())).collect()
    }

    /// Returns what left no recording, after the program's end. `recorded` says which processes
    /// left one.
    pub(crate) fn unrecorded(mut self, recorded: impl Fn(u32) -> bool) -> FamilyReport {
        self.newest = None;
        self.look();
        let running = self.still_running();
        for (pid, executable) in running {
            let key = (executable, WhyUnrecorded::StillRunning);
            self.unrecorded.entry(key).or_insert(pid);
        }
        for (pid, executable) in self.elsewhere {
            if !recorded(pid) {
                let key = (executable, WhyUnrecorded::OtherRoot);
                self.unrecorded.entry(key).or_insert(pid);
            }
        }
        // A process may be recorded even if it keeps others from looking at it.
        let doubtful = [WhyUnrecorded::OtherRights, WhyUnrecorded::Unknown];
        self.unrecorded.retain(|(_, why), pid| !doubtful.contains(why) || !recorded(*pid));
        let unrecorded = self.unrecorded.into_iter();
        let unrecorded =
            unrecorded.map(|((executable, why), pid)| Unrecorded { pid, executable, why });
        FamilyReport { unrecorded: unrecorded.collect(), executables: self.executables }
    }
}

/// What was seen of a family.
#[derive(Debug, Default)]
pub(crate) struct FamilyReport {
    pub(crate) unrecorded: Vec<Unrecorded>,
    /// What processes executed last.
    pub(crate) executables: BTreeMap<u32, String>,
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::time::Instant;

    use super::*;

    /// Executes the program that it is given, by the name of the one that it is.
    const AND_BACK: &str = r#"
#include <unistd.h>
int main(int argc, char **argv) { return execl(argv[1], argv[1], argv[0], (char *)0); }
"#;

    /// Ended and waited for with the test, whatever its outcome.
    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn of_two_programs_that_execute_each_other_only_the_static_one_is_said_to_be_static() {
        let _children = crate::CHILDREN.lock();
        let folder = tempfile::tempdir().expect("a folder of the test's own");
        let source = folder.path().join("and-back.c");
        std::fs::write(&source, AND_BACK).expect("a folder of the test's own");
        let [dynamic, fixed] = [("dynamic", "-O1"), ("static", "-static")].map(|(name, option)| {
            let program = folder.path().join(name);
            let made = Command::new("cc").arg(option).arg("-o").args([&program, &source]).status();
            assert!(made.expect("a compiler is needed for this test").success());
            program
        });
        let process = Ended(Command::new(&dynamic).arg(&fixed).spawn().expect("it was compiled"));
        let recorder = Recorder {
            library: "/no/such/library.so".into(),
            asks: "KILOCORE_MEASURE_DIR=/nowhere".into(),
            own: FileId::of("/proc/self/exe").ok(),
            root: FileId::of("/").ok(),
        };
        let mut family = Family::of(process.0.id(), recorder, false);
        let is = |(path, why): &(String, WhyUnrecorded)| {
            *why == WhyUnrecorded::Static && *path == fixed.to_string_lossy()
        };
        // Where others have the cores, the programs may not run for as long as many looks take.
        let end = Instant::now() + Duration::from_secs(60);
        let mut looks = 0;
        while looks < 40_000 || (Instant::now() < end && !family.unrecorded.keys().any(is)) {
            family.look_at(process.0.id());
            looks += 1;
        }
        assert!(family.unrecorded.keys().any(is), "{:?}", family.unrecorded);
        let wrong: Vec<_> = family
            .unrecorded
            .keys()
            .filter(|key| key.1 == WhyUnrecorded::Static && !is(key))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
