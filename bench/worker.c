/*
 * worker OPERATION TIMES ARGUMENTS…: measures an operation of the library or a floor, as
 * described in bench.h. A sample is the mean time of TIMES runs, so that even operations too short
 * for the clock can be measured.
 */
#define _POSIX_C_SOURCE 200809L
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bench_operation *const operations[] = {
#define OPERATION(name) &bench_##name,
#include "ops.def"
#undef OPERATION
};

uint64_t bench_cpu;

void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "worker: %s: %s\n", what, why);
    exit(1);
}

static const bench_operation *find(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strcmp(operations[i]->name, name) == 0)
            return operations[i];
    }
    return NULL;
}

static void serve(const bench_operation *operation, unsigned long times)
{
    char line[16];
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strcmp(line, "run\n") != 0)
            bench_die("expected run", line);
        (void)operation->run(1);
        bench_cpu = 0;
        uint64_t took = operation->run(times);
        printf("%.1f", (double)took / (double)times);
        if (bench_cpu != 0)
            printf(" %.1f", (double)bench_cpu / (double)times);
        puts("");
        (void)fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const bench_operation *operation = argc < 4 ? NULL : find(argv[1]);
    unsigned long times = argc < 4 ? 0 : strtoul(argv[2], NULL, 10);
    if (operation == NULL || times == 0) {
        for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
            fprintf(stderr, "usage: worker %s TIMES %s\n", operations[i]->name,
                    operations[i]->arguments);
        return 4;
    }
    operation->start(argv + 3);
    puts("ready");
    (void)fflush(stdout);
    serve(operation, times);
    return 0;
}
