// Verifies the signatures of standard input by the portable engine, and prints a verdict for each: for .ci/arm64.
// A line is BITS X Y DIGEST R S, in hexadecimal; its verdict is 0 or 1, or 2 where another engine must decide.
#include "CBatchVerify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 6, NUMBERS = 5, LINE = 1024 };

/// The most significant word first, as the engines take them.
static void read_number(const char *text, int words, uint64_t *number) {
    for (int i = 0; i < words; i++) {
        char word[17] = {0};
        memcpy(word, text + 16 * i, 16);
        number[i] = strtoull(word, NULL, 16);
    }
}

static void *aligned(size_t bytes) {
    void *memory = aligned_alloc(CBV_ALIGNMENT, (bytes + CBV_ALIGNMENT - 1) / CBV_ALIGNMENT * CBV_ALIGNMENT);
    if (!memory) abort();
    return memory;
}

/// A batch of equal signatures shows whether lanes are mixed up, and is judged alike: in step and in two chunks, each by itself
/// with the generator's multiples made together, and without.
enum { BATCH = 35, SOME = 5, FEW = 3 };

static int verdict_256(const uint64_t number[NUMBERS][MOST_WORDS], void *scratch) {
    uint64_t n[NUMBERS][BATCH * 4], points[BATCH * 8 * CBV_P256_POINTS];
    for (int k = 0; k < NUMBERS; k++) {
        for (int i = 0; i < BATCH; i++) memcpy(n[k] + 4 * i, number[k], 32);
    }
    uint8_t verdict[BATCH + SOME + FEW];
    cbv_p256_points_portable(BATCH, n[0], n[1], points, scratch);
    cbv_p256_verify_portable(BATCH, points, n[2], n[3], n[4], verdict, scratch);
    cbv_p256_verify_portable(SOME, points, n[2], n[3], n[4], verdict + BATCH, scratch);
    cbv_p256_verify_portable(FEW, points, n[2], n[3], n[4], verdict + BATCH + SOME, scratch);
    for (int i = 1; i < BATCH + SOME + FEW; i++) {
        if (verdict[i] != verdict[0]) return -1;
    }
    return verdict[0];
}

static int verdict_384(const uint64_t number[NUMBERS][MOST_WORDS], const void *generator, void *key, void *scratch) {
    uint8_t verdict;
    cbv_p384_table_make(number[0], number[1], key);
    cbv_p384_verify_portable(1, generator, key, number[2], number[3], number[4], &verdict, scratch);
    return verdict;
}

static const uint64_t generator_384[2][MOST_WORDS] = {
    {0xaa87ca22be8b0537, 0x8eb1c71ef320ad74, 0x6e1d3b628ba79b98, 0x59f741e082542a38, 0x5502f25dbf55296c, 0x3a545e3872760ab7},
    {0x3617de4a96262c6f, 0x5d9e98bf9292dc29, 0xf8f41dbd289a147c, 0xe9da3113b5f0b8c0, 0x0a60b1ce1d7e819d, 0x7a431d7c90ea0e5f},
};

int main(void) {
    cbv_p256_prepare();
    size_t bytes = cbv_p256_scratch_bytes() + cbv_p384_scratch_bytes();
    void *scratch = aligned(bytes), *generator = aligned(cbv_p384_table_bytes()), *key = aligned(cbv_p384_table_bytes());
    cbv_p384_table_make(generator_384[0], generator_384[1], generator);
    fprintf(stderr, "%s\n", cbv_missing_feature() ? cbv_missing_feature() : "IFMA");
    char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        int bits = atoi(strtok(line, " \n"));
        uint64_t number[NUMBERS][MOST_WORDS];
        for (int k = 0; k < NUMBERS; k++) read_number(strtok(NULL, " \n"), bits / 64, number[k]);
        printf("%d\n", bits == 256 ? verdict_256(number, scratch) : verdict_384(number, generator, key, scratch));
    }
}
