/// Room that the lab's P-256 calls need.
#pragma once

#include <stddef.h>

size_t cbv_lab_p256_scratch_bytes(void);
