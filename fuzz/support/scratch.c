#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/disk.h"
#include "scratch.h"

#define NAMES_MAX 100

/* A file or directory in the scratch directory. A file stays open, and `bytes` holds its contents,
 * so that an input rewrites only the files that differ from those of the previous input. */
typedef struct entry {
    char *name;
    int fd; /* -1: a directory, or a file that does not exist */
    uint8_t *bytes;
    size_t n;
} entry;

static char root[256];
static entry entries[NAMES_MAX]; /* in order of creation; removed in reverse order */
static size_t count;

static void path_of(const char *name, char *path, size_t capacity)
{
    CHECK(snprintf(path, capacity, "%s/%s", fuzz_scratch(), name) < (int)capacity);
}

static void clean(void)
{
    char path[512];
    while (count > 0) {
        entry *e = &entries[--count];
        if (e->fd >= 0)
            (void)close(e->fd);
        path_of(e->name, path, sizeof path);
        (void)remove(path);
        free(e->name);
        free(e->bytes);
    }
    (void)rmdir(root);
}

const char *fuzz_scratch(void)
{
    /* DISK_ROOT exists if the target is linked with the in-memory disk of disk/disk.h. */
    static const char *const bases[] = {DISK_ROOT, "/dev/shm", "/tmp"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases && root[0] == '\0'; i++) {
        (void)snprintf(root, sizeof root, "%s/wb-fuzz-XXXXXX", bases[i]);
        if (mkdtemp(root) == NULL)
            root[0] = '\0';
        else
            CHECK(atexit(clean) == 0);
    }
    CHECK(root[0] != '\0');
    return root;
}

static void remove_state(void)
{
    char path[512];
    path_of("state/weighbridge/journal-key", path, sizeof path);
    (void)remove(path);
    path_of("state/weighbridge", path, sizeof path);
    (void)remove(path);
    path_of("state", path, sizeof path);
    (void)remove(path);
}

void fuzz_state_home(void)
{
    char path[512];
    static bool is_set;
    if (is_set)
        return;
    path_of("state", path, sizeof path);
    CHECK(setenv("XDG_STATE_HOME", path, 1) == 0 && atexit(remove_state) == 0);
    is_set = true;
}

static entry *entry_of(const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    }
    CHECK(count < NAMES_MAX);
    entry *e = &entries[count++];
    *e = (entry){.name = malloc(strlen(name) + 1), .fd = -1};
    CHECK(e->name != NULL);
    memcpy(e->name, name, strlen(name) + 1);
    return e;
}

void fuzz_scratch_folder(const char *name)
{
    char path[512];
    path_of(name, path, sizeof path);
    CHECK(mkdir(path, 0700) == 0);
    (void)entry_of(name);
}

void fuzz_scratch_write(const char *name, const void *bytes, size_t n)
{
    char path[512];
    entry *e = entry_of(name);
    if (e->fd < 0) {
        path_of(name, path, sizeof path);
        e->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        CHECK(e->fd >= 0);
        e->n = 0;
    }
    if (n == e->n && (n == 0 || memcmp(e->bytes, bytes, n) == 0))
        return;
    if (n > e->n || e->bytes == NULL) {
        e->bytes = realloc(e->bytes, n);
        CHECK(e->bytes != NULL);
    }
    CHECK(n == 0 || pwrite(e->fd, bytes, n, 0) == (ssize_t)n);
    CHECK(n >= e->n || ftruncate(e->fd, (off_t)n) == 0);
    if (n > 0)
        memcpy(e->bytes, bytes, n);
    e->n = n;
}

void fuzz_scratch_remove(const char *name)
{
    char path[512];
    entry *e = entry_of(name);
    if (e->fd >= 0)
        (void)close(e->fd);
    e->fd = -1;
    path_of(name, path, sizeof path);
    (void)unlink(path);
}
