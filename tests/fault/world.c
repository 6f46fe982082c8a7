#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];

void broken(const char *what, const char *path)
{
    fprintf(stderr, "the test itself: %s %s: %s\n", what, path, strerror(errno));
    _exit(3);
}

const char *at(const char *name)
{
    static char texts[16][512];
    static unsigned next;
    char *text = texts[next++ % 16];
    (void)snprintf(text, 512, "%s/%s", root, name);
    return text;
}

uint64_t mix(uint64_t digest, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ b[i]) * UINT64_C(0x100000001B3);
    return digest;
}

void put(const char *name, const void *bytes, size_t n)
{
    int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) != 0)
        broken("writing", name);
}

static void clear(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *d; (d = readdir(folder)) != NULL;) {
        char sub[512];
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        (void)snprintf(sub, sizeof sub, "%s/%s", path, d->d_name);
        if (d->d_type == DT_DIR) {
            clear(sub);
            (void)rmdir(sub);
        } else {
            (void)unlink(sub);
        }
    }
    (void)closedir(folder);
}

void empty_folder(const char *name)
{
    const char *path = at(name);
    if (mkdir(path, 0755) != 0) {
        if (errno != EEXIST)
            broken("making", name);
        clear(path);
    }
}

void world_begin(void)
{
    static const char *const bases[] = {"/dev/shm", "/tmp"};
    (void)umask(022);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(root, sizeof root, "%s/wb-fault-XXXXXX", bases[i]);
        if (mkdtemp(root) != NULL)
            return;
    }
    broken("making", root);
}

void world_end(void)
{
    clear(root);
    (void)rmdir(root);
}

/* ---- trees ---- */

static void look_at(const char *path, size_t skip, tree *t)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        broken("listing", path);
    for (struct dirent *d; (d = readdir(folder)) != NULL;) {
        char sub[512];
        static uint8_t bytes[1 << 20];
        struct stat st;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        (void)snprintf(sub, sizeof sub, "%s/%s", path, d->d_name);
        if (lstat(sub, &st) != 0 || t->count == ENTRIES)
            broken("looking at", sub);
        entry *e = &t->entries[t->count++];
        *e = (entry){.is_folder = S_ISDIR(st.st_mode), .mode = st.st_mode & 07777, .digest = 1};
        (void)snprintf(e->path, sizeof e->path, "%s", sub + skip);
        if (e->is_folder) {
            look_at(sub, skip, t);
            continue;
        }
        int fd = open(sub, O_RDONLY);
        e->size = (uint64_t)st.st_size;
        for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
            e->digest = mix(e->digest, bytes, (size_t)n);
        if (fd < 0 || close(fd) != 0)
            broken("reading", sub);
    }
    (void)closedir(folder);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->path, ((const entry *)b)->path);
}

void look(const char *name, tree *t)
{
    const char *path = at(name);
    t->count = 0;
    look_at(path, strlen(path) + 1, t);
    qsort(t->entries, t->count, sizeof *t->entries, by_path);
}

bool is_temporary(const char *path)
{
    const char *part = strstr(path, ".wb-");
    return (part != NULL && (part == path || part[-1] == '/')) || strstr(path, ".wb-journal") ||
           strstr(path, ".wb-partial") || strstr(path, ".wb-resume");
}

static bool equal(const entry *a, const entry *b)
{
    return strcmp(a->path, b->path) == 0 && a->is_folder == b->is_folder && a->mode == b->mode &&
           a->size == b->size && a->digest == b->digest;
}

bool same(const tree *a, const tree *b)
{
    bool equals = a->count == b->count;
    for (size_t i = 0; equals && i < a->count; i++)
        equals = equal(&a->entries[i], &b->entries[i]);
    return equals;
}

void without_temporaries(tree *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!is_temporary(t->entries[i].path))
            t->entries[kept++] = t->entries[i];
    }
    t->count = kept;
}

bool within(const tree *a, const tree *b)
{
    for (size_t i = 0; i < a->count; i++) {
        bool found = false;
        for (size_t j = 0; j < b->count && !found; j++)
            found = equal(&a->entries[i], &b->entries[j]);
        if (!found)
            return false;
    }
    return true;
}

bool has(const tree *t, const char *path)
{
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->entries[i].path, path) == 0)
            return true;
    }
    return false;
}

void show(const tree *t, const char *title)
{
    fprintf(stderr, "%s:\n", title);
    for (size_t i = 0; i < t->count; i++) {
        const entry *e = &t->entries[i];
        fprintf(stderr, "    %s%s mode %o, %llu bytes, %016llx\n", e->path, e->is_folder ? "/" : "",
                e->mode, (unsigned long long)e->size, (unsigned long long)e->digest);
    }
}
