#include "CBatchVerify.h"
#include "p384_invert.h"
#include "p384_table.h"

size_t cbv_p384_table_bytes(void)
{
    return sizeof(p384_table);
}

/// Replaces n numbers by their inverses with one inversion; prefix has room for n.
static void invert_all(size_t n, p384_number *a, p384_number *prefix)
{
    prefix[0] = a[0];
    for (size_t i = 1; i < n; i++) p384_multiply(&prefix[i], &prefix[i - 1], &a[i]);
    p384_number inverse;
    cbv_p384_field_invert(&inverse, &prefix[n - 1]);
    for (size_t i = n - 1; i > 0; i--) {
        p384_number of_this;
        p384_multiply(&of_this, &inverse, &prefix[i - 1]);
        p384_multiply(&inverse, &inverse, &a[i]);
        a[i] = of_this;
    }
    a[0] = inverse;
}

/// r = the third point on the line through a that has this slope, mirrored; other_x is the second point's x.
static void finish_addition(p384_point *r, const p384_point *a, const p384_number *other_x, const p384_number *slope)
{
    p384_number x, y;
    p384_square(&x, slope);
    p384_subtract(&x, &x, &a->x);
    p384_subtract(&x, &x, other_x);
    p384_subtract(&y, &a->x, &x);
    p384_multiply(&y, &y, slope);
    p384_subtract(&y, &y, &a->y);
    p384_make_canonical(&x);
    p384_make_canonical(&y);
    *r = (p384_point){x, y};
}

/// 2 a, given 1 / (2 y).
static void double_point(p384_point *r, const p384_point *a, const p384_number *inverse)
{
    static const p384_number one = {{1, 0, 0, 0, 0, 0}};
    // The curve is y^2 = x^3 - 3 x + b: its slope is 3 (x^2 - 1) / (2 y).
    p384_number slope, triple;
    p384_square(&slope, &a->x);
    p384_subtract(&slope, &slope, &one);
    p384_add(&triple, &slope, &slope);
    p384_add(&slope, &triple, &slope);
    p384_multiply(&slope, &slope, inverse);
    finish_addition(r, a, &a->x, &slope);
}

/// Point 2^(8 w) * P of each window; one inversion for each doubling.
static void make_bases(p384_table *table, p384_point base)
{
    for (int window = 0;; window++) {
        table->point[window][0] = base;
        if (window == P384_WINDOWS - 1) return;
        for (int doubling = 0; doubling < 8; doubling++) {
            p384_number inverse;
            p384_add(&inverse, &base.y, &base.y);
            cbv_p384_field_invert(&inverse, &inverse);
            double_point(&base, &base, &inverse);
        }
    }
}

void cbv_p384_table_make(const uint64_t *x, const uint64_t *y, void *table)
{
    p384_table *t = table;
    p384_number denominator[P384_WINDOWS], prefix[P384_WINDOWS];
    make_bases(t, (p384_point){p384_read(x), p384_read(y)});
    for (int window = 0; window < P384_WINDOWS; window++) {
        const p384_number *base_y = &t->point[window][0].y;
        p384_add(&denominator[window], base_y, base_y);
    }
    invert_all(P384_WINDOWS, denominator, prefix);
    for (int window = 0; window < P384_WINDOWS; window++) {
        double_point(&t->point[window][1], &t->point[window][0], &denominator[window]);
    }
    // No addition below is exceptional: the point's order is a prime far above 128.
    for (int j = 2; j < P384_MULTIPLES; j++) {
        for (int window = 0; window < P384_WINDOWS; window++) {
            p384_point *of_window = t->point[window];
            p384_subtract(&denominator[window], &of_window[j - 1].x, &of_window[0].x);
        }
        invert_all(P384_WINDOWS, denominator, prefix);
        for (int window = 0; window < P384_WINDOWS; window++) {
            p384_point *of_window = t->point[window];
            p384_number slope;
            p384_subtract(&slope, &of_window[j - 1].y, &of_window[0].y);
            p384_multiply(&slope, &slope, &denominator[window]);
            finish_addition(&of_window[j], &of_window[0], &of_window[j - 1].x, &slope);
        }
    }
}
