// Threads that share one absl::Mutex.
#include <absl/synchronization/mutex.h>

#include "../c/planted.h"

absl::Mutex planted_lock;

PLANTED_SECTION void planted_section(planted_thread *self) {
    absl::MutexLock held(&planted_lock);
    planted_hold(self);
}

static void body(planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    planted_run("c++", "absl::Mutex", &planted_lock, planted->threads, body);
}
