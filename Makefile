# Kilocore. On a fresh Debian 12 with a Rust toolchain, `make demo` and `make test` do all their
# set-up themselves, packages included.

# What builds need, and the real programs that the tests and the demo run.
BUILD_PACKAGES := gcc libc6-dev make
FUZZ_PACKAGES  := g++
# What a build of Linux needs, and to boot it.
LINUX_PACKAGES := gcc make flex bison bc libelf-dev libssl-dev cpio kmod patch xz-utils binutils
LINUX_TEST_PACKAGES := $(LINUX_PACKAGES) e2fsprogs qemu-system-x86 libc6-dev libcap-dev libnuma-dev liburing-dev liburcu-dev stress-ng python3
LINUX_DEB_PACKAGES := $(LINUX_PACKAGES) debhelper dpkg-dev rsync libdw-dev

# A batch system, for sweeps on a cluster.
SOAK_PACKAGES  := slurm-wlm munge

# Other people's allocators, which the page pool is measured beside.
POOL_PACKAGES  := libmimalloc2.0 libjemalloc2
DEMO_PACKAGES  := kyotocabinet-utils
TEST_PACKAGES  := $(DEMO_PACKAGES) sysbench memcached libmemcached-tools stress-ng \
                  mariadb-server-core mariadb-client rocksdb-tools xz-utils git python3 \
                  linux-perf g++ musl-tools libabsl-dev golang-go default-jdk-headless \
                  redis-server redis-tools libjemalloc2 qemu-user

# The crates whose tests run under the model checkers. They are built apart: with their features all
# else would be built anew.
APART := platform locks ldu lru buffer-pool pages numa rivals checking

# What others may adopt, and what of it needs no system.
LIBRARIES := platform locks ldu lru buffer-pool pages numa
BARE      := $(filter-out buffer-pool,$(LIBRARIES))

CARGO ?= cargo
REPORT := target/demo/report.html

# For how long `make fuzz` tries each reader of outside data.
WATCHED_RUNS ?= 10
FUZZ_SECONDS ?= 60

.PHONY: all demo sched sched-simulated test lint unit bench soak weaken watched watched-planted \
        watched-beside fuzz fidelity fidelity-c fidelity-profiles \
        closed-loop what-if verdicts emulation emulation-cost emulation-forward emulation-same emulation-published emulation-gains servers page-traces ldu kernel-path kernel-paths lru numa numa-programs hit-ratios page-caches replicated clusters clean \
        packages-build packages-demo packages-test packages-soak packages-fuzz packages-linux packages-linux-test packages-linux-deb

all: packages-build
	$(CARGO) build --release

## demo: build, forecast a real program that knows nothing of Kilocore, leave an HTML report
demo: packages-demo all
	mkdir -p $(dir $(REPORT))
	target/release/kilocore doctor --machine opteron-6344-4s --output $(REPORT) -- \
	    kccachetest order -th 2 200000
	@echo "The report with curves and call sites: $(REPORT)"

## test: everything that must hold. What fails keeps nothing else from being run. The lints have what
## cores the tests leave; what they said is printed at the end, and then which tests failed, in short
LINTED := target/linted.log
test: packages-test all
	@nice tools/once $(MAKE) --no-print-directory lint > $(LINTED) 2>&1 & linted=$$!; \
	    status=0; $(MAKE) --no-print-directory unit || status=$$?; \
	    wait $$linted || status=$$?; cat $(LINTED); tools/failures $(TESTED) $(CHECKED); exit $$status

lint: packages-build
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path evidence/fuzz/Cargo.toml --check
	$(CARGO) fmt --manifest-path evidence/page-caches/Cargo.toml --check
	$(CARGO) fmt --manifest-path linux/object/Cargo.toml --check
	# Declared by macros, into which cargo fmt does not see.
	rustfmt --edition 2024 --check libs/locks/src/*.rs functions/bench/src/benchmarks.rs functions/bench/src/benchmarks/*.rs
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" \
	    $(CARGO) doc --release --workspace --no-deps --quiet
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release -p kilocore-locks --features lock_api --no-deps --quiet
	# What is adopted alone: without features, as a package, and its public items.
	$(CARGO) check --quiet --release --no-default-features $(addprefix -p kilocore-,$(BARE))
	# And what of it is linked into Linux, as far as that can be said without one.
	$(CARGO) check --quiet --locked --manifest-path linux/object/Cargo.toml --target-dir target/linux-object
	$(PACKAGE) --quiet --no-verify --allow-dirty
	$(LISTS)

# Built with the features that the tests' build has of everything: `-p kilocore-weaken` alone has others,
# and half of what it uses would be compiled again.
OTHERS := --workspace $(addprefix --exclude kilocore-,$(APART))
LISTS = $(CARGO) build --quiet --release $(OTHERS) --bin kilocore-public-api && \
    target/release/kilocore-public-api

# A folder of its own, as each package is built as those will who adopt it.
PACKAGE = CARGO_TARGET_DIR=target/package $(CARGO) package $(addprefix -p kilocore-,$(LIBRARIES))

.PHONY: package public-api portable

## package: the libraries as they would be published, each built from its package alone
package: packages-build
	$(PACKAGE) --locked

## public-api: accept what the libraries offer now, into libs/*/public-api.txt
public-api: packages-build
	$(LISTS) --accept

## portable: compile the libraries for AArch64, for targets without an operating system, and with the
## oldest compiler that they state; rustup fetches what is missing
portable: packages-build
	CARGO="$(CARGO)" tools/portable

# Everything is tested as it ships, so the release build comes first, and its libraries serve the
# tests. Programs under test wait much and checkers compute, so the checkers have what cores are left;
# the two builds share no files. What the checkers said is printed at the end.
# What only tests execute is not optimized where it takes milliseconds: tools/rustc-for-tests.
# What is random has a fixed seed here, so that a commit passes or fails, and not now this and now
# that; `make soak` searches elsewhere each time.
# The tests write into a file that is shown meanwhile, and not into a pipe, which a process that a test has left behind would
# keep open.
CHECKED := target/checked.log
TESTED  := target/tested.log
ONCE := --config "target.'cfg(unix)'.runner = '$(CURDIR)/tools/once'"
unit: export PROPTEST_RNG_SEED := 20261126
unit: export KILOCORE_BUILT := 1
unit: packages-test all
	@mkdir -p $(dir $(TESTED)); : > $(TESTED)
	nice $(CARGO) test $(ONCE) --no-fail-fast $(addprefix -p kilocore-,$(APART)) > $(CHECKED) 2>&1 & checked=$$!; \
	    trap 'kill $$goes_on; echo "Told to end. What the checkers have said last:"; tail -n 20 $(CHECKED); exit 1' TERM; \
	    sleep infinity & goes_on=$$!; tail -n +1 -f --pid=$$goes_on $(TESTED) & shown=$$!; status=0; \
	    RUSTC_WRAPPER=$(CURDIR)/tools/rustc-for-tests \
	        $(CARGO) test $(ONCE) --no-fail-fast --release $(OTHERS) > $(TESTED) 2>&1 || status=$$?; \
	    kill $$goes_on; wait $$shown; \
	    echo "The checkers go on."; wait $$checked || status=$$?; cat $(CHECKED); exit $$status

## soak: the tests that take long: every lock under the heavy programs, thread storms; all others
## with debug assertions and overflow checks; sweeps by Slurm; the libraries' interfaces under
## AddressSanitizer; and `make linux-soak`
soak: packages-soak all
	KILOCORE_EVERY_LOCK=1 KILOCORE_ALL_SCHEDULES=1 \
	    $(CARGO) test --workspace -- --include-ignored
	tools/sanitize
	$(MAKE) linux-soak

## watched: what watching from outside says of programs with known locks, in seven languages, beside
## what they say themselves, and of Debian's programs beside the preload recorder; WATCHED_RUNS of
## each, into docs/evidence/watching.md. `make watched-planted` and `make watched-beside` make one of the two
watched: packages-test all
	@status=0; for part in watched-planted watched-beside; do \
	    $(MAKE) --no-print-directory $$part || status=$$?; done; exit $$status

watched-planted watched-beside: watched-%: packages-test all
	$(CARGO) build --release -p kilocore-watched
	target/release/kilocore-watched $* --runs $(WATCHED_RUNS) --page docs/evidence/watching.md

## fuzz: what reads data from outside, led by where inputs lead; FUZZ_SECONDS for each target
fuzz: packages-fuzz all
	tools/fuzz $(FUZZ_SECONDS)

## weaken: each memory ordering of locks, logs and lists weakened in turn, into docs/evidence/orderings
weaken: export KILOCORE_ALL_SCHEDULES := 1
weaken: packages-build
	mkdir -p docs/evidence/orderings
	status=0; for part in locks ldu lru buffer-pool pages numa; do \
		$(CARGO) run -p kilocore-weaken -- --only libs/$$part/src \
			--report docs/evidence/orderings/$$part.md || status=$$?; \
	done; exit $$status

.PHONY: linux linux-test linux-soak linux-deb

## linux: Debian's kernel 6.12 with the algorithms in it, into target/linux: takes ten minutes on two cores, fetches
## 300 MB, and needs 4 GB of disk. linux/README.md says what is in it
linux: packages-linux
	linux/build

## linux-test: that kernel in virtual machines of up to 8 processors: takes 20 minutes beside the build
linux-test: packages-linux-test linux
	linux/tests/all

## linux-soak: the kernel's own tests, stress-ng, an hour of the oracle, and all tests again on kernels with lockdep,
## KASAN and KCSAN: takes some eight hours on two cores; PARTS='oracle kasan' runs these. A part of `make soak`
linux-soak: packages-linux-test linux
	linux/tests/soak $(PARTS)

## kernel-paths: what that kernel executes for a fork and exit, and for an exec, recorded anew into papers/lab/paths: a minute
## beside the build
kernel-paths: packages-linux-test linux
	linux/paths/record

## linux-deb: that kernel with Debian's own configuration, as packages in target/linux/packages: for virtual machines and
## rented servers, an hour on two cores; FLAVOUR=amd64 for all machines, three
linux-deb: packages-linux-deb
	linux/build deb $(or $(FLAVOUR),cloud-amd64)

## bench: how fast, beside the best existing libraries
bench: packages-build
	$(CARGO) bench --workspace

## page-caches: the buffer pool beside other caches used for pages, on this machine
page-caches: packages-build
	CARGO_TARGET_DIR=target/page-caches \
	    $(CARGO) run --release --locked --manifest-path evidence/page-caches/Cargo.toml

## fidelity: how far forecasts are from published measurements, anew, into docs/evidence/fidelity.md
fidelity: packages-build
	$(CARGO) build --release -p kilocore -p kilocore-fidelity
	target/release/kilocore sweep docs/evidence/plans/fidelity.toml $(SWEEP)

## fidelity-c: only the forecasts from profiles, into their section of docs/evidence/fidelity.md; takes minutes
fidelity-c: packages-build
	$(CARGO) run --release -p kilocore-fidelity --example setting_c -- \
	    docs/evidence/fidelity.md locks/forecast/data

## fidelity-profiles: measure the programs of data/profiles anew, on this machine
fidelity-profiles: all
	tools/profiles/measure

## closed-loop: programs with known parameters, measured here and forecast, into docs/evidence/closed-loop.md
closed-loop: packages-build all
	KILOCORE_CLOSED_LOOP=$(CURDIR)/docs/evidence/closed-loop.md \
	    $(CARGO) test --release -p kilocore-fidelity --test closed_loop -- --ignored --nocapture

## what-if: what is said of changes of a program's source, beside the program changed, simulated and timed
## here, into docs/evidence/what-if.md; takes minutes, in which other programs have little of this machine
what-if: packages-build all
	KILOCORE_WHAT_IF=$(CURDIR)/docs/evidence/what-if.md \
	    $(CARGO) test --release -p kilocore-fidelity --test what_if -- --ignored --nocapture

## verdicts: what the doctor says of fifty programs in a dozen languages, on an idle host and beside two busy loops,
## beside what they do on two cores; takes three quarters of an hour
verdicts: all
	@tools/install-packages $$(tools/verdicts/measure --packages)
	tools/verdicts/measure --page docs/evidence/verdicts.md

## emulation: programs emulated on this host's own machine file, beside what they do here, into
## docs/evidence/emulation.md; takes five minutes
emulation: all
	@tools/install-packages $$(tools/verdicts/measure --packages)
	tools/emulation/beside-host --page docs/evidence/emulation.md

## emulation-published: packaged programs emulated on the machines of the published measurements, beside these, into
## docs/evidence/emulation-published.md; takes an hour
emulation-published: all
	@tools/install-packages $$(tools/emulation/beside-published --packages)
	tools/emulation/beside-published --page docs/evidence/emulation-published.md

## emulation-gains: what other locks gain in these programs, beside what was published, into
## docs/evidence/emulation-gains.md; takes hours
emulation-gains: all
	@tools/install-packages $$(tools/emulation/beside-published --packages)
	tools/emulation/gains-beside-published --page docs/evidence/emulation-gains.md

## emulation-cost: the processor time that programs with 48 threads take emulated, beside what they take alone and under
## QEMU, into docs/evidence/emulation-cost.md; takes ten minutes
emulation-cost: all
	@tools/install-packages $$(tools/verdicts/measure --packages) kyotocabinet-utils
	tools/emulation/cost --page docs/evidence/emulation-cost.md

## emulation-forward: the processor time that it takes to come to a part of a program that is emulated, into
## docs/evidence/emulation-forward.md; takes five minutes
emulation-forward: all
	tools/emulation/forward --page docs/evidence/emulation-forward.md

## emulation-same: whether ten programs that are emulated give the same figures each time, also beside other work; fails,
## as those that read the processor's counter of cycles do not; takes five minutes
emulation-same: all
	@tools/install-packages $$(tools/verdicts/measure --packages) kyotocabinet-utils
	tools/emulation/same

## same-output: sixty real programs alone and under run, record locks and run --pages: the same output, errors
## and exit status; takes a quarter of an hour
same-output: all
	@tools/install-packages $$(tools/same-output --packages)
	tools/same-output

## servers: what the doctor says of real servers under load, and what it costs them, into
## docs/evidence/servers.md; half an hour on a machine that does nothing else
servers: all
	@tools/install-packages $$(tools/servers --packages)
	tools/servers --page docs/evidence/servers.md

## page-traces: record the pages of real programs anew, into data/page-traces; needs root, and a
## machine that does nothing else
page-traces: all
	@tools/install-packages $$(tools/page-traces --packages)
	tools/page-traces

# The plan of a page, in docs/evidence/plans, is swept into target/FOLDER, and what it draws goes beside the page. An
# interrupted one goes on. SWEEP has more options: make ldu SWEEP=--slurm
SWEEP ?=
swept = $(CARGO) build --release -p kilocore -p kilocore-lab && \
    target/release/kilocore sweep docs/evidence/plans/$@.toml $(SWEEP) && \
    mkdir -p docs/evidence/$(1) && \
    find target/$(1) -maxdepth 1 \( -name '*.csv' -o -name '*.svg' \) -exec cp -t docs/evidence/$(1) {} +

## hit-ratios: hit ratios of page lists beside exact LRU on made traces of ten million uses, into the
## tables of docs/evidence/lru-hit-ratios.md; takes a quarter of an hour
hit-ratios: packages-build
	$(CARGO) build --release -p kilocore -p kilocore-comparisons --bin kilocore --bin kilocore-hit-ratios
	target/release/kilocore sweep docs/evidence/plans/hit-ratios.toml $(SWEEP)

## ldu: the published figures of deferred updates, simulated anew, into docs/evidence/ldu and the tables of
## docs/evidence/ldu.md; takes an hour
ldu: packages-build
	$(call swept,ldu)

## kernel-path: a fork and exit, and a fork, exec and exit, of Linux on many simulated cores, into docs/evidence/kernel-path and
## the tables of docs/evidence/kernel-path.md; takes ten minutes. `linux/paths/record` records the paths anew
kernel-path: packages-build
	$(call swept,kernel-path)

## lru: parallel writes through a page cache, simulated anew, into docs/evidence/lru and the tables of
## docs/evidence/lru.md; takes a minute
lru: packages-build
	$(call swept,lru)

## numa: when a page should be copied to another memory node, simulated anew, into docs/evidence/numa and the
## tables of docs/evidence/numa.md; takes half an hour
numa: packages-build
	$(call swept,numa)

# Each as far from the four programs as from the others, and fixed delays to compare with.
NUMA_RECORD := target/release/kilocore record references
NUMA_TRACE := target/release/kilocore-lab numa --cores 4 \
              --copying never,fixed,adjustable,updates,linux,carrefour,balanced,optimum \
              --initial-delay 1,10,100,300,1000,3000,5000,10000

## numa-programs: the same policies under unmodified programs, whose references QEMU streams into traces
numa-programs: packages-build packages-test
	$(CARGO) build --release
	$(CARGO) build --release -p kilocore-lab
	mkdir -p target/numa
	seq 300000 | awk '{ printf "%d line %d\n", ($$1 * 7919) % 1000003, $$1 }' > target/numa/lines
	g++ -O2 -fopenmp docs/evidence/numa/relax.cpp -o target/numa/relax
	$(NUMA_RECORD) --output target/numa/sort.refs -- \
	    sort --parallel=4 -o target/numa/sorted target/numa/lines
	$(NUMA_RECORD) --output target/numa/xz.refs -- \
	    xz -T4 --block-size=1MiB -2 -k -f target/numa/lines
	OMP_NUM_THREADS=4 $(NUMA_RECORD) --output target/numa/relax.refs -- \
	    target/numa/relax 512 60
	set -e; for program in sort xz relax; do \
	    $(NUMA_TRACE) --trace target/numa/$$program.refs \
	        --output target/numa/program-$$program.md; \
	done
	target/release/kilocore-lab tables docs/evidence/numa.md target/numa

## pages: which free page an allocation gets, simulated anew, into docs/evidence/pages and the tables of
## docs/evidence/pages.md; takes ten minutes
pages: packages-build
	$(call swept,pages)

## page-pools: the page pool beside Linux's lists, mimalloc, jemalloc and the kernel, on this machine,
## into the tables of docs/evidence/pages.md; takes minutes on a machine that does nothing else
page-pools: packages-build
	@tools/install-packages $(POOL_PACKAGES)
	$(CARGO) build --release -p kilocore-comparisons --bin kilocore-page-pools
	GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 \
	    target/release/kilocore-page-pools --page docs/evidence/pages.md

## clusters: a million points on clusters that are not here, simulated, and what of it is measured here, into
## docs/evidence/clusters.md: some minutes
clusters: packages-build
	$(CARGO) build --release -p kilocore-comparisons --bin kilocore-clusters
	target/release/kilocore-clusters --page docs/evidence/clusters.md

## replicated: data with a copy on each node beside locks and other libraries: simulated, and measured on
## this machine, into the tables of docs/evidence/replicated.md; takes minutes on a machine that does nothing else
replicated: packages-build
	$(CARGO) build --release -p kilocore-comparisons --bin kilocore-replicated-data
	target/release/kilocore-replicated-data --page docs/evidence/replicated.md

packages-build packages-demo packages-test packages-soak packages-fuzz packages-linux packages-linux-test packages-linux-deb: packages-%:
	@tools/install-packages $(BUILD_PACKAGES) $(if $(filter demo,$*),$(DEMO_PACKAGES)) \
	    $(if $(filter test soak,$*),$(TEST_PACKAGES)) $(if $(filter soak,$*),$(SOAK_PACKAGES)) $(if $(filter fuzz,$*),$(FUZZ_PACKAGES)) \
	    $(if $(filter linux,$*),$(LINUX_PACKAGES)) $(if $(filter linux-test,$*),$(LINUX_TEST_PACKAGES)) \
	    $(if $(filter linux-deb,$*),$(LINUX_DEB_PACKAGES))

# Where `make install` puts things, and what stands before that while packaging.
PREFIX  ?= /usr/local
DESTDIR ?=

.PHONY: install uninstall deb

## install: the program, its libraries, completions and manual pages, under PREFIX
install: all
	tools/install install "$(DESTDIR)$(PREFIX)"

## uninstall: what `make install` put there
uninstall:
	tools/install uninstall "$(DESTDIR)$(PREFIX)"

## sched-simulated: schedulers that see contention for locks and for caches, simulated, into docs/evidence/sched and
## the tables of docs/evidence/sched-locks.md and docs/evidence/sched-caches.md; takes half an hour
sched-simulated: packages-build
	$(call swept,sched)

## deb: a Debian package for this machine's kind, target/kilocore_VERSION_ARCH.deb
deb: all
	tools/deb

clean:
	$(CARGO) clean

# What steering programs is worth and costs, on this host.
sched: all
	tools/sched/measure.sh target/release/kilocore 7 5 > docs/evidence/sched-real.md
