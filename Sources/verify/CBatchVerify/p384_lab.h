/// Room that the lab's P-384 calls need.
#pragma once

#include <stddef.h>

size_t cbv_lab_p384_scratch_bytes(void);
