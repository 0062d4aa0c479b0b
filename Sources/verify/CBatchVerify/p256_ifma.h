/// The IFMA engine's share of what CBatchVerify.h declares.
#pragma once

#include <stddef.h>

/// The bytes that the IFMA engine needs of the caller's scratch.
size_t cbv_p256_ifma_scratch_bytes(void);
