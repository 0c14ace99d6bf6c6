//! Where tasks run, and what schedulers see of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kilocore_machine::Description;
use kilocore_platform::{
    Atomic, AtomicInt, CpuId, Cycles, LockLabel, Ordering, Padded, Parked, Platform, Wait,
};
use kilocore_sim::{
    Activity, CoreSet, MachineView, Move, Options, ReadyTask, RunState, Scheduler, Sim, SimError,
    SimU32, SimU64, Simulation, TaskId, TaskView,
};

fn opteron() -> Description {
    kilocore_machine::find("opteron-6344-4s").unwrap()
}

fn machine_with(cores: u32) -> Simulation {
    Simulation::new(&opteron(), Options { cores, seed: 1 }).unwrap()
}

fn set(cores: &[u32]) -> CoreSet {
    cores.iter().copied().map(CpuId).collect()
}

/// Computes for so many microseconds in one step. Nothing that is earlier is left when it is over.
fn compute(time: u64) {
    Sim::work(us(time));
    Sim::catch_up();
}

/// Cycles of a time in microseconds.
fn us(us: u64) -> Cycles {
    Cycles(us * 2600)
}

type Balance = Box<dyn FnMut(&MachineView<'_>) -> Vec<Move>>;
type Pick = Box<dyn FnMut(CpuId, &[ReadyTask]) -> usize>;

/// A scheduler that does what a test says.
struct ScriptedScheduler {
    period: Cycles,
    balance: Balance,
    pick: Pick,
}

impl std::fmt::Debug for ScriptedScheduler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ScriptedScheduler")
    }
}

impl ScriptedScheduler {
    fn balancing(
        period: Cycles,
        balance: impl FnMut(&MachineView<'_>) -> Vec<Move> + 'static,
    ) -> Box<Self> {
        Box::new(Self { period, balance: Box::new(balance), pick: Box::new(|_, _| 0) })
    }
}

impl Scheduler for ScriptedScheduler {
    fn period(&self) -> Cycles {
        self.period
    }

    fn balance(&mut self, view: &MachineView<'_>) -> Vec<Move> {
        (self.balance)(view)
    }

    fn pick(&mut self, core: CpuId, ready: &[ReadyTask], _: &[Option<TaskId>]) -> usize {
        (self.pick)(core, ready)
    }
}

/// Orders a task to `cores` at the first balance, and nothing else.
fn move_once(task: u32, cores: CoreSet) -> impl FnMut(&MachineView<'_>) -> Vec<Move> {
    let mut orders = vec![Move { task: TaskId(task), cores }];
    move |_| std::mem::take(&mut orders)
}

type CoreChanges = Rc<RefCell<Vec<(u64, u32)>>>;

/// Computes in small steps, and notes when it is on another core than before.
fn wander(steps: u64, seen: &CoreChanges) {
    for _ in 0..steps {
        let (at, core) = (Sim::now().0, Sim::cpu().0);
        let known = seen.borrow().last().is_some_and(|&(_, before)| before == core);
        if !known {
            seen.borrow_mut().push((at, core));
        }
        Sim::work(us(1));
        Sim::catch_up();
    }
}

#[test]
fn tasks_start_on_cores_of_their_sets_and_stay_there() {
    let mut simulation = machine_with(8);
    let seen: Vec<CoreChanges> = (0..12).map(|_| CoreChanges::default()).collect();
    for seen in &seen {
        let seen = Rc::clone(seen);
        // Twelve tasks on three cores, beside five that are idle and could steal.
        simulation.spawn_on(&set(&[1, 4, 6]), move || wander(10_000, &seen)).unwrap();
    }
    simulation.run().unwrap();
    let mut used: Vec<u32> = seen
        .iter()
        .flat_map(|seen| seen.borrow().iter().map(|s| s.1).collect::<Vec<_>>())
        .collect();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used, [1, 4, 6]);
}

#[test]
fn idle_cores_steal_only_what_may_run_there() {
    let mut simulation = machine_with(3);
    let (bound, free) = (CoreChanges::default(), CoreChanges::default());
    let (one, other) = (Rc::clone(&bound), Rc::clone(&free));
    // Core 0 has three long tasks, and core 1 ends at once and looks for work.
    simulation.spawn_on(&set(&[0]), || compute(30_000)).unwrap();
    simulation.spawn_on(&set(&[1]), || compute(1)).unwrap();
    simulation.spawn_on(&set(&[2]), || compute(60_000)).unwrap();
    simulation.spawn_on(&set(&[0, 1]), move || wander(10, &other)).unwrap();
    simulation.spawn_on(&set(&[0]), move || wander(10, &one)).unwrap();
    simulation.run().unwrap();
    let cores = |seen: &CoreChanges| seen.borrow().iter().map(|s| s.1).collect::<Vec<_>>();
    assert_eq!(cores(&bound), [0]);
    assert_eq!(cores(&free), [1]);
}

#[test]
fn a_woken_task_does_not_take_an_idle_core_outside_its_set() {
    let mut simulation = machine_with(4);
    let seen = CoreChanges::default();
    let own = Rc::clone(&seen);
    simulation.spawn(|| compute(20_000)).unwrap();
    let sleeper = move || {
        for _ in 0..20 {
            Sim::sleep(us(100));
            own.borrow_mut().push((Sim::now().0, Sim::cpu().0));
        }
    };
    simulation.spawn_on(&set(&[0]), sleeper).unwrap();
    simulation.run().unwrap();
    assert!(seen.borrow().iter().all(|&(_, core)| core == 0), "{seen:?}");
    assert_eq!(seen.borrow().len(), 20);
}

#[test]
fn a_set_without_cores_is_an_error() {
    let mut simulation = machine_with(2);
    let error = simulation.spawn_on(&set(&[2]), || ()).unwrap_err();
    assert!(matches!(error, SimError::NoCore { task: TaskId(0) }), "{error}");
    let mut simulation = machine_with(2);
    simulation.spawn_on(&set(&[0]), || compute(5000)).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(100), move_once(0, set(&[1]))));
    let error = simulation.run().unwrap_err();
    assert!(matches!(error, SimError::NoCore { task: TaskId(0) }), "{error}");
}

#[test]
fn a_running_task_moves_at_once_and_goes_on_where_it_was() {
    let mut simulation = machine_with(4);
    let seen = CoreChanges::default();
    let own = Rc::clone(&seen);
    simulation.spawn(move || wander(1000, &own)).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(300), move_once(0, set(&[3]))));
    let outcome = simulation.run().unwrap();
    let seen = seen.borrow();
    let [(_, 0), (at, 3)] = seen[..] else { panic!("{seen:?}") };
    let switch = (opteron().os.context_switch_ns.value * 2.6) as u64;
    assert!(at >= us(300).0 + switch && at < us(320).0, "{at}");
    let worked = outcome.tasks[0].of(Activity::Working);
    assert_eq!(worked, us(1000));
}

#[test]
fn a_task_in_the_middle_of_a_long_computation_moves_and_computes_the_rest() {
    let mut simulation = machine_with(2);
    let (end, next_began) = (Rc::new(Cell::new((0, 0))), Rc::new(Cell::new(0)));
    let (seen, began) = (Rc::clone(&end), Rc::clone(&next_began));
    let body = move || {
        compute(1000);
        seen.set((Sim::now().0, Sim::cpu().0));
    };
    simulation.spawn(body).unwrap();
    simulation.spawn_on(&set(&[1]), || ()).unwrap();
    simulation.spawn_on(&set(&[0]), move || began.set(Sim::now().0)).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(300), move_once(0, set(&[1]))));
    simulation.run().unwrap();
    let (at, core) = end.get();
    assert_eq!(core, 1);
    assert!(at > us(1000).0 && at < us(1030).0, "{at}");
    let began = next_began.get();
    assert!(began >= us(300).0 && began < us(320).0, "its core is free at once: {began}");
}

#[test]
fn a_queued_task_moves_to_an_idle_core_of_its_set() {
    let mut simulation = machine_with(2);
    let seen = CoreChanges::default();
    let own = Rc::clone(&seen);
    simulation.spawn_on(&set(&[0]), || compute(100_000)).unwrap();
    simulation.spawn_on(&set(&[0, 1]), || compute(1)).unwrap();
    simulation.spawn_on(&set(&[0, 1]), move || wander(1000, &own)).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(50), move |view| {
        // First to core 0, where it has to queue, and later anywhere.
        let cores = if view.now < us(500) { set(&[0]) } else { set(&[0, 1]) };
        vec![Move { task: TaskId(2), cores }]
    }));
    simulation.run().unwrap();
    let seen = seen.borrow();
    assert_eq!(seen.last().unwrap().1, 1, "{seen:?}");
    assert!(seen.last().unwrap().0 < us(540).0, "{seen:?}");
}

#[test]
fn a_task_in_the_kernel_moves_when_it_leaves_it() {
    let mut simulation = machine_with(2);
    let seen = CoreChanges::default();
    let own = Rc::clone(&seen);
    let body = move || {
        Sim::disable_preemption();
        Sim::disable_preemption();
        wander(500, &own);
        Sim::enable_preemption();
        wander(500, &own);
        Sim::enable_preemption();
        wander(100, &own);
    };
    simulation.spawn(body).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(100), move_once(0, set(&[1]))));
    simulation.run().unwrap();
    let seen = seen.borrow();
    let [(_, 0), (at, 1)] = seen[..] else { panic!("{seen:?}") };
    assert!(at >= us(1000).0 && at < us(1020).0, "{at}");
}

#[test]
fn a_sleeping_task_wakes_on_a_core_of_its_new_set() {
    let mut simulation = machine_with(3);
    let core = Rc::new(Cell::new(9));
    let own = Rc::clone(&core);
    let body = move || {
        Sim::sleep(us(1000));
        own.set(Sim::cpu().0);
    };
    simulation.spawn(body).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(100), move_once(0, set(&[2]))));
    simulation.run().unwrap();
    assert_eq!(core.get(), 2);
}

#[test]
fn a_waiter_that_moves_sees_what_it_waits_for() {
    let mut simulation = machine_with(3);
    let word = Rc::new(Padded(SimU32::new(0)));
    let (own, core) = (Rc::clone(&word), Rc::new(Cell::new((0, 9))));
    let seen = Rc::clone(&core);
    let waiter = move || {
        Sim::wait_until(&**own, Wait::Spin, |value| value == 1);
        seen.set((Sim::now().0, Sim::cpu().0));
    };
    simulation.spawn(waiter).unwrap();
    let writer = move || {
        compute(2000);
        word.store(1, Ordering::Release);
    };
    simulation.spawn(writer).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(100), move_once(0, set(&[2]))));
    simulation.run().unwrap();
    let (at, core) = core.get();
    assert_eq!(core, 2);
    assert!(at >= us(2000).0 && at < us(2001).0, "{at}");
}

#[test]
fn a_slice_that_ends_in_the_kernel_is_over_on_leaving_it() {
    let slice = opteron().os.time_slice_us.value as u64;
    let mut simulation = machine_with(1);
    let other_began = Rc::new(Cell::new(0));
    let (began, own) = (Rc::clone(&other_began), Rc::clone(&other_began));
    let first = move || {
        Sim::disable_preemption();
        wander(slice * 3, &CoreChanges::default());
        assert_eq!(own.get(), 0, "the other one ran during the section");
        Sim::enable_preemption();
        assert_ne!(own.get(), 0, "the other one has run by now");
    };
    simulation.spawn(first).unwrap();
    simulation.spawn(move || began.set(Sim::now().0)).unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(100), |_| vec![]));
    simulation.run().unwrap();
}

#[test]
fn the_scheduler_picks_who_is_next() {
    let order = |last_first: bool| {
        let mut simulation = machine_with(1);
        let order = Rc::new(RefCell::new(vec![]));
        for task in 0..4 {
            let order = Rc::clone(&order);
            simulation.spawn(move || order.borrow_mut().push(task)).unwrap();
        }
        let mut told = ScriptedScheduler::balancing(us(100), |_| vec![]);
        told.pick = Box::new(move |core, ready| {
            assert_eq!(core, CpuId(0));
            if last_first { ready.len() - 1 } else { 0 }
        });
        simulation.schedule_with(told);
        simulation.run().unwrap();
        order.take()
    };
    assert_eq!(order(false), [0, 1, 2, 3]);
    assert_eq!(order(true), [0, 3, 2, 1]);
}

#[test]
fn balancing_comes_each_period_until_all_tasks_are_done() {
    let mut simulation = machine_with(2);
    simulation.spawn(|| compute(1050)).unwrap();
    simulation.spawn(|| Sim::sleep(us(350))).unwrap();
    let times = Rc::new(RefCell::new(vec![]));
    let seen = Rc::clone(&times);
    simulation.schedule_with(ScriptedScheduler::balancing(us(100), move |view| {
        seen.borrow_mut().push(view.now);
        vec![]
    }));
    let outcome = simulation.run().unwrap();
    let expected: Vec<Cycles> = (1..=10).map(|window| us(100 * window)).collect();
    assert_eq!(*times.borrow(), expected);
    assert_eq!(outcome.end, us(1050));
}

#[test]
fn a_scheduler_does_not_hide_a_deadlock() {
    let mut simulation = machine_with(2);
    let word = Rc::new(SimU32::new(0));
    simulation
        .spawn(move || {
            Sim::park(&word, 0, None);
        })
        .unwrap();
    simulation.schedule_with(ScriptedScheduler::balancing(us(100), |_| vec![]));
    let error = simulation.run().unwrap_err();
    assert!(matches!(error, SimError::Deadlock { .. }), "{error}");
}

/// What a scheduler sees of a task at the end of a window.
fn view_at(simulation: &mut Simulation, at: Cycles, task: usize) -> Rc<RefCell<Option<TaskView>>> {
    let seen = Rc::new(RefCell::new(None));
    let own = Rc::clone(&seen);
    simulation.schedule_with(ScriptedScheduler::balancing(at, move |view| {
        own.borrow_mut().get_or_insert_with(|| view.tasks[task].clone());
        vec![]
    }));
    seen
}

const LOCK: LockLabel = LockLabel(7);

#[test]
fn waits_for_locks_count_while_they_last() {
    // One task spins for the lock, another sleeps for it, both from 100 µs on, and nobody has it yet
    // when the scheduler looks.
    for asleep in [false, true] {
        let mut simulation = machine_with(2);
        let word = Rc::new(Padded(SimU32::new(0)));
        let own = Rc::clone(&word);
        let waiter = move || {
            Sim::lock_wait_begins(LockLabel(9));
            Sim::lock_acquired();
            compute(100);
            Sim::lock_wait_begins(LOCK);
            if asleep {
                assert_eq!(Sim::park(&own, 0, None), Parked::Woken);
            } else {
                Sim::wait_until(&**own, Wait::Spin, |value| value == 1);
            }
            Sim::lock_acquired();
        };
        simulation.spawn(waiter).unwrap();
        let opener = move || {
            compute(2000);
            word.store(1, Ordering::Release);
            Sim::unpark(&**word, 1);
        };
        simulation.spawn(opener).unwrap();
        let seen = view_at(&mut simulation, us(1000), 0);
        simulation.run().unwrap();
        let view = seen.take().unwrap();
        let [this, other] = view.locks[..] else { panic!("{view:?}") };
        assert_eq!((this.lock, this.acquisitions), (LOCK, 0));
        assert_eq!((other.lock, other.acquisitions), (LockLabel(9), 1));
        assert_eq!(this.on_core + this.asleep, us(900));
        assert_eq!(view.times.total() + view.asleep, us(1000));
        if asleep {
            assert_eq!(view.state, RunState::Asleep);
            assert!(this.asleep > us(880), "{this:?}");
        } else {
            assert_eq!(view.state, RunState::OnCore);
            assert_eq!(this.on_core, us(900));
            assert!(view.times.of(Activity::Spinning) > us(880), "{view:?}");
        }
    }
}

#[test]
fn time_that_is_charged_in_advance_is_not_seen_before_it_is_over() {
    // The two take turns of some 3 ms each, so that each is seen on the core and off it.
    for at in [700, 2_500, 4_000, 5_500, 7_000, 9_000] {
        for task in [0, 1] {
            let mut simulation = machine_with(1);
            for _ in 0..2 {
                simulation.spawn(|| compute(20_000)).unwrap();
            }
            let seen = view_at(&mut simulation, us(at), task);
            simulation.run().unwrap();
            let view = seen.take().unwrap();
            assert_eq!(view.times.total() + view.ready, us(at), "{view:?}");
        }
    }
}

#[test]
fn a_simulation_with_a_scheduler_is_the_same_every_time() {
    let run = || {
        let mut simulation = machine_with(6);
        let word = Rc::new(Padded(SimU64::new(0)));
        for task in 0..18_u64 {
            let word = Rc::clone(&word);
            let body = move || {
                for _ in 0..300 {
                    Sim::work(Cycles(1000 + 17 * task));
                    word.fetch_add(1, Ordering::Relaxed);
                    if task % 5 == 0 {
                        Sim::sleep(us(30));
                    }
                }
            };
            simulation.spawn(body).unwrap();
        }
        let mut window = 0;
        simulation.schedule_with(ScriptedScheduler::balancing(us(50), move |view| {
            window += 1;
            let narrow = |task: &TaskView| Move {
                task: task.task,
                cores: CoreSet::first(1 + (window + task.task.0) % 6),
            };
            view.tasks.iter().map(narrow).collect()
        }));
        simulation.run().unwrap()
    };
    let outcome = run();
    assert_eq!(outcome, run());
    assert!(outcome.tasks.iter().all(|times| times.of(Activity::Working) >= Cycles(300_000)));
}
