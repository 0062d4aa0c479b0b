#ifndef CRASH_MARK_H
#define CRASH_MARK_H

#include <stdint.h>

/// Slots that a process may have: lanes and loops together.
#define CRASH_MARK_MOST_SLOTS 1024

/// Handles the signals by which a process crashes. The handler copies the slot of the thread that crashed, as it was at
/// that moment, into `marks` and passes the signal to its previous handler: the process ends as it would have.
///
/// A slot has `words` 64-bit words; the first is the `pthread_self()` of the thread that works in it, or 0. Its mark has
/// `1 + words` words: the signal's number, then the copy. Slots and marks stay valid for as long as the process lives.
///
/// Call once. Returns 0, or -1 where there are too many slots or the system refuses.
int crash_mark_install(const int64_t *const *slots, int count, int words, int64_t *marks);

/// Gives the calling thread a stack for signal handlers, so that an overflow of its own stack can be marked too.
void crash_mark_prepare_thread(void);

#endif
