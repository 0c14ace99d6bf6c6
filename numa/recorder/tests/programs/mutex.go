// Threads that take one mutex of Go's so many times each, and add to four lines of data under it.
// Prints the mutex's address.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

type data struct {
	mutex sync.Mutex
	_     [120]byte
	lines [4][8]uint64
}

func main() {
	runtime.GOMAXPROCS(3)
	it := new(data)
	var all sync.WaitGroup
	for thread := 0; thread < 3; thread++ {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			for round := 0; round < 2000; round++ {
				it.mutex.Lock()
				for line := range it.lines {
					it.lines[line][0]++
				}
				it.mutex.Unlock()
				runtime.Gosched()
			}
			all.Done()
		}()
	}
	all.Wait()
	if it.lines[0][0] != 6000 {
		panic("it is no lock")
	}
	fmt.Println(uintptr(unsafe.Pointer(&it.mutex)))
}
