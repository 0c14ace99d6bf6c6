//! Runs a program under the plugin and prints what its stream amounts to.
//!
//! `count_references LIBRARY [--trace FILE] [--cpu NAME] [--quantum INSTRUCTIONS] [--nothing] PROGRAM
//! [ARGUMENT…]`. With `--nothing` nobody reads the stream, which shows what the plugin itself costs.

use std::ffi::OsString;
use std::process::exit;

use kilocore_reference_recorder::{Options, Tee, record};
use kilocore_references::Tally;

fn main() {
    let mut words = std::env::args_os().skip(1);
    let mut options = Options::new(words.next().expect("the plugin's file").into());
    let mut command: Vec<OsString> = words.collect();
    let (mut trace, mut nothing) = (None, false);
    loop {
        match command.first().and_then(|word| word.to_str()) {
            Some("--nothing") => nothing = command.drain(..1).next().is_some(),
            Some("--trace") => trace = command.drain(..2).next_back(),
            Some("--quantum") => {
                let word = command.drain(..2).next_back().expect("it has a value");
                options.quantum = word.to_str().and_then(|it| it.parse().ok()).expect("a number");
            }
            Some("--cpu") => {
                let word = command.drain(..2).next_back().expect("it has a value");
                options.cpu = Some(word.into_string().expect("a name"));
            }
            _ => break,
        }
    }
    let recorded = record(&command, &options, |stream| match trace {
        None if nothing => Tally::default().finish(stream.ending(), 0),
        None => {
            let mut tally = Tally::default();
            for event in stream.by_ref() {
                tally.count(&event.expect("the stream is whole"));
            }
            tally.finish(stream.ending(), stream.threads_unrecorded())
        }
        Some(path) => {
            let mut tee = Tee::new(stream, path.as_ref()).expect("it can be written there");
            tee.by_ref().for_each(|event| drop(event.expect("the stream is whole")));
            tee.finish().expect("there is room")
        }
    });
    match recorded {
        Ok(recorded) => {
            eprintln!("{:?}", recorded.made);
            exit(kilocore_process::shell_status(recorded.status));
        }
        Err(error) => {
            eprintln!("{error}");
            exit(2);
        }
    }
}
