/* Runs all unit tests, or the suites that are named: bp-unit [SUITE...]. Ends with `N passed, N failed`. */
#define _POSIX_C_SOURCE 200809L
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* suites.h is generated: a row SUITE(x) for each test_x.c, which defines x_suite. */
#define SUITE(name) Suite *name##_suite(void);
#include "suites.h"
#undef SUITE

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, name##_suite},
#include "suites.h"
#undef SUITE
    {NULL, NULL},
};

static bool wanted(const char *name, int n, char **names)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return n == 0;
}

int main(int argc, char **argv)
{
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);      /* for sanitizers, and machines that others use too */
    SRunner *runner = srunner_create(NULL);
    int n_suites = 0;
    for (int i = 0; suites[i].name; i++)
        if (wanted(suites[i].name, argc - 1, argv + 1)) {
            srunner_add_suite(runner, suites[i].make());
            n_suites++;
        }
    if (n_suites < argc - 1)
        fprintf(stderr, "%s: only %d of the named suites exist\n", argv[0], n_suites);
    srunner_run_all(runner, CK_ENV);
    int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("%d passed, %d failed\n", run - failed, failed);
    return failed || !run || n_suites < argc - 1;
}
