// Goroutines that share one sync.Mutex.
package main

import (
	"sync"
	"unsafe"
)

var planted_lock sync.Mutex

//go:noinline
func planted_section(self *goroutine) {
	planted_lock.Lock()
	self.exclusive.hold()
	planted_lock.Unlock()
}

func main() {
	begin()
	run("sync.Mutex", unsafe.Pointer(&planted_lock), func(self *goroutine) {
		for !over() {
			self.think()
			planted_section(self)
		}
	}, nil)
}
