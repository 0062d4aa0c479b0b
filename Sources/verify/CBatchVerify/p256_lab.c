// Multiples of the generator for the lab: a point of the table for each byte of the scalar, added in pairs, so that all
// additions of a round share one inversion.
#include "p256_lab.h"

#include <string.h>

#include "p256_order.h"
#include "p256_points.h"

typedef struct cbv_element element;

enum {
    WINDOWS = 32,
    /// A digit is between -128 and 128.
    MULTIPLES = 128,
    PAIRS = WINDOWS / 2,
};

/// j 2^(8 w) G, for each window w and j from 1 on.
static struct cbv_affine table[WINDOWS][MULTIPLES] __attribute__((aligned(64)));

struct scratch {
    struct cbv_affine point[CBV_MOST][WINDOWS];
    /// How many points of a sum are left.
    int left[CBV_MOST];
    element value[CBV_MOST * PAIRS], through[CBV_MOST * PAIRS + 2];
    uint64_t xy[CBV_MOST * 8], product[CBV_MOST * 4], u1[CBV_MOST * 4], u2[CBV_MOST * 4];
    uint8_t sound[CBV_MOST];
};

static const uint64_t order[4] = {0xf3b9cac2fc632551, 0xbce6faada7179e84, UINT64_MAX, 0xffffffff00000000};

/// (order - 1) / 2.
static const uint64_t half_order[4] = {0x79dce5617e3192a8, 0xde737d56d38bcf42, 0x7fffffffffffffff, 0x7fffffff80000000};

/// 2^512 modulo the order.
static const uint64_t order_radix_squared[4] = {0x83244c95be79eea2, 0x4699799c49bd6fa6, 0x2845b2392b6bec59,
                                                0x66e12d94f3d95620};

size_t cbv_lab_p256_scratch_bytes(void) {
    return sizeof(struct scratch);
}

void cbv_lab_p256_prepare(void) {
    struct cbv_inverses inverses;
    struct cbv_affine base[WINDOWS], generator = cbv_p256_generator();
    struct cbv_jacobian point[WINDOWS] = {{generator.x, generator.y, cbv_element_one}};
    for (int window = 1; window < WINDOWS; window++) {
        point[window] = point[window - 1];
        for (int bit = 0; bit < 8; bit++) cbv_jacobian_double(&point[window]);
    }
    cbv_jacobian_normalise(point, WINDOWS, base, 1, &inverses);
    cbv_jacobian_normalise(point, WINDOWS, &table[0][0], MULTIPLES, &inverses);
    for (int window = 0; window < WINDOWS; window++) cbv_jacobian_double(&point[window]);
    cbv_jacobian_normalise(point, WINDOWS, &table[0][1], MULTIPLES, &inverses);
    for (int index = 2; index < MULTIPLES; index++) {
        cbv_affine_add(&table[0][index - 1], MULTIPLES, base, WINDOWS, &table[0][index], &inverses);
    }
}

/// number = minuend - number, which is not negative.
static void subtract_from(const uint64_t minuend[4], uint64_t number[4]) {
    uint64_t borrow = 0;
    for (int word = 0; word < 4; word++) number[word] = cbv_subtract(minuend[word], number[word], &borrow);
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

/// The points of the digits of a scalar, in their order; digits are bytes that may borrow from the next one.
static int gather(const uint64_t *words, struct cbv_affine *point) {
    uint64_t scalar[4], borrow = 0;
    read_number(words, scalar);
    for (int word = 0; word < 4; word++) cbv_subtract(half_order[word], scalar[word], &borrow);
    // Above half of the order, the opposite is taken: so 32 digits are enough, and no sum meets its equal or opposite.
    int count = 0, negative = (int)borrow, carry = 0;
    if (negative) subtract_from(order, scalar);
    for (int window = 0; window < WINDOWS; window++) {
        int digit = (int)(scalar[window / 8] >> (8 * (window % 8)) & 255) + carry;
        carry = digit > 128;
        if (carry) digit = 256 - digit;
        if (digit == 0) continue;
        point[count] = table[window][digit - 1];
        if (carry != negative) point[count].y = cbv_element_negate(point[count].y);
        count++;
    }
    return count;
}

/// Adds neighbours, which halves the number of points. Returns how many pairs there were.
static size_t add_pairs(size_t count, struct scratch *scratch) {
    size_t pairs = 0, next = 0;
    for (size_t index = 0; index < count; index++) {
        struct cbv_affine *point = scratch->point[index];
        for (int place = 0; place + 1 < scratch->left[index]; place += 2) {
            scratch->value[pairs++] = cbv_element_subtract(point[place + 1].x, point[place].x);
        }
    }
    if (pairs == 0) return 0;
    cbv_element_invert(scratch->value, scratch->through, pairs);
    for (size_t index = 0; index < count; index++) {
        struct cbv_affine *point = scratch->point[index];
        int left = scratch->left[index], place = 0;
        for (; 2 * place + 1 < left; place++) {
            const struct cbv_affine *a = &point[2 * place], *b = &point[2 * place + 1];
            element slope = cbv_element_multiply(cbv_element_subtract(b->y, a->y), scratch->value[next++]);
            point[place] = cbv_affine_follow(a, b->x, slope);
        }
        if (left % 2 != 0) point[place++] = point[left - 1];
        scratch->left[index] = place;
    }
    return pairs;
}

void cbv_lab_p256_multiply(size_t count, const uint64_t *scalar, uint64_t *xy, void *memory) {
    struct scratch *scratch = memory;
    for (size_t index = 0; index < count; index++) {
        scratch->left[index] = gather(scalar + 4 * index, scratch->point[index]);
    }
    while (add_pairs(count, scratch) > 0) {
    }
    for (size_t index = 0; index < count; index++) {
        write_number(cbv_element_number(scratch->point[index][0].x).word, xy + 8 * index);
        write_number(cbv_element_number(scratch->point[index][0].y).word, xy + 8 * index + 4);
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
