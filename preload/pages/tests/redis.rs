//! A redis server under load, with values of many sizes, and saved by a forked child.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{LIMIT, Pool, Running, scratch, succeed, under};

/// Runs a server, works with it, and returns a digest of what it keeps.
pub(crate) fn digest(pool: Pool) -> String {
    let folder = scratch(&format!("redis-{pool:?}"));
    let socket = folder.join("socket");
    let server = || {
        let mut command = under(Command::new("redis-server"), pool);
        command
            .args(["--port", "0", "--save", "", "--enable-debug-command", "yes", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(&folder)
            .stdout(Stdio::null());
        let server = Running::start(command);
        let end = Instant::now() + LIMIT;
        while ask(&socket, &["PING"]).as_deref() != Some("PONG") {
            assert!(Instant::now() < end, "the server does not answer");
            std::thread::sleep(Duration::from_millis(10));
        }
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", server.child.id()));
        let loaded = maps.expect("it runs").contains("libkilocore_pages.so");
        assert_eq!(loaded, pool != Pool::Without);
        server
    };
    let mut first = server();
    load(&socket);
    let before = answer(&socket, &["DEBUG", "DIGEST"]);
    assert_eq!(before.len(), 40, "{before}");
    // Another client writes meanwhile, and a forked child saves all.
    let mut bench = Command::new("redis-benchmark");
    bench
        .args(["-q", "-n", "3000", "-d", "150000", "-r", "50", "-t", "set,get", "-s"])
        .arg(&socket);
    assert!(answer(&socket, &["BGSAVE"]).starts_with("Background saving"));
    succeed(bench);
    // Keys of the benchmark hold what it writes, at random.
    answer(&socket, &["EVAL", DELETE, "0"]);
    assert_eq!(answer(&socket, &["DEBUG", "DIGEST"]), before);
    let end = Instant::now() + LIMIT;
    while !answer(&socket, &["INFO", "persistence"]).contains("rdb_bgsave_in_progress:0") {
        assert!(Instant::now() < end, "the child does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(answer(&socket, &["INFO", "persistence"]).contains("rdb_last_bgsave_status:ok"));
    ask(&socket, &["SHUTDOWN", "SAVE"]);
    assert!(first.wait(LIMIT).success());
    // What was saved is the same.
    let mut second = server();
    assert_eq!(answer(&socket, &["DEBUG", "DIGEST"]), before);
    ask(&socket, &["SHUTDOWN", "NOSAVE"]);
    assert!(second.wait(LIMIT).success());
    before
}

const DELETE: &str = "for _, key in ipairs(redis.call('KEYS', 'key:*')) do redis.call('DEL', key) end \
                      return 'done'";

/// Returns what the server answers, if it does.
fn ask(socket: &Path, words: &[&str]) -> Option<String> {
    let mut client = Command::new("redis-cli");
    let output = client.arg("-s").arg(socket).args(words).output().expect("redis-cli starts");
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

fn answer(socket: &Path, words: &[&str]) -> String {
    ask(socket, words).unwrap_or_else(|| panic!("{words:?} is not answered"))
}

/// Sets and changes values of up to a megabyte.
fn load(socket: &Path) {
    let mut client = Command::new("redis-cli")
        .arg("-s")
        .arg(socket)
        .arg("--pipe")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-cli starts");
    let mut to = client.stdin.take().expect("it was asked for");
    for round in 0..400_usize {
        let length = 1 << (round % 21);
        let value = vec![b'a' + (round % 26) as u8; length + round];
        let key = round % 37;
        write!(to, "*3\r\n$3\r\nSET\r\n${}\r\nv{key}\r\n", 1 + key.to_string().len())
            .expect("a pipe");
        write!(to, "${}\r\n", value.len()).and_then(|()| to.write_all(&value)).expect("a pipe");
        write!(to, "\r\n*3\r\n$6\r\nAPPEND\r\n${}\r\na{key}\r\n", 1 + key.to_string().len())
            .expect("a pipe");
        write!(to, "${}\r\n", length.min(5000)).expect("a pipe");
        to.write_all(&value[..length.min(5000)])
            .and_then(|()| to.write_all(b"\r\n"))
            .expect("a pipe");
    }
    drop(to);
    assert!(client.wait().expect("a child").success());
}
