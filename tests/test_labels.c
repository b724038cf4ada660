/* The places of names on a map: no two overlap, all are inside, each belongs to its own class. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "plot/labels.h"

enum { MAX_COUNT = 150, DOTS_EACH = 40, MAX_DOTS = MAX_COUNT * DOTS_EACH };
static const double height = 14.95;

static double at[2 * MAX_COUNT], width[MAX_COUNT], center[2 * MAX_COUNT];
static label_dot dot[MAX_DOTS];

static label_request make_request(int32_t count)
{
    return (label_request){count, at, width, height, {14, 33.8, 746.5, 601.3}, dot, 0};
}

/* Places in random order over the box and its border, with clusters of dots of different sizes. */
static label_request make_map(int32_t count, uint64_t seed)
{
    label_request r = make_request(count);
    for (int32_t i = 0; i < count; i++) {
        const uint64_t k = (uint64_t)i;
        at[2 * i] = r.box[0] + (r.box[2] - r.box[0]) * eh_random_unit(seed, 1, k);
        at[2 * i + 1] = r.box[1] + (r.box[3] - r.box[1]) * eh_random_unit(seed, 2, k);
        width[i] = 9.3 + 61 * eh_random_unit(seed, 3, k);
        const double size = 60 * eh_random_unit(seed, 4, k);
        for (int j = 0; j < DOTS_EACH; j++)
            dot[r.dots++] = (label_dot){
                (float)(at[2 * i] + size * (eh_random_unit(seed, 5 + k, (uint64_t)j) - 0.5)),
                (float)(at[2 * i + 1] + size * (eh_random_unit(seed, 500 + k, (uint64_t)j) - 0.5)), 1.0F / DOTS_EACH};
    }
    return r;
}

static bool is_placed(int32_t i)
{
    return isfinite(center[2 * i]) && isfinite(center[2 * i + 1]);
}

/* From the rectangle of label i to place k. */
static double distance_to(int32_t i, int32_t k)
{
    const double dx = fabs(center[2 * i] - at[2 * k]) - width[i] / 2;
    const double dy = fabs(center[2 * i + 1] - at[2 * k + 1]) - height / 2;
    return hypot(fmax(dx, 0), fmax(dy, 0));
}

static void check_label(const label_request *r, int32_t i)
{
    assert_true(center[2 * i] - width[i] / 2 >= r->box[0] && center[2 * i] + width[i] / 2 <= r->box[2]);
    assert_true(center[2 * i + 1] - height / 2 >= r->box[1] && center[2 * i + 1] + height / 2 <= r->box[3]);
    for (int32_t k = 0; k < r->count; k++) {
        if (k == i) continue;
        assert_true(distance_to(i, k) > distance_to(i, i));
        if (!is_placed(k)) continue;
        const bool apart_x = fabs(center[2 * i] - center[2 * k]) >= (width[i] + width[k]) / 2;
        const bool apart_y = fabs(center[2 * i + 1] - center[2 * k + 1]) >= height;
        assert_true(apart_x || apart_y);
    }
}

static void labels_never_overlap_leave_the_frame_or_name_another_class(void **state)
{
    (void)state;
    int32_t placed = 0, total = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const int32_t count = (int32_t)(seed * seed) + 6;
        const label_request r = make_map(count, seed);
        const int32_t missing = labels_place(&r, center);
        int32_t without = 0;
        for (int32_t i = 0; i < count; i++) {
            without += !is_placed(i);
            if (is_placed(i)) check_label(&r, i);
        }
        assert_int_equal(missing, without);
        placed += count - missing;
        total += count;
    }
    assert_true(placed > 0.85 * total); /* random places are closer together than clusters */
}

static void a_hundred_classes_on_a_map_all_have_names(void **state)
{
    (void)state;
    label_request r = make_map(100, 3);
    for (int32_t i = 0; i < 100; i++) { /* about a lattice */
        at[2 * i] = 50.5 + 70 * (i % 10) + 12 * (eh_random_unit(7, 1, (uint64_t)i) - 0.5);
        at[2 * i + 1] = 60.5 + 54 * (double)(i / 10) + 9 * (eh_random_unit(7, 2, (uint64_t)i) - 0.5);
        width[i] = 61.7;
    }
    assert_int_equal(labels_place(&r, center), 0);
    for (int32_t i = 0; i < 100; i++) check_label(&r, i);
}

static void the_same_map_gives_identical_places(void **state)
{
    (void)state;
    static double again[2 * MAX_COUNT];
    const label_request r = make_map(90, 5);
    memset(center, 7, sizeof center);
    const int32_t missing = labels_place(&r, center);
    assert_int_equal(labels_place(&r, again), missing);
    assert_memory_equal(center, again, 2 * 90 * sizeof *center);
}

static void a_label_lies_on_its_place_if_it_hides_nothing(void **state)
{
    (void)state;
    label_request r = make_map(9, 2);
    r.dots = 0;
    for (int32_t i = 0; i < 9; i++) {
        at[2 * i] = 120.25 + 210.5 * (i % 3);
        at[2 * i + 1] = 130.5 + 171.75 * (double)(i / 3);
    }
    assert_int_equal(labels_place(&r, center), 0);
    assert_memory_equal(center, at, 2 * 9 * sizeof *center);
}

static void a_label_does_not_hide_a_small_class(void **state)
{
    (void)state;
    label_request r = make_request(1);
    at[0] = 301.5;
    at[1] = 299.25;
    width[0] = 40.5;
    r.dots = DOTS_EACH;
    for (int j = 0; j < DOTS_EACH; j++)
        dot[j] = (label_dot){(float)at[0] + (float)(j % 8) - 4, (float)at[1] + (float)(j / 8) - 2, 1.0F / DOTS_EACH};
    assert_int_equal(labels_place(&r, center), 0);
    for (int j = 0; j < DOTS_EACH; j++)
        assert_false(fabs((double)dot[j].x - center[0]) < width[0] / 2 &&
                     fabs((double)dot[j].y - center[1]) < height / 2);
    assert_true(distance_to(0, 0) < 2 * height);
}

static void a_place_in_a_corner_gets_a_label_inside(void **state)
{
    (void)state;
    const label_request r = make_request(2);
    at[0] = r.box[0];
    at[1] = r.box[1];
    at[2] = r.box[2];
    at[3] = r.box[3];
    width[0] = 55.5;
    width[1] = 83.25;
    assert_int_equal(labels_place(&r, center), 0);
    for (int32_t i = 0; i < 2; i++) check_label(&r, i);
}

static void classes_at_one_place_and_names_wider_than_the_frame_get_no_label(void **state)
{
    (void)state;
    const label_request r = make_request(4);
    for (int32_t i = 0; i < 4; i++) {
        at[2 * i] = i < 2 ? 200.5 : 455.25 + 31.5 * i;
        at[2 * i + 1] = i < 2 ? 200.5 : 500.75 - 62.5 * i;
        width[i] = i == 2 ? 733 : 23.5;
    }
    assert_int_equal(labels_place(&r, center), 3);
    assert_false(is_placed(0) || is_placed(1) || is_placed(2));
    assert_true(is_placed(3));
    width[0] = 0; /* a class without points */
    assert_int_equal(labels_place(&r, center), 1);
    assert_true(!is_placed(0) && is_placed(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_never_overlap_leave_the_frame_or_name_another_class),
        cmocka_unit_test(a_hundred_classes_on_a_map_all_have_names),
        cmocka_unit_test(the_same_map_gives_identical_places),
        cmocka_unit_test(a_label_lies_on_its_place_if_it_hides_nothing),
        cmocka_unit_test(a_label_does_not_hide_a_small_class),
        cmocka_unit_test(a_place_in_a_corner_gets_a_label_inside),
        cmocka_unit_test(classes_at_one_place_and_names_wider_than_the_frame_get_no_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
