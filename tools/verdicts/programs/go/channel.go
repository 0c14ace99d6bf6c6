// Goroutines that send what they have computed to one, which computes HOLD steps with each.
package main

import (
	"fmt"
	"os"
	"strconv"
)

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
	results := make(chan uint64, 64)
	for each := 0; each < threads; each++ {
		go func(own uint64) {
			for each := 0; each < sections/threads; each++ {
				own = compute(own, think)
				results <- own
			}
		}(uint64(each) + 1)
	}
	var all uint64
	for each := 0; each < sections/threads*threads; each++ {
		all = compute(all+<-results, hold)
	}
	fmt.Println(all)
}
