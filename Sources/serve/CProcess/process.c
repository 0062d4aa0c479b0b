#include "CProcess.h"

#include <sys/prctl.h>

int process_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int process_forbids_dumps(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0; }
