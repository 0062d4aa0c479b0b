// The sets of cores are an extension of glibc.
#define _GNU_SOURCE
#include "CProcessorProbe.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>

static cpu_set_t whole;
static int is_bound = 0;

/// Each thread has a set of its own. A thread that has ended meanwhile is skipped.
static int bind_threads(const cpu_set_t *cores) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return 0;
    for (struct dirent *entry; (entry = readdir(threads));) {
        int thread = atoi(entry->d_name);
        if (thread > 0) sched_setaffinity(thread, sizeof *cores, cores);
    }
    closedir(threads);
    return 1;
}

int probe_bind_to_one_core(void) {
    if (is_bound || sched_getaffinity(0, sizeof whole, &whole) != 0) return 0;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &whole)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        is_bound = bind_threads(&one);
        return is_bound;
    }
    return 0;
}

void probe_unbind(void) {
    if (is_bound) bind_threads(&whole);
    is_bound = 0;
}
