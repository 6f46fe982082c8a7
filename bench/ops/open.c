/* open: opens and validates a model. open-parallel does the same on one thread per available
 * processor. Closing the model is not measured. */
#define _POSIX_C_SOURCE 200809L
#include "../worker.h"
#include "crew.h"

#include <inttypes.h>
#include <stdio.h>

#include "weighbridge.h"

static const char *path;
static wb_open_options options = {.size = sizeof options};

/* Returns the number of tensors stored in the files. The model can have fewer tensors, because a
 * packed weight combines several stored ones. */
static uint64_t stored_tensors(const wb_model *model)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < wb_file_count(model); i++) {
        wb_file file = {.size = sizeof file};
        if (wb_file_at(model, i, &file, NULL) == WB_OK)
            sum += file.tensors;
    }
    return sum;
}

static uint64_t open_once(uint64_t *tensors)
{
    wb_model *model;
    wb_error error;
    uint64_t begin = bench_now();
    wb_status status = wb_open(path, &options, &model, &error);
    uint64_t end = bench_now();
    if (status != WB_OK)
        bench_die(path, error.message);
    *tensors = stored_tensors(model);
    wb_close(model);
    return end - begin;
}

static void start(char **arguments)
{
    uint64_t tensors;
    path = arguments[0];
    (void)open_once(&tensors);
    printf("name weighbridge %s\nwork %" PRIu64 " tensors\n", wb_version(), tensors);
}

static uint64_t run(unsigned long times)
{
    uint64_t sum = 0, tensors;
    for (unsigned long i = 0; i < times; i++)
        sum += open_once(&tensors);
    return sum;
}

const bench_operation bench_open = {"open", "FILE", start, run};

static void start_parallel(char **arguments)
{
    options.executor = &crew_executor;
    start(arguments);
}

const bench_operation bench_open_parallel = {"open-parallel", "FILE", start_parallel, run};
