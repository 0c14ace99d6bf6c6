/*
 * The dynamic linker holds its lock while a constructor runs. A constructor may wait for another thread, and
 * what that thread calls for the first time must not need the lock. Nor may a call take away what the linker
 * has to say of an earlier failure. The arguments are what to look at and the function to call.
 *
 * The same file, compiled with LIBRARY, is the library whose constructor waits.
 */
#ifdef LIBRARY
extern void wait_for_the_call(void);

__attribute__((constructor)) static void start(void)
{
	wait_for_the_call();
}
#else
#include "check.h"
#include <dlfcn.h>
#include <semaphore.h>

static sem_t in_constructor, called;

void wait_for_the_call(void)
{
	CHECK(sem_post(&in_constructor) == 0);
	while (sem_wait(&called) != 0)
		;
}

static void *volatile kept;
static char pages[8192] __attribute__((aligned(4096)));

static void call_mmap(void) { kept = map(65536); }
static void call_munmap(void) { munmap(pages + 4096, 4096); }
static void call_mremap(void) { kept = mremap(pages, 4096, 4096, 0); }
static void call_mprotect(void) { mprotect(pages, 4096, PROT_READ | PROT_WRITE); }
static void call_madvise(void) { madvise(pages, 4096, MADV_NORMAL); }
static void call_posix_madvise(void) { posix_madvise(pages, 4096, POSIX_MADV_NORMAL); }
static void call_mlock(void) { mlock(pages, 4096); }
static void call_munlock(void) { munlock(pages, 4096); }
static void call_msync(void) { msync(pages, 4096, MS_ASYNC); }
static void call_malloc(void) { kept = malloc(500000); }
static void call_calloc(void) { kept = calloc(1, 500000); }
static void call_realloc(void) { kept = realloc(malloc(10), 500000); }
static void call_memalign(void) { kept = aligned_alloc(4096, 500000 / 4096 * 4096); }
static void call_free(void) { free(malloc(10)); }
static void call_small(void) { kept = malloc(10); }

/* The library of the pool exports it, and the C library does not. */
__attribute__((weak)) long mbind(void *, unsigned long, int, const unsigned long *, unsigned long, unsigned);

static void call_mbind(void)
{
	if (mbind)
		mbind(pages, 4096, 0, NULL, 0, 0);
}

static void call_setrlimit(void)
{
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_CORE, &limit) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0);
}

static void call_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void call_exit(void)
{
	CHECK(write(1, "ok\n", 3) == 3);
	_exit(0);
}

static const struct {
	const char *name;
	void (*call)(void);
} functions[] = {
	{ "mmap", call_mmap },         { "munmap", call_munmap },     { "mremap", call_mremap },
	{ "mprotect", call_mprotect }, { "madvise", call_madvise },   { "posix_madvise", call_posix_madvise },
	{ "mlock", call_mlock },       { "munlock", call_munlock },   { "msync", call_msync },
	{ "malloc", call_malloc },     { "calloc", call_calloc },     { "realloc", call_realloc },
	{ "memalign", call_memalign }, { "free", call_free },         { "small", call_small },
	{ "mbind", call_mbind },       { "setrlimit", call_setrlimit }, { "fork", call_fork },
	{ "_exit", call_exit },
};

static void (*call)(void);

static void *thread(void *argument)
{
	while (sem_wait(&in_constructor) != 0)
		;
	call();
	CHECK(sem_post(&called) == 0);
	return argument;
}

int main(int arguments, char **words)
{
	pthread_t other;
	size_t at;

	CHECK(arguments == 4);
	/* Nothing has failed yet that the program knows of. */
	CHECK(dlerror() == NULL);
	for (at = 0; at < sizeof functions / sizeof *functions; at++)
		if (strcmp(functions[at].name, words[2]) == 0)
			call = functions[at].call;
	CHECK(call != NULL);
	if (strcmp(words[1], "lock") == 0) {
		CHECK(sem_init(&in_constructor, 0, 0) == 0 && sem_init(&called, 0, 0) == 0);
		CHECK(pthread_create(&other, NULL, thread, NULL) == 0);
		CHECK(dlopen(words[3], RTLD_NOW) != NULL);
		CHECK(pthread_join(other, NULL) == 0);
	} else {
		CHECK(dlopen("/no/such/library", RTLD_NOW) == NULL);
		call();
		CHECK(dlerror() != NULL);
	}
	puts("ok");
	return 0;
}
#endif
