//! A memcached server with several clients at once. Every answer and the server's statistics are
//! checked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Running, check_library, succeed, under};

const CLIENTS: usize = 4;
/// The number of sets per client. There are as many gets.
const REQUESTS: usize = 400;
/// The number of increments per client, of one counter that all clients share.
const INCREMENTS: usize = 200;

/// The time limit for a server to start or to stop.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs a server under `lock`, works with it and checks it.
pub(crate) fn keeps_its_values(lock: Option<&str>) {
    let port = free_port();
    let mut command = under(Command::new("memcached"), lock);
    command
        .args(["-u", "root", "-l", "127.0.0.1", "-U", "0", "-t", "3", "-m", "64", "-p"])
        .arg(port.to_string())
        .stderr(Stdio::null());
    let mut server = Running::start(command);

    let mut client = Client::new(port);
    check_library(&server, lock);
    assert_eq!(client.ask("set shared 0 0 1\r\n0"), "STORED", "{lock:?}");
    let workers: Vec<_> =
        (0..CLIENTS).map(|number| thread::spawn(move || work(port, number))).collect();
    let won: usize = workers.into_iter().map(|worker| worker.join().expect("answers")).sum();

    // For each shared key, exactly one of the clients that added it has succeeded.
    assert_eq!(won, REQUESTS, "{lock:?}");
    let shared = client.get("shared").expect("it was set").trim().parse::<usize>();
    assert_eq!(shared, Ok(CLIENTS * INCREMENTS), "{lock:?}");
    let statistics = client.statistics();
    // A line looks like `STAT cmd_get 1201`.
    let figure = |name: &str| -> usize {
        let line = statistics.iter().find_map(|line| line.strip_prefix(&format!("STAT {name} ")));
        line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(figure("cmd_set"), 1 + CLIENTS * REQUESTS * 2, "{lock:?}");
    assert_eq!(figure("cmd_get"), 1 + CLIENTS * REQUESTS, "{lock:?}");
    assert_eq!(figure("get_hits"), 1 + CLIENTS * REQUESTS, "{lock:?}");
    assert_eq!(figure("incr_hits"), CLIENTS * INCREMENTS, "{lock:?}");
    assert_eq!(figure("curr_items"), 1 + CLIENTS * REQUESTS + REQUESTS, "{lock:?}");

    // This client was written by others.
    let slap = format!("--servers=127.0.0.1:{port}");
    let mut command = Command::new("memcslap");
    command.args([&slap, "--concurrency=3", "--execute-number=200", "--test=set"]);
    succeed(command, LIMIT);

    // SAFETY: the signal goes to a child of this process that has not been waited for.
    unsafe { libc::kill(server.child.id() as libc::pid_t, libc::SIGTERM) };
    let status = server.wait(LIMIT);
    assert!(status.success(), "{lock:?}: {status}");
}

/// Does the work of one client. Returns how many of the shared keys it was the first to add.
fn work(port: u16, number: usize) -> usize {
    let mut client = Client::new(port);
    let mut won = 0;
    for request in 0..REQUESTS {
        let key = format!("client{number}-{request}");
        let value = format!("{number}:").repeat(1 + request % 300);
        let set = format!("set {key} 0 0 {}\r\n{value}", value.len());
        assert_eq!(client.ask(&set), "STORED");
        assert_eq!(client.get(&key).as_deref(), Some(&*value));
        match &*client.ask(&format!("add common-{request} 0 0 1\r\nx")) {
            "STORED" => won += 1,
            answer => assert_eq!(answer, "NOT_STORED"),
        }
        if request < INCREMENTS {
            let count = client.ask("incr shared 1");
            assert!(count.parse::<usize>().is_ok(), "{count}");
        }
    }
    won
}

/// Returns a port on which nobody listens.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    listener.local_addr().expect("it is bound").port()
}

/// A connection that uses the text protocol.
struct Client(BufReader<TcpStream>);

impl Client {
    fn new(port: u16) -> Self {
        let end = Instant::now() + LIMIT;
        loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(LIMIT)).expect("a time-out can be set");
                    stream.set_nodelay(true).expect("it is a TCP stream");
                    return Self(BufReader::new(stream));
                }
                Err(error) => assert!(Instant::now() < end, "memcached does not start: {error}"),
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a request and returns the first line of the answer.
    fn ask(&mut self, request: &str) -> String {
        self.0.get_mut().write_all(format!("{request}\r\n").as_bytes()).expect("it listens");
        self.line()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("it answers in time");
        line.trim_end().to_owned()
    }

    /// Returns the value of a key, or `None` if there is none. The answer contains the length of
    /// the value, here 4, and ends with `END`. If there is no value, it is `END` alone.
    ///
    /// ```text
    /// VALUE client1-1 0 4
    /// 1:1:
    /// END
    /// ```
    fn get(&mut self, key: &str) -> Option<String> {
        let head = self.ask(&format!("get {key}"));
        if head == "END" {
            return None;
        }
        let length = head.rsplit(' ').next().and_then(|length| length.parse().ok());
        let mut value = vec![0; length.unwrap_or_else(|| panic!("no length in '{head}'"))];
        self.0.read_exact(&mut value).expect("it answers in time");
        assert_eq!((self.line(), self.line()), (String::new(), "END".to_owned()));
        Some(String::from_utf8(value).expect("only text was stored"))
    }

    fn statistics(&mut self) -> Vec<String> {
        let mut lines = vec![self.ask("stats")];
        while lines.last().is_some_and(|line| line != "END") {
            let line = self.line();
            lines.push(line);
        }
        lines
    }
}
