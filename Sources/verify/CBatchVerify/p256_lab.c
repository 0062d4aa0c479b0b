// Multiples of the generator and signatures for the lab.
#include "p256_lab.h"

#include <string.h>

#include "p256_order.h"
#include "p256_windows.h"

struct scratch {
    struct cbv_affine point[CBV_MOST];
    struct cbv_sums sums;
    uint64_t xy[CBV_MOST * 8], product[CBV_MOST * 4], u1[CBV_MOST * 4], u2[CBV_MOST * 4];
    uint8_t sound[CBV_MOST];
};

static const uint64_t order[4] = {0xf3b9cac2fc632551, 0xbce6faada7179e84, UINT64_MAX, 0xffffffff00000000};

/// 2^512 modulo the order.
static const uint64_t order_radix_squared[4] = {0x83244c95be79eea2, 0x4699799c49bd6fa6, 0x2845b2392b6bec59,
                                                0x66e12d94f3d95620};

size_t cbv_lab_p256_scratch_bytes(void) {
    return sizeof(struct scratch);
}

CBV_INLINE void read_number(const uint64_t *words, uint64_t number[4]) {
    for (int word = 0; word < 4; word++) number[word] = words[3 - word];
}

CBV_INLINE void write_number(const uint64_t number[4], uint64_t *words) {
    for (int word = 0; word < 4; word++) words[3 - word] = number[word];
}

void cbv_lab_p256_reduce(size_t count, uint64_t *words) {
    for (size_t index = 0; index < count; index++) {
        uint64_t number[4], less[4], borrow = 0;
        read_number(words + 4 * index, number);
        // Once is enough: the order is above 2^255.
        for (int word = 0; word < 4; word++) less[word] = cbv_subtract(number[word], order[word], &borrow);
        if (!borrow) memcpy(number, less, sizeof less);
        if ((number[0] | number[1] | number[2] | number[3]) == 0) number[0] = 1;
        write_number(number, words + 4 * index);
    }
}

void cbv_lab_p256_multiply(size_t count, const uint64_t *scalar, uint64_t *xy, void *memory) {
    struct scratch *scratch = memory;
    cbv_p256_multiply(count, scalar, scratch->point, scratch->sound, &scratch->sums);
    for (size_t index = 0; index < count; index++) {
        write_number(cbv_element_number(scratch->point[index].x).word, xy + 8 * index);
        write_number(cbv_element_number(scratch->point[index].y).word, xy + 8 * index + 4);
    }
}

/// a + b modulo the order, for numbers below it.
static void add(const uint64_t a[4], const uint64_t b[4], uint64_t sum[4]) {
    uint64_t carry = 0, borrow = 0, less[4];
    for (int word = 0; word < 4; word++) sum[word] = cbv_add(a[word], b[word], &carry);
    for (int word = 0; word < 4; word++) less[word] = cbv_subtract(sum[word], order[word], &borrow);
    if (carry || !borrow) memcpy(sum, less, sizeof less);
}

void cbv_lab_p256_sign(size_t count, const uint64_t *d, const uint64_t *k, const uint64_t *digest, uint64_t *r,
                       uint64_t *s, void *memory) {
    static const uint64_t zero[4] = {0};
    struct scratch *scratch = memory;
    uint64_t number[4], key[4];
    cbv_lab_p256_multiply(count, k, scratch->xy, memory);
    for (size_t index = 0; index < count; index++) {
        // r is x modulo the order; p is below twice the order.
        read_number(scratch->xy + 8 * index, number);
        add(number, zero, number);
        write_number(number, r + 4 * index);
        read_number(d + 4 * index, key);
        cbv_p256_order_multiply(key, order_radix_squared, key);
        cbv_p256_order_multiply(number, key, number);
        write_number(number, scratch->product + 4 * index);
    }
    // s = digest / k + r d / k.
    cbv_p256_scalars(count, digest, scratch->product, k, scratch->u1, scratch->u2, scratch->sound);
    for (size_t index = 0; index < count; index++) {
        uint64_t first[4], second[4];
        read_number(scratch->u1 + 4 * index, first);
        read_number(scratch->u2 + 4 * index, second);
        add(first, second, number);
        write_number(number, s + 4 * index);
        if (scratch->sound[index] && (number[0] | number[1] | number[2] | number[3]) != 0) continue;
        memset(r + 4 * index, 0, sizeof number);
        memset(s + 4 * index, 0, sizeof number);
    }
}
