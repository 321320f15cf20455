/* Suggestions: the nearest name, and none where nothing is near. */
#include "support/diag.h"

#include <check.h>

static const char *const names[] = { "forward", "recompute", "recommunication", "weight_gradient", "optimizer", "tp", "dp" };

static const char *nearest(const char *name)
{
    return nearest_name(name, names, COUNT(names));
}

START_TEST(a_slip_of_the_pen_is_mended)
{
    ck_assert_str_eq(nearest("forwad"), "forward");
    ck_assert_str_eq(nearest("fowrard"), "forward");
    ck_assert_str_eq(nearest("forwardd"), "forward");
    ck_assert_str_eq(nearest("Forward"), "forward");
    ck_assert_str_eq(nearest("weight-gradient"), "weight_gradient");
    ck_assert_str_eq(nearest("WEIGHT_GRADIENT"), "weight_gradient");
    ck_assert_str_eq(nearest("tpp"), "tp");
}
END_TEST

START_TEST(the_nearest_of_two_is_taken)
{
    static const char *const two[] = { "bind", "binds" };
    ck_assert_str_eq(nearest_name("bindss", two, 2), "binds");
    ck_assert_str_eq(nearest_name("bin", two, 2), "bind");
}
END_TEST

START_TEST(what_is_far_is_not_suggested)
{
    ck_assert_ptr_null(nearest("banana"));
    ck_assert_ptr_null(nearest(""));
    ck_assert_ptr_null(nearest("zz"));
    ck_assert_ptr_null(nearest_name("x", NULL, 0));
}
END_TEST

START_TEST(parts_that_are_shared_are_not_near)
{
    static const char *const tasks[] = { "mlp.expand.forward", "attention.key.weight_gradient", "model.gelu" };
    ck_assert_ptr_null(nearest_name("mlp.swiglu.forward", tasks, COUNT(tasks)));
    ck_assert_ptr_null(nearest_name("attention.value.weight_gradient", tasks, COUNT(tasks)));
    ck_assert_str_eq(nearest_name("mlp.expnad.forward", tasks, COUNT(tasks)), "mlp.expand.forward");
    ck_assert_str_eq(nearest_name("mpl.expand.forward", tasks, COUNT(tasks)), "mlp.expand.forward");
    ck_assert_str_eq(nearest_name("mlp.expand.forwards", tasks, COUNT(tasks)), "mlp.expand.forward");
    ck_assert_str_eq(nearest_name("model.gleu", tasks, COUNT(tasks)), "model.gelu");
    ck_assert_str_eq(nearest_name("mode.gelu", tasks, COUNT(tasks)), "model.gelu");
}
END_TEST

START_TEST(long_names_are_left_alone)
{
    char name[200];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const char *const same[] = { name };
    ck_assert_ptr_null(nearest_name(name, same, 1));
}
END_TEST

START_TEST(a_name_that_others_are_as_near_to_is_not_sure)
{
    ck_assert(is_sure_name("hiden", "hidden"));
    ck_assert(is_sure_name("True", "true"));
    ck_assert(is_sure_name("tpp", "tp"));
    ck_assert(!is_sure_name("w", "g"));
    ck_assert(!is_sure_name("h3", "h1"));
    ck_assert(!is_sure_name("layer12.up", "layer13.up"));
    ck_assert(!is_sure_name("layer1", "layer12"));
    ck_assert(is_sure_name("layr12", "layer12"));
}
END_TEST

Suite *nearest_suite(void);

Suite *nearest_suite(void)
{
    Suite *s = suite_create("nearest");
    TCase *c = tcase_create("nearest");
    tcase_add_test(c, a_slip_of_the_pen_is_mended);
    tcase_add_test(c, the_nearest_of_two_is_taken);
    tcase_add_test(c, what_is_far_is_not_suggested);
    tcase_add_test(c, parts_that_are_shared_are_not_near);
    tcase_add_test(c, long_names_are_left_alone);
    tcase_add_test(c, a_name_that_others_are_as_near_to_is_not_sure);
    suite_add_tcase(s, c);
    return s;
}
