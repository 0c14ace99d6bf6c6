//! A MariaDB server, from an empty directory to its shutdown.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Running, check_library, run, scratch, succeed, under_both};

/// The number of tables, and of rows in each.
const TABLES: u32 = 2;
const ROWS: u32 = 300;

/// The time limit of each step. Alone on the machine, a step takes some seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Initializes a database under `lock` and `rwlock`, starts a server, runs `transactions`
/// transactions of sysbench against it, checks the tables, and shuts the server down.
pub(crate) fn serves(lock: Option<&str>, rwlock: Option<&str>, transactions: u32) {
    static SERVERS: AtomicU32 = AtomicU32::new(0);
    let number = SERVERS.fetch_add(1, Ordering::Relaxed);
    let directory = scratch(&format!("mariadb-{number}"));
    let data = format!("--datadir={}", directory.join("data").display());
    let mut install = under_both(Command::new("mariadb-install-db"), lock, rwlock);
    install
        .args(["--no-defaults", "--user=root", "--skip-test-db", "--force", &data])
        .arg("--auth-root-authentication-method=normal");
    succeed(install, LIMIT);

    let socket = Socket::new(number);
    let mut command = under_both(Command::new("/usr/sbin/mariadbd"), lock, rwlock);
    command
        .args(["--no-defaults", "--user=root", "--skip-networking", &data])
        .args(["--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M"])
        .arg(format!("--socket={}", socket.path.display()))
        .arg(format!("--pid-file={}", directory.join("pid").display()))
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(directory.join("server.log")).expect("writable"));
    let mut server = Running::start(command);
    let end = Instant::now() + LIMIT;
    while !run(admin(&socket.path, "ping"), LIMIT).status.success() {
        assert!(
            Instant::now() < end,
            "{lock:?} {rwlock:?}: see {}",
            directory.join("server.log").display()
        );
        std::thread::sleep(Duration::from_millis(50));
    }

    check_library(&server, lock.or(rwlock));
    query(&socket.path, "create database sbtest");
    sysbench(&socket.path, &["prepare"]);
    let events = format!("--events={transactions}");
    let text = sysbench(&socket.path, &["--time=0", &events, "run"]);
    // The line looks like `    transactions:                        200    (96.39 per sec.)`.
    let done = text.lines().find_map(|line| line.trim().strip_prefix("transactions:"));
    let done = done.and_then(|rest| rest.split_whitespace().next());
    assert_eq!(done, Some(transactions.to_string().as_str()), "{lock:?} {rwlock:?}: {text}");

    // Each transaction deletes a row and inserts another one with the same number.
    for table in 1..=TABLES {
        let count = query(&socket.path, &format!("select count(*) from sbtest.sbtest{table}"));
        assert_eq!(count.trim(), ROWS.to_string(), "{lock:?} {rwlock:?}");
        let check = query(&socket.path, &format!("check table sbtest.sbtest{table} extended"));
        assert!(check.trim_end().ends_with("OK"), "{lock:?} {rwlock:?}: {check}");
    }
    succeed(admin(&socket.path, "shutdown"), LIMIT);
    let status = server.wait(LIMIT);
    assert!(status.success(), "{lock:?} {rwlock:?}: {status}");
}

/// A socket, in a directory whose name is short enough for the path of a socket.
struct Socket {
    path: PathBuf,
}

impl Socket {
    fn new(number: u32) -> Self {
        let name = format!("kilocore-{}-{number}.sock", std::process::id());
        let path = std::env::temp_dir().join(name);
        Self { path }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn admin(socket: &Path, order: &str) -> Command {
    let mut command = Command::new("mariadb-admin");
    command.args(["--no-defaults", "--user=root", "--socket"]).arg(socket).arg(order);
    command
}

fn query(socket: &Path, text: &str) -> String {
    let mut command = Command::new("mariadb");
    command
        .args(["--no-defaults", "--user=root", "--skip-column-names", "--batch", "--socket"])
        .arg(socket)
        .args(["--execute", text]);
    succeed(command, LIMIT)
}

fn sysbench(socket: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("sysbench");
    command
        .args(["oltp_read_write", "--db-driver=mysql", "--mysql-user=root", "--threads=4"])
        .arg(format!("--mysql-socket={}", socket.display()))
        .arg(format!("--tables={TABLES}"))
        .arg(format!("--table-size={ROWS}"))
        .args(arguments);
    succeed(command, LIMIT)
}
