/* Threads that map memory, touch it and unmap it: each time the kernel takes a lock of the whole
 * process. Only the kernel's lock stands between them; the program has none.
 *
 * A round takes the thread HOLD_US, spinning for the lock included, and THINK_US pass between two. */
#include "planted.h"

enum { PAGE = 4096, PAGES = 64 };

PLANTED_SECTION void planted_section(struct planted_thread *self) {
    uint64_t taken = planted_now(), start = planted_ran();
    do {
        char *pages = (char *)mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            planted_fail("mapping memory");
        for (int i = 0; i < PAGES; i++)
            *(volatile char *)(pages + i * PAGE) = 1;
        munmap(pages, PAGES * PAGE);
    } while (planted_ran() - start < planted->hold_ns);
    planted_count_hold(&self->exclusive, taken, planted_ran() - start);
}

static void body(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    planted_run("c", "kernel", NULL, planted->threads, body);
    return 0;
}
