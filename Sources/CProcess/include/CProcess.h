#ifndef CPROCESS_H
#define CPROCESS_H

#include <sys/types.h>

/// Starts a program without a shell, with this process's environment. It leads a group of its own and has /dev/null as
/// standard input, a pipe as standard output, this process's standard error, and nothing else of this process: no other
/// descriptor, no blocked signal, no handler.
///
/// `words` are the program's path and its arguments, and end with NULL. `output` becomes the pipe's end to read from.
/// Returns 0, or an error's number.
int process_start(char *const *words, pid_t *child, int *output);

/// Keeps this process's memory from core files and from other processes of its user. Returns 0, or -1.
int process_forbid_dumps(void);

/// Whether its memory is kept so.
int process_forbids_dumps(void);

#endif
