/*
 * Runs every operation on every shape (dense.h), and prints a table of the memory that they need.
 * Fails if an operation exceeds its bound or leaks.
 *
 *   dense [--all] [--bytes N] [--shape NAME] [--operation NAME]
 *
 * --shape and --operation select the shapes whose names contain NAME, and the operations whose
 * names begin with NAME.
 *
 * --all prints a row for each operation and shape. Without it, the table has one row for each
 * operation, with the worst shape.
 */
#include "dense.h"

#include <time.h>

static struct {
    bool all;
    size_t bytes;
    const char *shape, *operation;
} arguments = {.bytes = (size_t)3 << 20};

static uint64_t present; /* size of all files of the current shape, in bytes */
static uint64_t
    of_files; /* additional memory allowed for the number and names of files, in bytes */
static unsigned failures;

static int add_size(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)ftw;
    if (kind == FTW_F) {
        present += (uint64_t)st->st_size;
        of_files += 1024 + 4 * strlen(path);
    }
    return 0;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The worst results of an operation, with their shapes. `factor` is (peak of memory - constant_of)
 * / (size of the files). */
typedef struct result {
    double factor;
    const char *shape;
    double seconds;
    const char *slowest;
} result;

/* The operation "diff with itself" opens the model twice, so the sizes of its files count twice. */
static uint64_t models_of(const operation *o)
{
    return strcmp(o->name, "diff with itself") == 0 ? 2 : 1;
}

/* Returns the part of the memory bound that does not depend on the sizes of the files. */
static uint64_t constant_of(const operation *o)
{
    return models_of(o) * of_files + ((uint64_t)1 << 20) + o->constant;
}

static uint64_t limit_of(const operation *o)
{
    uint64_t factor = o->factor == 0 ? 8 : o->factor;
    return factor * models_of(o) * present + constant_of(o);
}

static void run(const dense_shape *kind, const char *folder, const operation *o, result *worst)
{
    subject s = {.scratch = scratch_make()};
    bool is_store = strncmp(kind->path, "ollama:", 7) == 0;
    char *path = is_store ? text_of("%s", kind->path) : text_of("%s/%s", folder, kind->path);
    s.path = path;
    s.store = is_store ? folder : NULL;
    s.file = is_store || kind->path[0] == '\0' ? NULL : path;
    s.allocator = counter_allocator(&s.memory);
    s.options = (wb_open_options)WB_OPEN_OPTIONS_INIT;
    s.options.allocator = &s.allocator;
    s.options.store = s.store;
    s.options.flags = WB_OPEN_COMPATIBLE; /* strict mode refuses some of the shapes */
    s.error.code = "";
    double start = now();
    wb_status status = o->run(&s);
    double seconds = now() - start;
    double beyond = (double)s.memory.peak - (double)constant_of(o);
    double factor = beyond < 0 ? 0 : beyond / (double)(models_of(o) * present);
    bool failed = s.memory.peak > limit_of(o);
    bool leaked = s.memory.blocks != 0 || s.memory.live != 0 || s.memory.wrong;
    if (arguments.all || failed || leaked)
        printf("%-30s %-33s %9llu %11zu %6.2f %7.3f s  %s%s%s\n", kind->name, o->name,
               (unsigned long long)present, s.memory.peak, factor, seconds,
               status == WB_OK ? "" : s.error.code, failed ? " TOO MUCH" : "",
               leaked ? " LEAK" : "");
    fflush(stdout);
    failures += failed || leaked;
    if (factor >= worst->factor) {
        worst->factor = factor;
        worst->shape = kind->name;
    }
    if (seconds >= worst->seconds) {
        worst->seconds = seconds;
        worst->slowest = kind->name;
    }
    scratch_remove((char *)(uintptr_t)s.scratch);
    free(path);
}

static const operation *const operations[] = {model_operations, use_operations, write_operations};
static const dense_shape *const shapes[] = {text_shapes, binary_shapes, set_shapes};

#define MOST_OPERATIONS 64
static result results[MOST_OPERATIONS];

static bool begins(const char *wanted, const char *name)
{
    return wanted == NULL || strncmp(name, wanted, strlen(wanted)) == 0;
}

static bool chosen(const char *wanted, const char *name)
{
    return wanted == NULL || strstr(name, wanted) != NULL;
}

static void run_shape(const dense_shape *kind)
{
    char *folder = scratch_make();
    kind->write(kind, folder, arguments.bytes);
    present = of_files = 0;
    (void)nftw(folder, add_size, 16, FTW_PHYS);
    size_t number = 0;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        for (const operation *o = operations[i]; o->name != NULL; o++, number++) {
            if (begins(arguments.operation, o->name))
                run(kind, folder, o, &results[number]);
        }
    }
    scratch_remove(folder);
}

static void print_summary(void)
{
    size_t number = 0;
    printf("| operation | bytes allocated for each byte present | worst shape | s | slowest |\n");
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        for (const operation *o = operations[i]; o->name != NULL; o++, number++) {
            const result *r = &results[number];
            if (r->shape != NULL)
                printf("| %s | %.2f | %s | %.2f | %s |\n", o->name, r->factor, r->shape, r->seconds,
                       r->slowest);
        }
    }
}

static bool parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--all") == 0) {
            arguments.all = true;
            continue;
        }
        if (value == NULL)
            return false;
        if (strcmp(argv[i], "--bytes") == 0)
            arguments.bytes = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--shape") == 0)
            arguments.shape = value;
        else if (strcmp(argv[i], "--operation") == 0)
            arguments.operation = value;
        else
            return false;
        i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: dense [--all] [--bytes N] [--shape NAME] [--operation NAME]\n");
        return 4;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (const dense_shape *s = shapes[i]; s->name != NULL; s++) {
            if (chosen(arguments.shape, s->name))
                run_shape(s);
        }
    }
    print_summary();
    return failures == 0 ? 0 : 1;
}
