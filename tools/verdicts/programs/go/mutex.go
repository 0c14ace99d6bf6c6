// Goroutines that share a sync.Mutex.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

var lock sync.Mutex
var shared uint64 = 1

func compute(value uint64, steps int) uint64 {
	for step := 0; step < steps; step++ {
		value ^= value << 13
		value ^= value >> 7
		value ^= value << 17
	}
	return value
}

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	threads, sections, hold, think := number(1), number(2), number(3), number(4)
	var all sync.WaitGroup
	for each := 0; each < threads; each++ {
		all.Add(1)
		go func(own uint64) {
			defer all.Done()
			for each := 0; each < sections/threads; each++ {
				own = compute(own, think)
				lock.Lock()
				shared = compute(shared+own&1, hold)
				lock.Unlock()
			}
		}(uint64(each) + 1)
	}
	all.Wait()
	fmt.Println(shared)
}
