/* A library that stands in for a kernel whose pages have 64 KiB, as far as the C library can be asked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

long sysconf(int name)
{
	static long (*next)(int);

	if (name == _SC_PAGESIZE)
		return 65536;
	if (!next)
		next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
	return next ? next(name) : -1;
}
