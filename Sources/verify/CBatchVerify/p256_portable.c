// ECDSA over P-256 on any processor by columns: a large group follows them in step, and few signatures each by itself.
#include "p256_portable.h"

#include <string.h>

#include "p256_columns.h"
#include "p256_order.h"

typedef struct cbv_element element;

enum {
    /// A group of so many follows its columns in step. One signature alone takes five times as long that way, and 64 a tenth
    /// less.
    LEAST_GROUP = 32,
    /// So many multiples of the generator are made together: of eight signatures each takes 4 % less time, and one alone 24 % more.
    LEAST_SHARED = 4,
};

/// p - n, in two words with the most significant first.
static const uint64_t prime_less_order[2] = {0x4319055358e8617b, 0x0c46353d039cdaae};

/// n as an element.
static const element order_element = {{0x9ad169483335f568, 0x89b1054463fe9931, 0x9c0166ce652e96b7, 0x98648c200fe30feb}};

struct scratch {
    struct cbv_affine base[CBV_MOST][CBV_BASES];
    struct cbv_jacobian point[CBV_MOST][CBV_BASES];
    struct cbv_inverses inverses;
    struct cbv_columns columns;
    element x[CBV_MOST];
    uint64_t u1[CBV_MOST * 4], u2[CBV_MOST * 4];
    uint8_t sound[CBV_MOST], is_rare[CBV_MOST];
};

size_t cbv_p256_portable_scratch_bytes(void) {
    return sizeof(struct scratch);
}

void cbv_p256_points_portable(size_t count, const uint64_t *x, const uint64_t *y, uint64_t *points, void *memory) {
    struct scratch *scratch = memory;
    for (size_t index = 0; index < count; index++) {
        struct cbv_affine key;
        struct cbv_jacobian *point = scratch->point[index];
        scratch->sound[index] = cbv_affine_read(x + 4 * index, y + 4 * index, &key) != 0;
        // An unsound key is replaced, so that it stays alone.
        if (!scratch->sound[index]) key = cbv_p256_generator();
        point[0] = (struct cbv_jacobian){key.x, key.y, cbv_element_one};
        for (int base = 1; base < CBV_BASES; base++) {
            point[base] = point[base - 1];
            for (int bit = 0; bit < CBV_COLUMNS; bit++) cbv_jacobian_double(&point[base]);
        }
    }
    cbv_jacobian_normalise(scratch->point[0], count * CBV_BASES, scratch->base[0], &scratch->inverses);
    cbv_p256_pairs(count, scratch->base, &scratch->columns);
    const struct cbv_affine *made = &scratch->columns.pair[0][0][0];
    for (size_t place = 0; place < count * CBV_P256_POINTS; place++) {
        cbv_affine_store(made[place], points + 8 * place);
        if (!scratch->sound[place / CBV_P256_POINTS]) memset(points + 8 * place, 0, 8 * sizeof *points);
    }
}

/// Which signatures go on: the range of r and s, the key on the curve. The others get stand-ins: one bad member of a group
/// must not change another's verdict.
static void judge(size_t count, const uint64_t *points, const uint64_t *stand_in, struct scratch *scratch,
                  uint8_t *verdict) {
    struct cbv_affine *read = &scratch->columns.pair[0][0][0];
    for (size_t index = 0; index < count; index++) {
        const uint64_t *own = points + 8 * CBV_P256_POINTS * index;
        const int has_points = cbv_p256_has_points(own);
        verdict[index] = scratch->sound[index] && has_points ? CBV_VALID : CBV_REFUSED;
        if (!scratch->sound[index]) scratch->u2[4 * index + 3] = 1;
        if (!has_points) own = stand_in;
        for (int place = 0; place < CBV_P256_POINTS; place++) *read++ = cbv_affine_load(own + 8 * place);
    }
}

/// Whether x / zz is r modulo the order.
static int is_coordinate(element x, element zz, const uint64_t *r) {
    element number = {{r[3], r[2], r[1], r[0]}}, candidate = cbv_element_of(number);
    if (cbv_element_equals(cbv_element_multiply(candidate, zz), x)) return 1;
    // The coordinate, below p, may be r + n as well.
    if (r[0] != 0 || r[1] != 0) return 0;
    if (r[2] > prime_less_order[0] || (r[2] == prime_less_order[0] && r[3] >= prime_less_order[1])) return 0;
    candidate = cbv_element_add(candidate, order_element);
    return cbv_element_equals(cbv_element_multiply(candidate, zz), x);
}

/// Decides one signature whose columns are there; `has_multiple` where that of the generator is, too. Right for all scalars.
static uint8_t judge_alone(size_t index, const uint64_t *r, int has_multiple, const struct scratch *scratch) {
    const struct cbv_columns *columns = &scratch->columns;
    const struct cbv_affine *top = &columns->column[CBV_COLUMNS - 1][index];
    struct cbv_jacobian sum = {top->x, top->y, cbv_element_one};
    for (int column = CBV_COLUMNS - 2; column >= 0; column--) {
        cbv_jacobian_double(&sum);
        cbv_jacobian_add(&sum, &columns->column[column][index], 0);
    }
    if (!has_multiple) {
        struct cbv_term term[CBV_WINDOWS];
        const size_t terms = cbv_p256_terms(scratch->u1 + 4 * index, term);
        for (size_t place = 0; place < terms; place++) {
            cbv_jacobian_add(&sum, term[place].point, term[place].minus != 0);
        }
    } else if (columns->exists[index]) {
        cbv_jacobian_add(&sum, &columns->generator[index], 0);
    }
    if (cbv_element_is_zero(sum.z)) return CBV_REFUSED;
    return is_coordinate(sum.x, cbv_element_square(sum.z), r + 4 * index) ? CBV_VALID : CBV_REFUSED;
}

/// A few signatures, each with doublings of its own.
static void verify_few(size_t count, const uint64_t *r, uint8_t *verdict, struct scratch *scratch) {
    struct cbv_columns *columns = &scratch->columns;
    const int shares = count >= LEAST_SHARED;
    if (shares) cbv_p256_multiply(count, scratch->u1, columns->generator, columns->exists, &columns->sums);
    for (size_t index = 0; index < count; index++) {
        if (verdict[index] == CBV_VALID) verdict[index] = judge_alone(index, r, shares, scratch);
    }
}

void cbv_p256_verify_portable(size_t count, const uint64_t *points, const uint64_t *digest, const uint64_t *r,
                              const uint64_t *s, uint8_t *verdict, void *memory) {
    struct scratch *scratch = memory;
    const uint64_t *stand_in = cbv_p256_stand_in(count, points);
    if (!stand_in) {
        memset(verdict, CBV_REFUSED, count);
        return;
    }
    cbv_p256_scalars(count, digest, r, s, scratch->u1, scratch->u2, scratch->sound);
    judge(count, points, stand_in, scratch, verdict);
    cbv_p256_columns(count, scratch->u2, &scratch->columns);
    if (count < LEAST_GROUP) return verify_few(count, r, verdict, scratch);
    cbv_p256_columns_sum(count, scratch->u1, scratch->x, scratch->is_rare, &scratch->columns);
    for (size_t index = 0; index < count; index++) {
        if (verdict[index] != CBV_VALID) continue;
        verdict[index] = scratch->is_rare[index] ? judge_alone(index, r, 1, scratch)
                                                 : (uint8_t)is_coordinate(scratch->x[index], cbv_element_one, r + 4 * index);
    }
}
