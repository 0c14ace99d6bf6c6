//! Examples for the help of commands.

pub(crate) const ALL: &str = "\
Examples:
  kilocore doctor ./service --threads 8     what limits it, and what helps
  kilocore run --lock mcs-park ./service    the program under another lock
  kilocore record locks --duration 30 ./service
  kilocore forecast kilocore.locks.json --machine epyc-9554-2s";

pub(crate) const DOCTOR: &str = "\
Examples:
  kilocore doctor ./service --threads 8
  kilocore doctor --machine epyc-9554-2s --output report.html -- ./service
  kilocore doctor --work 'done: ([0-9]+)' -- ./service --threads {threads}
  kilocore doctor --once --delay 5 --duration 30 -- ./service
  kilocore doctor --pid $(pidof -s service) --duration 10";

pub(crate) const RECORD_LOCKS: &str = "\
Examples:
  kilocore record locks --twice --output work.json -- ./batch input
  kilocore record locks --twice --count-lines -- ./batch input
  kilocore record locks --delay 5 --duration 30 -- ./service
  kilocore record locks --recorder watch ./goservice
  timeout 60 kilocore record locks ./service    it is written all the same
  kill -USR1 $(pidof kilocore); sleep 10; kill -USR2 $(pidof kilocore)
                                                these 10 s of a program";

pub(crate) const RECORD_SAMPLES: &str = "\
Examples:
  kilocore record samples ./service --threads 8
  kilocore record samples --cores 1 --output one.samples -- ./batch input
  kilocore compare one.samples all.samples";

pub(crate) const RECORD_PAGES: &str = "\
Examples:
  sudo kilocore record pages -- gcc -O2 -c big.c
  sudo kilocore record pages --delay 5 --duration 10 -- ./browser page.html
  sudo kilocore record pages --limit-events 200000 -- java Service.java";

pub(crate) const RECORD_REFERENCES: &str = "\
Examples:
  kilocore record references -- xz -T4 -k big.tar
  kilocore record references --output sort.refs -- sort --parallel=4 big.txt
  kilocore forecast sort.refs";

pub(crate) const SHOW: &str = "\
Examples:
  kilocore show kilocore.locks.json
  kilocore show kilocore.locks.json --output waits.html
  kilocore show --events kilocore.pages | head    what happened, a line each
  kilocore show before.json                       a saved run of benchmarks";

pub(crate) const FORECAST: &str = "\
Examples:
  kilocore forecast kilocore.locks.json --machine epyc-9554-2s
  kilocore forecast work.json --cores 1,8-128:8 --lock futex,mcs,cna
  kilocore forecast measured.csv                  the law of each variant in a table
  kilocore forecast measured.csv --machine opteron-6344-4s --lock cna
  kilocore forecast wide.csv --machine epyc-9554-2s --lock-of mutex=futex
  kilocore forecast sort.refs --output advice.html
  kilocore forecast kilocore.pages --machine core-i7-6700";

pub(crate) const COMPARE: &str = "\
Examples:
  kilocore compare one-core.samples all-cores.samples --output flame.html
  kilocore compare cores-1/ cores-16/             several runs of each
  kilocore compare before.json after.json         saved runs of benchmarks
  kilocore doctor --keep before.json -- ./old/service
  kilocore doctor --keep after.json -- ./new/service
  kilocore compare --fail-if-slower 5% before.json after.json";

pub(crate) const EMULATE: &str = "\
Examples:
  kilocore emulate --machine opteron-6344-4s --cores 1,6,12,24,48 -- ./program -t {cores}
  kilocore emulate --lock mcs,cna,mcs-park --cores 1,24,48 -- ./program -t {cores}
  kilocore emulate --from solve@2 --until report --cores 1,48 -- ./program -t {cores}
  kilocore emulate --machine epyc-7742-2s --output scaling.html -- ./program --threads={threads}";

pub(crate) const LOCATE: &str = "\
Examples:
  kilocore locate --work 'requests: ([0-9]+)' -- ./service
  kilocore locate --cores 1,8,16 --output flame.html -- make -j{cores}";

pub(crate) const RUN: &str = "\
Examples:
  kilocore run --lock mcs-park ./service --threads 8
  kilocore run --lock cna --quiet -- ./batch input
  kilocore run --rwlock phase-fair ./server       its read-write locks only
  kilocore run --pages --pages-statistics -- gcc -O2 -c big.c";

pub(crate) const STEER: &str = "\
Examples:
  kilocore steer ./service --threads 8
  kilocore steer --pid $(pidof -s service) --duration 30s
  kilocore steer --watch ./service > output.txt   a live view
  kilocore steer --dry-run --log changes.txt -- ./batch input
  kilocore steer --control cpuset ./service       by cgroups, not affinities
  kilocore steer --restore                        after everything was killed";

pub(crate) const BENCH: &str = "\
Examples:
  kilocore bench fork dup sock --quick --output before.json
  kilocore bench sock --quick --baseline before.json
  kilocore bench sock --locate                    which functions take longer
  kilocore bench --replay kilocore.pages          a page pool, measured here";

pub(crate) const SWEEP: &str = "\
Examples:
  kilocore sweep machines.toml --list    what would be run, a line each
  kilocore sweep machines.toml
  kilocore sweep machines.toml --jobs 1 --memory 4G --into /data/machines
  kilocore sweep machines.toml --slurm short
  kilocore sweep status machines.toml";
