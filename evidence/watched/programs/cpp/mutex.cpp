// Threads that share one std::mutex.
#include <mutex>

#include "../c/planted.h"

std::mutex planted_lock;

PLANTED_SECTION void planted_section(planted_thread *self) {
    std::lock_guard<std::mutex> held(planted_lock);
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
    planted_run("c++", "std::mutex", &planted_lock, planted->threads, body);
}
