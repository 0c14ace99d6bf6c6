// Goroutines that read under one sync.RWMutex, and write at first and one time in ten.
package main

import (
	"sync"
	"unsafe"
)

var planted_lock sync.RWMutex

//go:noinline
func planted_section(self *goroutine) {
	planted_lock.Lock()
	self.exclusive.hold()
	planted_lock.Unlock()
}

//go:noinline
func planted_reading(self *goroutine) {
	planted_lock.RLock()
	self.shared.hold()
	planted_lock.RUnlock()
}

func main() {
	begin()
	run("sync.RWMutex", unsafe.Pointer(&planted_lock), func(self *goroutine) {
		for !over() {
			self.think()
			self.random = xorshift(self.random)
			if self.random%10 == 0 || self.exclusive.acquisitions == 0 {
				planted_section(self)
			} else {
				planted_reading(self)
			}
		}
	}, nil)
}
