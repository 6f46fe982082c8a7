/*
 * Runs a fuzz target with files as inputs. A path is a file, or a directory whose files are used.
 *
 *     fuzz_NAME [--exhaust [--most=BYTES] [--part=N/OF]] PATH...
 *
 * With --exhaust, the inputs are the small mutations (exhaust.h) of each file of at most BYTES
 * bytes (default: 4096). With --part, the mutations are divided into OF parts, and only part N is
 * run.
 *
 * Every input is in a memory block of exactly its size, so that a sanitizer detects a read past its
 * end.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "exhaust.h"
#include "fuzz.h"

static uint64_t replayed;
static bool exhaust;
static size_t most = 4096;
static uint64_t part, of = 1;

static int fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 1;
}

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size == 0 ? 1 : size);
    int failed = file == NULL || data == NULL || fread(data, 1, size, file) != size;
    if (failed)
        (void)fail(path);
    if (file != NULL)
        (void)fclose(file);
    if (!failed && exhaust) {
        replayed += fuzz_exhaust(data, size, part, of);
    } else if (!failed) {
        (void)LLVMFuzzerTestOneInput(data, size);
        replayed++;
    }
    free(data);
    return failed;
}

static int replay(const char *path);

static int replay_folder(const char *path)
{
    int failed = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return fail(path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name) {
            errno = ENAMETOOLONG;
            failed |= fail(path);
            continue;
        }
        failed |= replay(name);
    }
    (void)closedir(folder);
    return failed;
}

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail(path);
    if (S_ISDIR(st.st_mode))
        return replay_folder(path);
    return exhaust && (size_t)st.st_size > most ? 0 : replay_file(path, (size_t)st.st_size);
}

/* Ignores libFuzzer options. */
static void option(const char *text)
{
    if (strcmp(text, "--exhaust") == 0)
        exhaust = true;
    else if (strncmp(text, "--most=", 7) == 0)
        most = (size_t)strtoull(text + 7, NULL, 10);
    else if (strncmp(text, "--part=", 7) == 0 &&
             sscanf(text + 7, "%" SCNu64 "/%" SCNu64, &part, &of) != 2)
        of = 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-')
            option(argv[i]);
    if (of == 0 || part >= of) {
        fprintf(stderr, "--part=N/OF wants N below OF\n");
        return 4;
    }
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            failed |= replay(argv[i]);
    printf("%" PRIu64 " inputs replayed\n", replayed);
    return failed || replayed == 0;
}
