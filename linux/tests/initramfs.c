// SPDX-License-Identifier: GPL-2.0
// The first process of a kernel that has to load modules before it can mount the host's files: loads those in `/modules`
// in the order of their names, mounts as `rootflags=` of the kernel's command line says, and becomes the program of its `init=`.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOST "/host"

static void must(int failed, const char *what)
{
	if (failed) {
		perror(what);
		exit(1); // which the kernel takes as a reason to stop
	}
}

static void load(const char *name)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	must(file < 0, name);
	must(syscall(SYS_finit_module, file, "", 0) != 0, name);
	close(file);
}

// Where the value of the argument NAME begins in the kernel's command line.
static char *word_of(char *line, const char *name)
{
	char *word = strstr(line, name);
	must(!word, name);
	return word + strlen(name);
}

int main(void)
{
	struct dirent **modules;
	must(chdir("/modules") != 0, "/modules");
	int count = scandir(".", &modules, NULL, alphasort);
	must(count < 0, "/modules");
	for (int i = 0; i < count; i++)
		if (modules[i]->d_name[0] != '.')
			load(modules[i]->d_name);

	must(mount("proc", "/proc", "proc", 0, NULL) != 0, "/proc");
	static char line[4096];
	int file = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	must(file < 0 || read(file, line, sizeof(line) - 1) <= 0, "/proc/cmdline");
	close(file);
	umount("/proc");
	char *init = word_of(line, " init=");
	char *flags = word_of(line, " rootflags=");
	init[strcspn(init, " \n")] = 0;
	flags[strcspn(flags, " \n")] = 0;

	must(mount("host", HOST, "9p", MS_RDONLY, flags) != 0, "9p");
	must(mount("devices", HOST "/dev", "devtmpfs", 0, NULL) != 0, "devtmpfs");
	must(chdir(HOST) != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0, HOST);
	execl(init, init, NULL);
	must(1, init);
}
