//! Examples for the help of commands.

pub(crate) const ALL: &str = "\
Examples:
  kilocore doctor ./service --threads 8       what limits it, on a larger machine, and what helps
  kilocore run --lock mcs-park ./service      the program under another lock
  kilocore measure --duration 30 ./service    a profile of half a minute
  kilocore predict kilocore-profile.json --machine epyc-9554-2s --output report.html";

pub(crate) const DOCTOR: &str = "\
Examples:
  kilocore doctor ./service --threads 8
  kilocore doctor --machine epyc-9554-2s --output report.html -- ./service --threads 8
  kilocore doctor --once --delay 5 --duration 30 -- ./service     a service that runs on
  kilocore doctor --pid $(pidof -s service) --duration 10         one that runs already";

pub(crate) const MEASURE: &str = "\
Examples:
  kilocore measure --twice --output work.json -- ./batch input
  kilocore measure --twice --trace -- ./batch input               and lines that move, counted
  kilocore measure --delay 5 --duration 30 -- ./service           30 s of it, without its start
  kilocore measure --how watch ./goservice                        locks that are no pthread locks
  timeout 60 kilocore measure ./service                           the profile is written all the same
  kill -USR1 $(pidof kilocore); sleep 10; kill -USR2 $(pidof kilocore)
                                                                  these 10 s of a program under measure";

pub(crate) const PREDICT: &str = "\
Examples:
  kilocore predict work.json --machine epyc-9554-2s
  kilocore predict work.json --cores 1,8-128:8 --lock futex,mcs,cna --output work.html";

pub(crate) const RUN: &str = "\
Examples:
  kilocore run --lock mcs-park ./service --threads 8
  kilocore run --lock cna --quiet -- ./batch input
  kilocore run --rwlock phase-fair ./server                       its read-write locks only";

pub(crate) const SCHED: &str = "\
Examples:
  kilocore sched ./service --threads 8
  kilocore sched --pid $(pidof -s service) --for 30s
  kilocore sched --watch ./service > output.txt                   a live view
  kilocore sched --dry-run --log changes.txt -- ./batch input     what it would do
  kilocore sched --control cpuset ./service --threads 8           by cgroups, not affinities
  kilocore sched --restore                                        after everything was killed";

pub(crate) const PAGES_RUN: &str = "\
Examples:
  kilocore pages run ./service --threads 8
  kilocore pages run --statistics -- gcc -O2 -c big.c             what the pool did, by tier
  kilocore pages run --min 64K --total 4G -- ./batch input";

pub(crate) const NUMA_RECORD: &str = "\
Examples:
  kilocore numa record -- xz -T4 -k big.tar
  kilocore numa record --output sort.refs -- sort --parallel=4 big.txt";

pub(crate) const NUMA_ADVISE: &str = "\
Examples:
  kilocore numa advise -- ./service --threads 8
  kilocore numa advise --machine epyc-7742-2s --output advice.html -- sort --parallel=4 big.txt
  kilocore numa advise --trace sort.refs --json";

pub(crate) const PAGES_RECORD: &str = "\
Examples:
  sudo kilocore pages record -- gcc -O2 -c big.c
  sudo kilocore pages record --output browser.pages --delay 5 --duration 10 -- ./browser page.html
  sudo kilocore pages record --limit-events 200000 -- java Service.java";

pub(crate) const PAGES_SHOW: &str = "\
Examples:
  kilocore pages show kilocore.pages
  kilocore pages show --events kilocore.pages | head      what happened, a line each";

pub(crate) const PAGES_REPLAY: &str = "\
Examples:
  kilocore pages replay kilocore.pages
  kilocore pages replay kilocore.pages --policy linux-6.12,tiered --rounds 20";
