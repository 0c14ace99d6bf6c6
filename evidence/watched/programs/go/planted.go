// What the planted programs in Go share. See ../c/planted.h for what a program does.
//
// A goroutine may move to another thread while it computes, so the clock of the thread that it runs
// on may jump. Such a step counts for as long as a step usually takes.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	clockThreadCputimeID = 3
	// A longer step on a clock is most likely one from another thread's clock.
	longestStepNs = 20_000
	// What `stop` is until the goroutines may begin.
	notBegun = -1
)

// Sections of one kind: how often, and for how long in all.
type count struct {
	acquisitions, holdNs, holdWallNs int64
	perSecond                        []int64
}

type goroutine struct {
	number            int
	random            uint64
	exclusive, shared count
	thinks, thinkNs   int64
	_                 [128]byte
}

var (
	holdNs, thinkNs, usualStepNs int64
	runTime                      time.Duration
	start, deadline              time.Time
	idleStart                    bool
	stop                         int32 = notBegun
	gate                         = make(chan struct{})
	goroutines                   []goroutine
)

func threadClock() int64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCputimeID,
		uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func xorshift(random uint64) uint64 {
	random ^= random << 13
	random ^= random >> 7
	random ^= random << 17
	return random
}

// One step of computing. It returns something, so that it is not left out.
//
//go:noinline
func step(work uint64) uint64 {
	for i := 0; i < 200; i++ {
		work = xorshift(work)
	}
	return work
}

func usualStep() int64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const steps = 2000
	begin, work := threadClock(), uint64(1)
	for i := 0; i < steps; i++ {
		work = step(work)
		threadClock()
	}
	return (threadClock() - begin) / steps
}

// Computes until the goroutine has run for `wanted` nanoseconds more. Returns for how long it ran.
func compute(wanted int64) int64 {
	if wanted == 0 {
		return 0
	}
	ran, last, work := int64(0), threadClock(), uint64(1)
	for ran < wanted {
		work = step(work)
		now := threadClock()
		if taken := now - last; taken > 0 && taken < longestStepNs {
			ran += taken
		} else {
			ran += usualStepNs
		}
		last = now
	}
	return ran
}

// The work of one section of a kind, to be done while its lock is held.
func (count *count) hold() {
	taken := time.Now()
	count.holdNs += compute(holdNs)
	count.holdWallNs += int64(time.Since(taken))
	count.acquisitions++
	if second := int(taken.Sub(start) / time.Second); second < len(count.perSecond) {
		count.perSecond[second]++
	}
}

// Computes for THINK_US, give or take a half.
func (self *goroutine) think() {
	self.random = xorshift(self.random)
	part := 0.5 + float64(self.random>>11)/float64(1<<53)
	self.thinkNs += compute(int64(float64(thinkNs) * part))
	self.thinks++
}

func over() bool {
	return atomic.LoadInt32(&stop) != 0 || !time.Now().Before(deadline)
}

func number(text string, least, most float64) float64 {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !(number >= least && number <= most) {
		fmt.Fprintf(os.Stderr, "planted: %s is no number from %g to %g\n", text, least, most)
		os.Exit(2)
	}
	return number
}

// Reads the command line.
func begin() {
	words := os.Args[1:]
	if len(words) < 4 || len(words) > 5 || (len(words) == 5 && words[4] != "--idle-start") {
		fmt.Fprintf(os.Stderr, "usage: %s THREADS HOLD_US THINK_US SECONDS [--idle-start]\n", os.Args[0])
		os.Exit(2)
	}
	goroutines = make([]goroutine, int(number(words[0], 1, 1000)))
	holdNs = int64(1e3 * number(words[1], 0, 1e9))
	thinkNs = int64(1e3 * number(words[2], 0, 1e9))
	runTime = time.Duration(1e9 * number(words[3], 0, 3600))
	idleStart = len(words) == 5
	for i := range goroutines {
		self := &goroutines[i]
		self.number, self.random = i, 0x9e3779b97f4a7c15*uint64(i+1)
		self.exclusive.perSecond = make([]int64, int(runTime/time.Second)+60)
		self.shared.perSecond = make([]int64, int(runTime/time.Second)+60)
	}
	usualStepNs = usualStep()
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	go func() {
		<-terminate
		// Who still waits for a line of input has no truth to tell.
		if atomic.SwapInt32(&stop, 1) == notBegun {
			os.Exit(143)
		}
	}()
}

// The whole run of a program: `body` in each goroutine, and then the truth. `last` is carried out
// when those goroutines have ended, if it is given.
func run(lockName string, lock unsafe.Pointer, body func(*goroutine), last func()) {
	var running sync.WaitGroup
	for i := range goroutines {
		running.Add(1)
		go func(self *goroutine) {
			defer running.Done()
			<-gate
			body(self)
		}(&goroutines[i])
	}
	fmt.Printf("ready %d 0x%x\n", os.Getpid(), uintptr(lock))
	if idleStart {
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	atomic.CompareAndSwapInt32(&stop, notBegun, 0)
	start = time.Now()
	deadline = start.Add(runTime)
	if idleStart {
		fmt.Println("begun")
	}
	close(gate)
	running.Wait()
	if last != nil {
		last()
	}
	truth(lockName)
}

func mean(sum, count int64) float64 {
	if count == 0 {
		return 0
	}
	return float64(sum) / float64(count)
}

// What all goroutines did in sections of a kind, as the inside of an object.
func counts(wall time.Duration, kind func(*goroutine) *count) (string, int64) {
	var sum count
	seconds := make([]int64, int(wall/time.Second))
	for i := range goroutines {
		count := kind(&goroutines[i])
		sum.acquisitions += count.acquisitions
		sum.holdNs += count.holdNs
		sum.holdWallNs += count.holdWallNs
		for s := range seconds {
			if s < len(count.perSecond) {
				seconds[s] += count.perSecond[s]
			}
		}
	}
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(seconds), "[]"), " ", ",")
	return fmt.Sprintf(
		`"acquisitions":%d,"hold_ns_mean":%.1f,"hold_wall_ns_mean":%.1f,"per_second":[%s]`,
		sum.acquisitions, mean(sum.holdNs, sum.acquisitions),
		mean(sum.holdWallNs, sum.acquisitions), list), sum.acquisitions
}

func truth(lockName string) {
	wall := time.Since(start)
	var thinks, thinkNs int64
	for i := range goroutines {
		thinks += goroutines[i].thinks
		thinkNs += goroutines[i].thinkNs
	}
	exclusive, _ := counts(wall, func(self *goroutine) *count { return &self.exclusive })
	shared, reads := counts(wall, func(self *goroutine) *count { return &self.shared })
	fmt.Printf(`{"language":"go","lock":"%s","threads":%d,%s,"think_ns_mean":%.1f,"wall_ns":%d`,
		lockName, len(goroutines), exclusive, mean(thinkNs, thinks), int64(wall))
	if reads > 0 {
		fmt.Printf(`,"reads":{%s}`, shared)
	}
	fmt.Println("}")
}
