//! What is called before and after a call of the system.

use std::ffi::c_uint;

use kilocore_platform::Cycles;
use kilocore_qemu_plugin::api::PluginId;
use kilocore_sim::Guest;

use crate::call::{Call, Change, ERESTARTSYS, reads_or_writes};
use crate::counts::{CALLS, OUTSIDE, PROCESSES};
use crate::guest::{self, Thread};
use crate::outside::Waits;
use crate::seen::Clock;
use crate::sent::sent;
use crate::timers::Sleeps;
use crate::{
    binding, calls, clock, depends, dying, files, futexes, internal, interrupts, memory, outside,
    paths, polls, repeatable, repeats, report, samples, seen, signals, sleeping, stops, threads,
    timers, transfers, waits, watchdog, watched, window,
};

/// What entering the kernel and leaving it takes, and the least that it does. Estimated: 60 to 150 ns on machines
/// of the last fifteen years.
const CALL: Cycles = Cycles(300);
/// What a call takes that Linux answers without entering the kernel. Estimated: 20 to 30 ns, most of it to read the
/// counter.
const ANSWERED_OUTSIDE: Cycles = Cycles(70);
/// What changing a mapping takes besides that. Estimated.
const MAPPING: Cycles = Cycles(1_500);
/// Bytes that the kernel copies in a cycle.
const COPIED: u64 = 8;

/// The program goes into the system.
pub(crate) extern "C" fn enter(
    _: PluginId,
    vcpu: c_uint,
    call: i64,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    _: u64,
    _: u64,
) {
    dying::in_call(true);
    dying::stay_if_in_call();
    let Some(thread) = threads::this_or_born(vcpu) else { return };
    stops::in_call(&thread, true);
    repeats::stored();
    let arguments = [a, b, c, d, e, f];
    depends::program_is_loaded();
    // Before it is changed for the moment of the call.
    let path = if depends::is_for_once() { None } else { paths::named(call, arguments) };
    let change = if seen::is_answered_outside(call, a) {
        guest::simulate(&thread, |guest| guest.compute(ANSWERED_OUTSIDE));
        Change::None
    } else {
        CALLS.more();
        let at = calls::system();
        samples::take_if_due(at.0);
        guest::simulate(&thread, |guest| {
            guest.is_at(at);
            guest.in_system(CALL);
            guest.catch_up();
        });
        begin(&thread, call, arguments)
    };
    if let Change::Outside(waits) = change {
        outside::goes(waits);
        if waits == Waits::AtOwn {
            waits::all_look(&thread);
        }
        OUTSIDE.more();
        depends::also("it waits for something that is not simulated");
        thread.guest.compute(clock::take_passed());
        dying::runs(0);
        thread.guest.go_outside();
    } else if guest::runs(vcpu) {
        let starts = starts_a_process(call, a);
        if starts {
            guest::simulate(&thread, Guest::hold_to_copy);
            stops::happens_next(&thread);
        }
        watchdog::in_call(true);
        watchdog::starts_process(starts);
    }
    dying::stay_if_in_call();
    // A thread that ends makes no more calls.
    *thread.call.borrow_mut() = Call { arguments, change, path, clock: clock::keep() };
}

fn begin(thread: &Thread, call: i64, arguments: [u64; 6]) -> Change {
    let [a, b, c, d, ..] = arguments;
    let before = thread.last_call.replace(call);
    if interrupts::comes_again(thread, before, call, arguments) {
        return match interrupts::interrupt_next(thread) {
            true => Change::Interrupted,
            false => Change::Outside(Waits::AtOwn),
        };
    }
    match call {
        libc::SYS_futex => return futexes::enter(thread, arguments),
        libc::SYS_nanosleep => return sleeping::enter(thread, a, None),
        libc::SYS_clock_nanosleep => {
            let absolute = b & libc::TIMER_ABSTIME as u64 != 0;
            return sleeping::enter(thread, c, Clock::of(a).filter(|_| absolute));
        }
        libc::SYS_alarm => timers::alarm(thread, a),
        libc::SYS_setitimer if timers::is_simulated(a) => {
            let (change, left) = timers::set_timer(thread, b);
            thread.left.set(left);
            return change;
        }
        libc::SYS_pause if timers::is_set() => {
            timers::sleeps(thread, Sleeps::Waits);
            guest::simulate(thread, Guest::sleep_until_interrupted);
            timers::sleeps(thread, Sleeps::Not);
            return Change::None;
        }
        libc::SYS_sched_yield => guest::simulate(thread, Guest::yield_now),
        libc::SYS_clone if threads::is_thread(a) => window::thread_is_made(),
        libc::SYS_kill
        | libc::SYS_tkill
        | libc::SYS_tgkill
        | libc::SYS_rt_sigqueueinfo
        | libc::SYS_rt_tgsigqueueinfo => {
            if let Some(sent) = sent(call, arguments) {
                window::sends_signal(sent);
                signals::sends(thread, sent);
            }
        }
        libc::SYS_exit => threads::end(),
        libc::SYS_exit_group => threads::exit(a),
        libc::SYS_execve | libc::SYS_execveat => {
            report::say(
                "the program had itself replaced by another one, which QEMU does not execute; name that one, if it \
                 was a script that started it",
            );
        }
        libc::SYS_set_tid_address => thread.clears.set(a),
        libc::SYS_munmap => change_mapping(thread, a, b),
        libc::SYS_madvise if c as i32 == libc::MADV_DONTNEED => change_mapping(thread, a, b),
        libc::SYS_mremap => change_mapping(thread, a, b),
        libc::SYS_mmap if d & libc::MAP_FIXED as u64 != 0 => change_mapping(thread, a, b),
        libc::SYS_mmap | libc::SYS_mprotect | libc::SYS_brk => change_mapping(thread, 0, 0),
        libc::SYS_sched_setaffinity => return binding::set(thread, arguments),
        libc::SYS_open => return files::opening(a),
        libc::SYS_openat => return files::opening(b),
        _ => {}
    }
    let change =
        polls::enter(thread, call, arguments).or_else(|| transfers::enter(thread, call, arguments));
    change.unwrap_or_else(|| outside::waits(call, arguments).map_or(Change::None, Change::Outside))
}

/// The program changes its address space, and gives back so many bytes of it.
fn change_mapping(thread: &Thread, start: u64, bytes: u64) {
    guest::simulate(thread, |guest| guest.change_address_space(MAPPING, start, bytes));
}

/// Whether a call with this first argument starts another process.
fn starts_a_process(call: i64, first: u64) -> bool {
    match call {
        libc::SYS_clone => !threads::is_thread(first),
        // QEMU refuses it, but the C library tries it for each thread.
        libc::SYS_clone3 => {
            !memory::read_u64s(first).is_some_and(|[flags]| threads::is_thread(flags))
        }
        libc::SYS_fork | libc::SYS_vfork => true,
        _ => false,
    }
}

/// Whether a call copies as many bytes as it returns.
fn copies(call: i64) -> bool {
    let at_a_place = [libc::SYS_pread64, libc::SYS_preadv, libc::SYS_pwrite64, libc::SYS_pwritev]
        .contains(&call);
    at_a_place || reads_or_writes(call)
}

/// Whether a call maps a file.
fn is_of_file(call: i64, [_, _, _, flags, file, _]: [u64; 6]) -> bool {
    call == libc::SYS_mmap && flags & libc::MAP_ANONYMOUS as u64 == 0 && file as i32 >= 0
}

/// The program comes back.
pub(crate) extern "C" fn leave(_: PluginId, vcpu: c_uint, call: i64, result: i64) {
    dying::stay_if_in_call();
    if let Some(thread) = threads::this_thread() {
        returned(&thread, vcpu, call, result);
        stops::in_call(&thread, false);
    }
    dying::in_call(false);
}

fn returned(thread: &Thread, vcpu: c_uint, call: i64, result: i64) {
    let Call { arguments, change, path, clock } = thread.call.take();
    if !matches!(change, Change::Outside(_)) {
        watchdog::in_call(false);
        watchdog::starts_process(false);
    }
    if starts_a_process(call, arguments[0]) {
        if stops::is_over() {
            // What those have executed since then that had to be stopped does not count.
            crate::clock::put_back(clock);
        }
        guest::simulate(thread, Guest::leave_copied);
    }
    // What it finds in a described file follows from the machine.
    let is_described = matches!(change, Change::File { .. }) && result >= 0;
    match change {
        Change::None => {}
        Change::Interrupted => interrupts::is_over(),
        Change::Word { address, was } => memory::store(address, was),
        Change::Bytes { address, was } => {
            memory::write_u64s(address, was);
        }
        Change::File { content, path } => {
            if let Some((address, was)) = path {
                memory::write_u64s(address, was);
            }
            if guest::runs(vcpu) {
                files::opened(&content, result);
            }
        }
        Change::Outside(waits) => {
            outside::returns(waits);
            // Whoever runs has to look who came back.
            crate::clock::interrupt();
            thread.guest.come_back();
            guest::goes_on(thread);
        }
    }
    if starts_a_process(call, arguments[0]) && result > 0 {
        PROCESSES.more();
        internal::process_starts();
        waits::all_look(thread);
    }
    if !is_described {
        repeatable::returned(call, arguments, path.as_deref(), result);
    }
    if guest::runs(vcpu) && copies(call) && result > 0 {
        guest::simulate(thread, |guest| guest.in_system(Cycles(result as u64 / COPIED)));
    }
    // One that has read or written nothing, for some reason of its own, leaves that to others.
    let changes_nothing = [-i64::from(libc::EAGAIN), ERESTARTSYS].contains(&result);
    if guest::runs(vcpu) && !changes_nothing {
        waits::has_called(thread, call, arguments);
    }
    if !guest::runs(vcpu) || (-4095..0).contains(&result) {
        return;
    }
    match call {
        libc::SYS_clone if threads::is_thread(arguments[0]) => {
            threads::bear(thread, arguments, clock, result as u64);
        }
        libc::SYS_rt_sigaction => signals::action(arguments[0], arguments[1]),
        libc::SYS_rt_sigprocmask => timers::blocks(thread, arguments),
        libc::SYS_alarm => timers::alarm_is_set(),
        libc::SYS_setitimer if timers::is_simulated(arguments[0]) => {
            memory::write_u64s(arguments[2], thread.left.get());
        }
        libc::SYS_getitimer if timers::is_simulated(arguments[0]) => {
            memory::write_u64s(arguments[1], timers::left(thread));
        }
        libc::SYS_mmap | libc::SYS_mremap => {
            watched::mapped();
            if is_of_file(call, arguments) {
                guest::simulate(thread, |guest| guest.map_file(result as u64, arguments[1]));
            }
        }
        _ => seen::correct(thread, call, arguments, result),
    }
}
