#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

#define NAMES_MAX 100

static char root[256];
static char *names[NAMES_MAX]; /* in the order they were made */
static size_t count;

static void path_of(const char *name, char *path, size_t capacity)
{
    CHECK(snprintf(path, capacity, "%s/%s", fuzz_scratch(), name) < (int)capacity);
}

static void clean(void)
{
    char path[512];
    while (count > 0) {
        path_of(names[--count], path, sizeof path);
        (void)remove(path);
        free(names[count]);
    }
    (void)rmdir(root);
}

const char *fuzz_scratch(void)
{
    static const char *const bases[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < 2 && root[0] == '\0'; i++) {
        (void)snprintf(root, sizeof root, "%s/wb-fuzz-XXXXXX", bases[i]);
        if (mkdtemp(root) == NULL)
            root[0] = '\0';
        else
            CHECK(atexit(clean) == 0);
    }
    CHECK(root[0] != '\0');
    return root;
}

static void remember(const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return;
    }
    CHECK(count < NAMES_MAX);
    names[count] = malloc(strlen(name) + 1);
    CHECK(names[count] != NULL);
    memcpy(names[count++], name, strlen(name) + 1);
}

void fuzz_scratch_folder(const char *name)
{
    char path[512];
    path_of(name, path, sizeof path);
    CHECK(mkdir(path, 0700) == 0);
    remember(name);
}

void fuzz_scratch_write(const char *name, const void *bytes, size_t n)
{
    char path[512];
    path_of(name, path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK(n == 0 || write(fd, bytes, n) == (ssize_t)n);
    CHECK(close(fd) == 0);
    remember(name);
}

void fuzz_scratch_remove(const char *name)
{
    char path[512];
    path_of(name, path, sizeof path);
    (void)unlink(path);
}
