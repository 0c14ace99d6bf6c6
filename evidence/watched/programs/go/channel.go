// Goroutines that each think, and then send to one unbuffered channel. One more goroutine receives,
// and computes for HOLD_US each time: all wait for that one.
package main

import "unsafe"

var planted_lock = make(chan *goroutine)

//go:noinline
func planted_section(server *goroutine) {
	for range planted_lock {
		server.exclusive.hold()
	}
}

//go:noinline
func planted_sending(self *goroutine) {
	planted_lock <- self
}

func main() {
	begin()
	goroutines = append(goroutines, goroutine{})
	server := &goroutines[len(goroutines)-1]
	server.number = len(goroutines) - 1
	server.exclusive.perSecond = make([]int64, len(goroutines[0].exclusive.perSecond))
	served := make(chan struct{})
	go func() {
		<-gate
		planted_section(server)
		close(served)
	}()
	channel := *(*unsafe.Pointer)(unsafe.Pointer(&planted_lock))
	run("unbuffered channel", channel, func(self *goroutine) {
		if self == server {
			return
		}
		for !over() {
			self.think()
			planted_sending(self)
		}
	}, func() {
		close(planted_lock)
		<-served
	})
}
