//! Mixes of programs under policies, for short times.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use kilocore_lab::sched::cache::{
    Contender, Mix, Point, RunError, Setting, judge, mixes, points, run as run_one,
};
use kilocore_platform::Nanos;
use kilocore_points::PointSource;
use kilocore_sched_policy::{Counters, Machine, Order, Policy, PolicyName, TaskId, Window};
use kilocore_sim::occupancy::{Hardware, nas, synthetic};

fn short() -> Setting {
    Setting { duration: Nanos(1_000_000_000), orders: 1, ..Setting::of_the_thesis() }
}

fn mix(name: &str) -> Mix {
    Mix::named(name).expect("a mix")
}

/// Arithmetic alone: nobody can notice anybody.
fn arithmetic() -> Mix {
    let programs = vec![synthetic::arithmetic(); 16];
    Mix { name: "arithmetic", about: "nothing to share", programs }
}

fn run(setting: &Setting, mix: Mix, contenders: &[Contender]) -> Vec<Point> {
    points(PointSource::unkept(), setting, &[mix], contenders, &|| {})
        .expect("a machine with as many cores")
}

#[test]
fn every_mix_fills_the_machine_twice() {
    let all = mixes();
    assert_eq!(all.len(), 9);
    assert!(all.iter().all(|mix| mix.programs.len() == 16));
    let error = Mix::named("heavi").unwrap_err().to_string();
    assert!(error.contains("'heavi'") && error.contains("heavy-light"), "{error}");
}

#[test]
fn without_anything_to_share_all_cores_do_undisturbed_work() {
    let [point] = &run(&short(), arithmetic(), &[Contender::FAIR])[..] else { panic!("a point") };
    // Eight cores, less what switches and cold caches take.
    assert!(point.throughput < 8.0 && point.throughput > 7.95, "{point:?}");
    assert!(point.fairness > 0.999);
    assert_eq!((point.beside_fair, point.worst_beside_fair), (1.0, 1.0));
    // Two sockets of 28 W and eight cores of 13 W for a second.
    assert!((point.joules / 160.0 - 1.0).abs() < 0.02, "{}", point.joules);
    for task in &point.tasks {
        assert!((task.share - 1.0).abs() < 0.03 && (task.progress - 1.0).abs() < 0.03, "{task:?}");
    }
    // 6 · 10^9 instructions at 0.8 cycles and 2.33 GHz on half of a core.
    let seconds = point.tasks[0].seconds_per_run;
    assert!((seconds / (6e9 * 0.8 / 2.33e9 * 2.0) - 1.0).abs() < 0.05, "{seconds}");
}

#[test]
fn the_planned_optimum_does_more_than_fair_sharing_where_streams_evict_chains() {
    let setting = Setting { orders: 2, ..short() };
    let optimum = run(&setting, mix("uncorrelated"), &[Contender::Optimum]);
    assert!(optimum[0].beside_fair > 1.02, "{}", optimum[0].beside_fair);
    // Chains have their caches to themselves: two fit.
    let plan = optimum[0].plan.as_ref().expect("a plan");
    let of_chains: Vec<_> = plan.iter().filter(|set| set.contains(&"chains")).collect();
    assert!(of_chains.iter().all(|set| !set.contains(&"streamer")), "{plan:?}");
}

#[test]
fn every_policy_of_the_experiment_runs_and_says_what_each_task_did() {
    let all = run(&short(), mix("all"), &Contender::ALL);
    let policies: Vec<Contender> = all.iter().map(|point| point.policy).collect();
    assert_eq!(policies, Contender::ALL);
    for point in &all {
        assert_eq!(point.tasks.len(), 16);
        assert!(point.throughput > 3.0 && point.throughput < 8.0, "{point:?}");
        assert!(point.fairness > 0.5 && point.fairness <= 1.0);
        let shares: f64 = point.tasks.iter().map(|task| task.share).sum();
        // A task that has no core when time is over ends a slice later.
        assert!((shares / 16.0 - 1.0).abs() < 0.03, "{shares}");
    }
}

#[test]
fn the_same_seed_gives_the_same_points_and_another_another_order() {
    let contenders = [Contender::Policy(PolicyName::Intensity)];
    let run = |seed| run(&Setting { seed, ..short() }, mix("half"), &contenders);
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Adds up what windows say of each task, and decides nothing.
#[derive(Debug)]
struct Watcher(Rc<RefCell<BTreeMap<TaskId, Counters>>>);

impl Policy for Watcher {
    fn name(&self) -> &'static str {
        "watcher"
    }

    fn window(&mut self, _: &Machine, window: &Window<'_>) -> Vec<Order> {
        for task in window.tasks {
            let (mut all, new) = (self.0.borrow_mut(), task.counters.unwrap_or_default());
            let sum = all.entry(task.task).or_default();
            sum.instructions += new.instructions;
            sum.references += new.references;
            sum.neighbour_references += new.neighbour_references;
        }
        Vec::new()
    }
}

#[test]
fn windows_add_up_to_what_tasks_did() {
    let seen = Rc::new(RefCell::new(BTreeMap::new()));
    // Windows end with the last one before the end: 9.9 of 10 are seen.
    let ran = run_one(&short(), &arithmetic(), 1, &|_| Box::new(Watcher(Rc::clone(&seen))));
    let seen = seen.borrow();
    let sum = |of: fn(&Counters) -> u64| seen.values().map(of).sum::<u64>() as f64;
    let instructions = sum(|counters| counters.instructions);
    let all: f64 = ran.expect("it runs").instructions.iter().sum();
    assert_eq!(seen.len(), 16);
    assert!(instructions < all * 1.001 && instructions > 0.85 * all, "{instructions} of {all}");
    // Half a reference in a thousand instructions, and as many by who is beside one.
    let references = sum(|counters| counters.references);
    assert!((references / instructions / 0.0005 - 1.0).abs() < 0.05, "{references}");
    let neighbours = sum(|counters| counters.neighbour_references);
    assert!((neighbours / references - 1.0).abs() < 0.05, "{neighbours} beside {references}");
}

#[test]
fn cores_that_tasks_do_not_fill_have_no_optimum() {
    let setting = Setting { cores: 6, ..short() };
    let error =
        points(PointSource::unkept(), &setting, &mixes()[..1], &[Contender::Optimum], &|| {})
            .unwrap_err();
    assert!(matches!(error, RunError::NoOptimum { cores: 6, .. }), "{error}");
    let setting = Setting { cores: 9, ..short() };
    let error = points(PointSource::unkept(), &setting, &mixes()[..1], &[Contender::FAIR], &|| {})
        .unwrap_err();
    assert!(error.to_string().contains("8 hardware threads"), "{error}");
}

#[test]
fn references_per_instruction_are_the_same_beside_any_neighbour() {
    let hardware = Hardware::new(&Setting::of_the_thesis().machine, 8);
    let judged = judge(&hardware, &nas()).expect("cores that share a cache");
    let of = |name: &str| judged.metrics.iter().find(|metric| metric.metric == name).unwrap();
    let (references, misses) = (of("references-per-instruction"), of("misses-per-cycle"));
    assert!(references.instability < 1e-3 && misses.instability > 0.02, "{judged:?}");
    assert!(references.with_intensity > 0.6);
    // On the diagonal, too, somebody else is beside each.
    assert!(judged.slowdown.iter().flatten().all(|&slowdown| slowdown > 0.99));
}
