#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry point for programs that keep their own main; the runtime comes with -sanitize=fuzzer.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
