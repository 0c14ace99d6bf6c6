// Goroutines that use one channel, with room for one, as a lock.
package main

import "unsafe"

var planted_lock = make(chan struct{}, 1)

//go:noinline
func planted_section(self *goroutine) {
	planted_lock <- struct{}{}
	self.exclusive.hold()
	<-planted_lock
}

func main() {
	begin()
	channel := *(*unsafe.Pointer)(unsafe.Pointer(&planted_lock))
	run("buffered channel", channel, func(self *goroutine) {
		for !over() {
			self.think()
			planted_section(self)
		}
	}, nil)
}
