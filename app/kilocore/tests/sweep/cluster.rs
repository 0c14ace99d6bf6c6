//! A cluster of Slurm's on this machine: a controller and two nodes, in one folder, for one test.
//!
//! It needs Debian's `slurm-wlm` and `munge`. All daemons run as this user and end with the test.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::measured::wait_until;

/// A daemon, which is killed when it is dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) struct Cluster {
    folder: TempDir,
    _munge: Daemon,
    controller: Option<Daemon>,
    nodes: [Option<Daemon>; 2],
}

impl Cluster {
    /// A cluster whose nodes are idle.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("its path");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
        let mut key = OpenOptions::new();
        let mut key =
            key.write(true).create_new(true).mode(0o600).open(path.join("key")).expect("a key");
        let mut random = File::open("/dev/urandom").expect("random bytes").take(1024);
        std::io::copy(&mut random, &mut key).expect("a key is written");
        for name in ["state", "spool-n1", "spool-n2"] {
            fs::create_dir(path.join(name)).expect("a folder");
        }
        fs::write(path.join("slurm.conf"), configuration(&path)).expect("it can be written");
        let munge = daemon(
            &path,
            "munge",
            Command::new("/usr/sbin/munged")
                .args(["--foreground", "--force"])
                .arg(format!("--key-file={}", path.join("key").display()))
                .arg(format!("--socket={}", path.join("munge.socket").display()))
                .arg(format!("--pid-file={}", path.join("munge.pid").display()))
                .arg(format!("--seed-file={}", path.join("munge.seed").display())),
        );
        let mut cluster =
            Self { folder, _munge: munge, controller: None, nodes: [const { None }; 2] };
        wait_until("munge listens", || path.join("munge.socket").exists());
        cluster.start_controller();
        (0..2).for_each(|node| cluster.start_node(node));
        wait_until("both nodes are idle", || {
            cluster.asked(&["sinfo", "--noheader", "--format=%D %t"]) == "2 idle\n"
        });
        cluster
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("its path")
    }

    /// Has a command use this cluster.
    pub(crate) fn serve(&self, command: &mut Command) {
        command.env("SLURM_CONF", self.path().join("slurm.conf"));
        // Daemons of this machine's own cluster are of no concern.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("SBATCH_") || name.starts_with("SQUEUE_") {
                command.env_remove(name);
            }
        }
    }

    pub(crate) fn start_controller(&mut self) {
        let path = self.path();
        let mut command = Command::new("/usr/sbin/slurmctld");
        command.args(["-D", "-f"]).arg(path.join("slurm.conf"));
        self.controller = Some(daemon(&path, "controller", &mut command));
    }

    /// Kills the controller. What it knows is in its files.
    pub(crate) fn kill_controller(&mut self) {
        self.controller = None;
    }

    pub(crate) fn start_node(&mut self, node: usize) {
        let path = self.path();
        let name = format!("n{}", node + 1);
        let mut command = Command::new("/usr/sbin/slurmd");
        command.args(["-D", "-N", &name, "-f"]).arg(path.join("slurm.conf"));
        self.nodes[node] = Some(daemon(&path, &name, &mut command));
    }

    /// Kills a node's daemon. What runs on the node goes on: the network might have failed.
    pub(crate) fn kill_node(&mut self, node: usize) {
        self.nodes[node] = None;
    }

    /// What a program of Slurm's prints, or nothing if it fails.
    pub(crate) fn asked(&self, words: &[&str]) -> String {
        let Output { stdout, .. } = self.ask(words);
        String::from_utf8_lossy(&stdout).into_owned()
    }

    fn ask(&self, words: &[&str]) -> Output {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        self.serve(&mut command);
        command.output().expect("Debian's slurm-wlm is installed: make packages-soak")
    }

    /// Tasks in a state, as `NUMBER_INDEX`.
    pub(crate) fn tasks(&self, state: &str) -> Vec<String> {
        let states = format!("--states={state}");
        let printed = self.asked(&["squeue", "--noheader", "--array", &states, "--format=%F_%K"]);
        printed.lines().map(str::to_owned).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What still runs would outlast its node.
        self.asked(&["scancel", "--user", &user()]);
        wait_until("no task runs", || {
            self.controller.is_none() || self.tasks("RUNNING,COMPLETING").is_empty()
        });
    }
}

/// Starts a daemon, what it says in a file.
fn daemon(folder: &Path, name: &str, command: &mut Command) -> Daemon {
    let log = OpenOptions::new().create(true).append(true).open(folder.join(format!("{name}.log")));
    let log = log.expect("its log");
    command.stdin(Stdio::null()).stdout(log.try_clone().expect("its log")).stderr(log);
    let child = command.spawn();
    Daemon(child.unwrap_or_else(|error| panic!("{name}: {error}; make packages-soak installs it")))
}

fn user() -> String {
    let output = Command::new("id").arg("-un").output().expect("id runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn configuration(folder: &Path) -> String {
    let output = Command::new("hostname").arg("-s").output().expect("hostname runs");
    let host = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // All are held until each has one: so they differ.
    let listeners = [(); 3].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port"));
    let [controller, one, two] =
        listeners.each_ref().map(|listener| listener.local_addr().expect("its port").port());
    let (user, folder) = (user(), folder.display());
    format!(
        "ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
MailProg=/bin/true
MaxArraySize=50
ReturnToService=2
SlurmdTimeout=10
KillWait=5
MessageTimeout=5
InactiveLimit=0
MinJobAge=10
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"
    )
}
