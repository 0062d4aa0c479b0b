#ifndef CPROCESS_H
#define CPROCESS_H

/// Keeps this process's memory from core files and from other processes of its user. Returns 0, or -1.
int process_forbid_dumps(void);

/// Whether its memory is kept so.
int process_forbids_dumps(void);

#endif
