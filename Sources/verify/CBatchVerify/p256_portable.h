/// The P-256 engine for every processor. Its calls for the outside are in CBatchVerify.h.
#pragma once

#include <stddef.h>

/// The bytes that the engine needs of the caller's scratch.
size_t cbv_p256_portable_scratch_bytes(void);
