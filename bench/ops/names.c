/* names: gives the tensors of an open model their canonical names and computes its config. names-check
 * also compares the tensors and the config with the table of the family, and reads one byte of the
 * values. Opening is not measured. */
#define _POSIX_C_SOURCE 200809L
#include "../worker.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "weighbridge.h"

static const char *path;

static uint64_t measure(bool is_checked, uint64_t *tensors)
{
    wb_model *model;
    wb_error error;
    wb_findings *findings = NULL;
    wb_config config = WB_CONFIG_INIT;
    wb_verify_options options = WB_VERIFY_OPTIONS_INIT;
    options.data_budget = 1;
    wb_status status = wb_open(path, NULL, &model, &error);
    if (status != WB_OK)
        bench_die(path, error.message);
    uint64_t begin = bench_now();
    status = wb_config_get(model, &config, &error);
    if (status == WB_OK && is_checked)
        status = wb_verify_model(model, &options, &findings, &error);
    uint64_t end = bench_now();
    if (status != WB_OK)
        bench_die(path, error.message);
    if (findings != NULL && wb_findings_verdict(findings) != 0)
        bench_die(path, "the model is not valid");
    *tensors = wb_tensor_count(model);
    wb_findings_free(findings);
    wb_close(model);
    return end - begin;
}

static void start(char **arguments)
{
    uint64_t tensors;
    path = arguments[0];
    (void)measure(true, &tensors);
    printf("name weighbridge %s\nwork %" PRIu64 " tensors\n", wb_version(), tensors);
}

static uint64_t run(unsigned long times)
{
    uint64_t sum = 0, tensors;
    for (unsigned long i = 0; i < times; i++)
        sum += measure(false, &tensors);
    return sum;
}

const bench_operation bench_names = {"names", "FOLDER", start, run};

static uint64_t run_check(unsigned long times)
{
    uint64_t sum = 0, tensors;
    for (unsigned long i = 0; i < times; i++)
        sum += measure(true, &tensors);
    return sum;
}

const bench_operation bench_names_check = {"names-check", "FOLDER", start, run_check};
