/* Compares the regions of figures with the k-nearest-neighbor rule on a grid. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "plot/regions.h"

enum { MAX_REFERENCES = 60 };
static const double box[4] = {-1.3, 0.4, 5.9, 6.1}, hair = 1e-6;

static double at[2 * MAX_REFERENCES];
static int32_t label[MAX_REFERENCES];

static region_rule make_rule(int32_t r, int32_t k, int32_t classes, uint64_t seed)
{
    for (int32_t i = 0; i < r; i++) {
        at[2 * i] = box[0] - 0.5 + (box[2] - box[0] + 1) * eh_random_unit(seed, 1, (uint64_t)i);
        at[2 * i + 1] = box[1] - 0.5 + (box[3] - box[1] + 1) * eh_random_unit(seed, 2, (uint64_t)i);
        label[i] = i < classes ? i : (int32_t)(eh_random_unit(seed, 3, (uint64_t)i) * classes);
    }
    region_rule rule = {r, k, at, label, {box[0], box[1], box[2], box[3]}};
    return rule;
}

/* Majority of the k nearest. Ties: the lower reference number is nearer; the class of the nearest
 * wins. */
static int32_t classify(const region_rule *rule, double x, double y)
{
    int32_t found[MAX_REFERENCES], winner = -1, max_votes = 0;
    for (int32_t j = 0; j < rule->k; j++) {
        double min_distance = HUGE_VAL;
        for (int32_t i = 0; i < rule->r; i++) {
            bool taken = false;
            for (int32_t t = 0; t < j; t++) taken |= found[t] == i;
            const double d = hypot(rule->at[2 * i] - x, rule->at[2 * i + 1] - y);
            if (taken || !(d < min_distance)) continue;
            min_distance = d;
            found[j] = i;
        }
    }
    for (int32_t j = 0; j < rule->k; j++) {
        int32_t count = 0;
        for (int32_t i = 0; i < rule->k; i++) count += rule->label[found[i]] == rule->label[found[j]];
        if (count > max_votes) {
            max_votes = count;
            winner = rule->label[found[j]];
        }
    }
    return winner;
}

/* Whether (x, y) lies inside a cell by more than `by`; if by is negative, at most -by outside. */
static bool lies_within(const regions *all, const region_cell *cell, double x, double y, double by)
{
    const region_corner *c = all->corner + cell->first;
    for (int64_t i = 0; i < cell->corners; i++) {
        const region_corner *p = &c[i], *q = &c[(i + 1) % cell->corners];
        const double length = hypot(q->x - p->x, q->y - p->y);
        if (length > 0 && ((q->x - p->x) * (y - p->y) - (q->y - p->y) * (x - p->x)) / length < by) return false;
    }
    return true;
}

static void check_points(const region_rule *rule, const regions *all)
{
    enum { SIDE = 41 };
    int64_t compared = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = box[0] + (box[2] - box[0]) * (i % SIDE + 0.37) / SIDE,
                     y = box[1] + (box[3] - box[1]) * (i / SIDE + 0.61) / SIDE;
        int64_t within = 0, nearest = 0;
        for (int64_t j = 0; j < all->cells; j++) {
            nearest += lies_within(all, &all->cell[j], x, y, -hair);
            if (!lies_within(all, &all->cell[j], x, y, hair)) continue;
            within++;
            assert_int_equal(all->cell[j].label, classify(rule, x, y));
        }
        assert_true(within == 1 || nearest > 1);
        compared += within;
    }
    assert_true(compared > SIDE * SIDE * 99 / 100);
}

static void check_area(const regions *all)
{
    double sum = 0;
    for (int64_t j = 0; j < all->cells; j++) {
        const region_corner *c = all->corner + all->cell[j].first;
        for (int64_t i = 0; i < all->cell[j].corners; i++) {
            const region_corner *p = &c[i], *q = &c[(i + 1) % all->cell[j].corners];
            sum += (p->x * q->y - q->x * p->y) / 2;
        }
    }
    assert_float_equal(sum, (box[2] - box[0]) * (box[3] - box[1]), 1e-9);
}

/* A side is a border if another class lies beyond it. The cell of the lower class has the
 * border. */
static void check_borders(const region_rule *rule, const regions *all)
{
    for (int64_t j = 0; j < all->cells; j++) {
        const region_corner *c = all->corner + all->cell[j].first;
        for (int64_t i = 0; i < all->cell[j].corners; i++) {
            const region_corner *p = &c[i], *q = &c[(i + 1) % all->cell[j].corners];
            const double length = hypot(q->x - p->x, q->y - p->y), off = 1e-7;
            if (length < 1e-4) continue;
            const double x = (p->x + q->x) / 2 + off * (q->y - p->y) / length,
                         y = (p->y + q->y) / 2 - off * (q->x - p->x) / length;
            const bool inside = x > box[0] && x < box[2] && y > box[1] && y < box[3];
            assert_int_equal(p->border, inside && classify(rule, x, y) > all->cell[j].label);
        }
    }
}

static void check(const region_rule *rule)
{
    regions all = {0};
    assert_int_equal(regions_create(rule, &all), REGIONS_OK);
    check_area(&all);
    check_points(rule, &all);
    check_borders(rule, &all);
    regions_free(&all);
}

static void regions_match_the_nearest_reference(void **state)
{
    (void)state;
    for (int32_t r = 1; r <= MAX_REFERENCES; r = 2 * r + 1) {
        const region_rule rule = make_rule(r, 1, r < 5 ? r : 5, (uint64_t)r);
        check(&rule);
    }
}

static void regions_match_the_vote_of_k_references(void **state)
{
    (void)state;
    for (int32_t k = 2; k <= 6; k++) {
        const region_rule rule = make_rule(17, k, 4, 100 + (uint64_t)k);
        check(&rule);
    }
    const region_rule all_vote = make_rule(5, 5, 3, 7);
    check(&all_vote);
}

static void coincident_references_leave_no_gap(void **state)
{
    (void)state;
    for (int32_t k = 1; k <= 3; k++) {
        const region_rule rule = make_rule(11, k, 3, 31);
        for (int32_t i = 2; i <= 5; i++) {
            at[2 * i] = at[2];
            at[2 * i + 1] = at[3];
        }
        check(&rule);
    }
}

/* Exemplars of a class often coincide: all neighbors then change at one line. */
static void coincident_pairs_have_borders(void **state)
{
    (void)state;
    for (int32_t k = 1; k <= 6; k++) {
        const region_rule rule = make_rule(20, k, 10, 57);
        for (int32_t i = 0; i < 10; i++) {
            at[2 * (i + 10)] = at[2 * i];
            at[2 * (i + 10) + 1] = at[2 * i + 1];
            label[i + 10] = label[i];
        }
        check(&rule);
    }
}

static void too_many_references_or_cells_are_refused(void **state)
{
    (void)state;
    region_rule rule = make_rule(MAX_REFERENCES, 1, 2, 5);
    rule.r = REGIONS_MAX_REFERENCES + 1;
    regions all = {0};
    assert_int_equal(regions_create(&rule, &all), REGIONS_TOO_MANY);
    rule = make_rule(MAX_REFERENCES, 20, MAX_REFERENCES, 5); /* 60 classes: no vote is decided early */
    assert_int_equal(regions_create(&rule, &all), REGIONS_TOO_MANY);
    assert_null(all.cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_match_the_nearest_reference),
        cmocka_unit_test(regions_match_the_vote_of_k_references),
        cmocka_unit_test(coincident_references_leave_no_gap),
        cmocka_unit_test(coincident_pairs_have_borders),
        cmocka_unit_test(too_many_references_or_cells_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
