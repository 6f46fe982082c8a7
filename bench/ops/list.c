/* list: lists the models of an Ollama store. Its floor, which is named manifests, walks the store's
 * directories and reads every manifest ROUNDS times. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "../worker.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weighbridge.h"

static const char *store;
static unsigned long rounds;

static int count_model(void *ctx, const wb_store_entry *entry)
{
    uint64_t *models = ctx;
    *models += entry->error == NULL && entry->layers > 0;
    return 0;
}

static uint64_t list_once(void)
{
    wb_error error;
    uint64_t models = 0;
    if (wb_store_list(store, NULL, count_model, &models, &error) != WB_OK)
        bench_die(store, error.message);
    return models;
}

static void start_list(char **arguments)
{
    store = arguments[0];
    printf("name weighbridge %s\nwork %" PRIu64 " models\n", wb_version(), list_once());
}

static uint64_t run_list(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++)
        (void)list_once();
    return bench_now() - begin;
}

/* ---- the floor ---- */

static uint64_t read_file(int folder, const char *name)
{
    static char text[1 << 16];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_die(name, "cannot open it");
    if (read(fd, text, sizeof text) <= 0)
        bench_die(name, "cannot read it");
    (void)close(fd);
    return 1;
}

static uint64_t read_folder(const char *path)
{
    char inner[4096];
    uint64_t files = 0;
    DIR *folder = opendir(path);
    const struct dirent *entry;
    if (folder == NULL)
        bench_die(path, "cannot list it");
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (entry->d_type == DT_DIR) {
            (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            files += read_folder(inner);
        } else {
            files += read_file(dirfd(folder), entry->d_name);
        }
    }
    (void)closedir(folder);
    return files;
}

static uint64_t read_store(void)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/manifests", store);
    return read_folder(path);
}

static void start_read(char **arguments)
{
    store = arguments[0];
    rounds = arguments[1] == NULL ? 1 : strtoul(arguments[1], NULL, 10);
    printf("name reading\nwork %" PRIu64 " models\n", read_store());
}

static uint64_t run_read(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times * rounds; i++)
        (void)read_store();
    return bench_now() - begin;
}

const bench_operation bench_list = {"list", "STORE", start_list, run_list};
const bench_operation bench_manifests = {"manifests", "STORE [ROUNDS]", start_read, run_read};
