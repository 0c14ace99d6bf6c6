//! Dumps of the program `Planted.java`. `jstack -l` of JDK 17 took those of 11 to 25 from OpenJDK
//! 11.0.13, 17.0.15, 21.0.8 and 25.0.3. That of JDK 8 was written by hand in its format.

use kilocore_lock_watcher::java_threads::Dump;

use crate::planted;

fn dumps() -> [(&'static str, &'static [u8], u32); 5] {
    [
        ("8", include_bytes!("dumps/jdk-8.txt"), 0x1c0e),
        ("11", include_bytes!("dumps/jdk-11.txt"), 0x1b6c),
        ("17", include_bytes!("dumps/jdk-17.txt"), 0x1bca),
        ("21", include_bytes!("dumps/jdk-21.txt"), 7064),
        ("25", include_bytes!("dumps/jdk-25.txt"), 7162),
    ]
}

#[test]
fn each_version_says_where_its_threads_wait() {
    for (version, text, main) in dumps() {
        println!("JDK {version}");
        let dump = Dump::parse(text);
        planted::check(&dump);
        assert_eq!(dump.thread(main).map(|thread| &*thread.name), Some("main"));
        assert!(dump.threads.iter().all(|thread| thread.tid.is_some()), "{dump:#?}");
        let machine = dump.threads.iter().find(|thread| thread.name == "VM Thread").expect("one");
        assert_eq!((machine.state, machine.frames.len()), (None, 0));
        let described = text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"\""));
        assert_eq!(dump.threads.len(), described.count());
    }
}

#[test]
fn a_stack_reads_from_the_inside() {
    let dump = Dump::parse(include_bytes!("dumps/jdk-17.txt"));
    let thread = dump.threads.iter().find(|thread| thread.name == "waits for the bell").unwrap();
    let stack: Vec<String> = thread.stack().collect();
    assert_eq!(stack[0], "java.lang.Object.wait (native)");
    assert_eq!(stack[1], "java.lang.Object.wait (Object.java:338)");
    assert_eq!(stack.last().unwrap(), "java.lang.Thread.run (Thread.java:840)");
}
