#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <unistd.h>

extern char **environ;

static int spawn(char *const *words, int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
        if (code == 0) code = posix_spawnattr_setsigmask(&attributes, &none);
        if (code == 0) code = posix_spawnattr_setsigdefault(&attributes, &all);
        short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
        if (code == 0) code = posix_spawnattr_setflags(&attributes, flags);
        if (code == 0) code = posix_spawn(child, words[0], &actions, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int process_start(char *const *words, pid_t *child, int *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    int code = spawn(words, ends[1], child);
    close(ends[1]);
    if (code == 0) *output = ends[0];
    else close(ends[0]);
    return code;
}

int process_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int process_forbids_dumps(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0; }
