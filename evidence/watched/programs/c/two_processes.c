/* Two processes that share a pthread mutex in a mapping of a file. The mapping lies elsewhere in the
 * second process, so that nobody can take the address for the lock. */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "planted.h"

static const size_t size = 1 << 16;
pthread_mutex_t *planted_lock;

PLANTED_SECTION void planted_section(struct planted_thread *self) {
    pthread_mutex_lock(planted_lock);
    planted_hold(self);
    pthread_mutex_unlock(planted_lock);
}

static void body(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

static pthread_mutex_t *map(int file) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        planted_fail("mapping the file");
    return (pthread_mutex_t *)memory;
}

/* A file that has no name any more, so that nothing is left of it however the program ends. */
static int file_of_lock(void) {
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/planted-XXXXXX", folder != NULL ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0 || unlink(path) != 0 || ftruncate(file, (off_t)size) != 0)
        planted_fail(path);
    return file;
}

/* What the second process does: it sends the address of its mapping and starts its threads. */
static void second(int file, int report, pid_t parent, int first) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    void *inherited = planted_lock;
    planted_lock = map(file);
    munmap(inherited, size);
    close(planted_gate[1]);
    pthread_t handles[PLANTED_THREADS_MOST];
    planted_start(handles, first, planted->threads, body);
    if (write(report, &planted_lock, sizeof planted_lock) != (ssize_t)sizeof planted_lock)
        _exit(1);
    planted_join(handles, first, planted->threads);
    _exit(0);
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    if (planted->threads < 2)
        planted->threads = 2;
    int file = file_of_lock(), report[2];
    planted_lock = map(file);
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(planted_lock, &shared);
    int here = (planted->threads + 1) / 2;
    pid_t parent = getpid();
    if (pipe(report) != 0)
        planted_fail("a pipe");
    pid_t child = fork();
    if (child < 0)
        planted_fail("a second process");
    if (child == 0)
        second(file, report[1], parent, here);
    close(report[1]);
    void *there;
    if (read(report[0], &there, sizeof there) != (ssize_t)sizeof there)
        planted_fail("the second process");
    pthread_t handles[PLANTED_THREADS_MOST];
    planted_start(handles, 0, here, body);
    char line[128];
    snprintf(line, sizeof line, "%d %p %d %p", (int)parent, (void *)planted_lock, (int)child, there);
    planted_open(line);
    planted_join(handles, 0, here);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
        fprintf(stderr, "planted: the second process ended with status %d\n", status);
        return 1;
    }
    planted_truth("c", "pthread_mutex_pshared");
    return 0;
}
