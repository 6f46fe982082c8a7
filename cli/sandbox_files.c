/* Restricts which files the process can read and write in the sandbox. With Landlock
 * (landlock(7)), open(2) and the calls that modify directories succeed only for the files and
 * directories of a rule set. Inherited descriptors are closed.
 *
 * The constants and the struct are defined here, because the headers of older systems lack the
 * newer ones.
 */
#define _GNU_SOURCE /* for O_PATH */
#define _FILE_OFFSET_BITS 64
#include "sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output.h"
#include "paths.h"

#if defined(__linux__) && defined(O_PATH)

#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define GET_VERSION 1u
#define PATH_BENEATH 1

#define WRITE_FILE (1u << 1)
#define READ_FILE (1u << 2)
#define READ_DIR (1u << 3)
#define REMOVE_DIR (1u << 4)
#define REMOVE_FILE (1u << 5)
#define MAKE_DIR (1u << 7)
#define MAKE_FILE (1u << 8)
#define MOVE (1u << 13)
#define TRUNCATE (1u << 14)

#define READ (READ_FILE | READ_DIR)
#define CHANGE_FILE (WRITE_FILE | TRUNCATE)
/* Rights for the directory in which a file is created or replaced, and for the directory in which a
 * directory is created or replaced.
 */
#define CREATE_FILE (READ | CHANGE_FILE | MAKE_FILE | REMOVE_FILE)
#define CREATE_DIR (CREATE_FILE | MAKE_DIR | REMOVE_DIR | MOVE)

typedef struct attributes {
    uint64_t files, network, scopes; /* bit sets of the rights that are denied unless a rule
                                      * grants them */
} attributes;

typedef struct __attribute__((packed)) beneath {
    uint64_t rights;
    int32_t parent;
} beneath;

/* For each version of Landlock: all rights that it knows, and the size of `attributes` in bytes.
 * The comments name the rights that are new in the version.
 */
static const struct version {
    attributes all;
    size_t size;
} versions[] = {
    {{(1u << 13) - 1, 0, 0}, 8},
    {{(1u << 14) - 1, 0, 0}, 8},  /* link or rename into another directory */
    {{(1u << 15) - 1, 0, 0}, 8},  /* truncate */
    {{(1u << 15) - 1, 3, 0}, 16}, /* TCP: bind, connect */
    {{(1u << 16) - 1, 3, 0}, 16}, /* ioctl of devices */
    {{(1u << 16) - 1, 3, 3}, 24}, /* abstract Unix sockets, signals */
};
#define VERSIONS ((long)(sizeof versions / sizeof versions[0]))

/* ---- rules ---- */

/* Adds a rule that grants `rights` for an open file or directory, and closes it. For a directory,
 * they apply to the directory and everything below it. For a file, the rights that exist only for
 * directories are left out.
 */
static void allow_open(int rules, int fd, uint64_t rights)
{
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        const beneath added = {S_ISDIR(st.st_mode) ? rights : rights & (READ_FILE | CHANGE_FILE),
                               fd};
        /* Fails for a pipe, which is readable without a rule. */
        (void)syscall(ADD_RULE, rules, PATH_BENEATH, &added, 0);
    }
    if (fd >= 0)
        (void)close(fd);
}

static void allow(int rules, const char *path, uint64_t rights)
{
    allow_open(rules, open(path, O_PATH | O_CLOEXEC), rights);
}

/* Same as allow, for the path that consists of the first n bytes of `folder`, and `rest`. */
static void allow_in(int rules, const char *folder, size_t n, const char *rest, uint64_t rights)
{
    text path = {0};
    text_add(&path, folder, n);
    text_adds(&path, rest);
    allow(rules, path.ptr, rights);
    text_free(&path);
}

/* Returns true if a file with this name, next to the file `base`, can belong to the same model. */
static bool is_of_model(const char *name, const char *base)
{
    static const char *const endings[] = {".safetensors", ".gguf",  ".npy",   ".npz",
                                          ".json",        ".jinja", ".model", ".txt"};
    const char *dot = strrchr(base, '.');
    if (name[0] == '.')
        return text_ends_with(name, ".wb-journal");
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (text_ends_with(name, endings[i]))
            return true;
    }
    return dot != NULL && text_ends_with(name, dot);
}

/* Appends the part of the path that ends with the last slash of its first n bytes; "." if there is no
 * slash. */
static void add_folder(text *folder, const char *path, size_t n)
{
    while (n > 0 && path[n - 1] != '/')
        n--;
    text_adds(folder, n == 0 ? "." : "");
    text_add(folder, path, n);
}

/* Allows the files in the directory of `path` that can belong to the same model, but no other
 * files. Symbolic links are not allowed, because the link of an untrusted model can lead to any
 * file.
 */
static void allow_beside(int rules, const char *path)
{
    text folder = {0};
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    struct dirent *entry;
    add_folder(&folder, path, strlen(path));
    allow(rules, folder.ptr, READ_DIR);
    DIR *all = opendir(folder.ptr);
    int fd = all == NULL ? -1 : dirfd(all);
    while (fd >= 0 && (entry = readdir(all)) != NULL) {
        struct stat st;
        if (is_of_model(entry->d_name, base) &&
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            allow_open(rules, openat(fd, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC),
                       READ_FILE);
    }
    if (all != NULL)
        (void)closedir(all);
    text_free(&folder);
}

/* Allows the directories of blobs that a path can refer to. For a Hugging Face cache, these are the
 * blobs of the repository and the blobs that all repositories share; for an Ollama store, its
 * blobs.
 */
static void allow_blobs(int rules, const char *path)
{
    const char *snapshots = text_last(path, "/snapshots/");
    const char *manifests = text_last(path, "/manifests/");
    const char *slash = strrchr(path, '/');
    if (slash != NULL && strncmp(slash, "/models--", 9) == 0) /* the folder of a repository */
        allow_in(rules, path, strlen(path), "/../blobs", READ);
    if (snapshots != NULL) {
        allow_in(rules, path, (size_t)(snapshots - path), "/blobs", READ);
        allow_in(rules, path, (size_t)(snapshots - path), "/../blobs", READ);
    }
    if (manifests != NULL)
        allow_in(rules, path, (size_t)(manifests - path), "/blobs", READ);
}

static void allow_model(int rules, const char *path)
{
    struct stat st;
    char *real = realpath(path, NULL);
    allow(rules, path, READ);
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        allow_beside(rules, path);
        if (real != NULL)
            allow_beside(rules, real);
    }
    allow_blobs(rules, path);
    if (real != NULL)
        allow_blobs(rules, real);
    free(real);
}

/* Allows reading the models that a pattern matches, and listing the directory that glob searches.
 */
static void allow_pattern(int rules, const char *pattern)
{
    glob_t found = {0};
    text folder = {0};
    add_folder(&folder, pattern, strcspn(pattern, "*?["));
    allow(rules, folder.ptr, READ_DIR);
    text_free(&folder);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            allow_model(rules, found.gl_pathv[i]);
    }
    globfree(&found);
}

/* Allows access to the Ollama store that the command reads or writes. */
static void allow_store(int rules, const arguments *args, uint64_t rights)
{
    const char *named = args->value[OPTION_STORE], *home = getenv("HOME");
    const char *models = getenv("OLLAMA_MODELS");
    if (named == NULL && models != NULL && models[0] != '\0')
        named = models;
    if (named != NULL)
        allow(rules, named, rights);
    else if (home != NULL)
        allow_in(rules, home, strlen(home), "/.ollama/models", rights);
}

/* Returns the number of operands that are models. */
static size_t count_models(const arguments *args)
{
    bool is_one = args->command == COMMAND_CONVERT || args->command == COMMAND_EXPORT ||
                  args->command == COMMAND_GET;
    return is_one && args->count > 1 ? 1 : args->count;
}

const char *sandbox_output(const arguments *args)
{
    const char *path = NULL;
    if (args->given[OPTION_DRY_RUN])
        return NULL;
    if (args->command == COMMAND_CONVERT)
        path = args->operands[args->count - 1];
    else if (args->command == COMMAND_EXPORT || args->command == COMMAND_GET)
        path = args->value[OPTION_OUTPUT];
    return path == NULL || output_is_stdout(path) ? NULL : path;
}

/* Allows creating the output next to existing files. If the path is a link, the output replaces the
 * target of the link.
 */
static void allow_beside_output(int rules, const char *path, uint64_t rights)
{
    text folder = {0};
    char *real = realpath(path, NULL);
    size_t n;
    path = real != NULL ? real : path;
    for (n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        continue;
    add_folder(&folder, path, n);
    allow(rules, folder.ptr, rights);
    text_free(&folder);
    free(real);
}

/* Allows writing the output of the command. `known` are the rights that this version of Landlock
 * knows.
 */
static void allow_output(int rules, const arguments *args, uint64_t known)
{
    const char *path = sandbox_output(args);
    const char *to = args->value[OPTION_TO];
    if (path == NULL)
        return;
    if (to != NULL && strcmp(to, "ollama") == 0)
        allow_store(rules, args, CREATE_DIR & known);
    else if (output_is_stream(path))
        allow(rules, path, CHANGE_FILE & known);
    else
        allow_beside_output(rules, path,
                            (args->command == COMMAND_CONVERT ? CREATE_DIR : CREATE_FILE) & known);
}

/* `value` is PATH or PATH:SCALE. */
static void allow_lora(int rules, const char *value)
{
    const char *colon = strrchr(value, ':');
    text path = {0};
    text_add(&path, value, colon == NULL ? strlen(value) : (size_t)(colon - value));
    allow_model(rules, path.ptr);
    text_free(&path);
    if (colon != NULL)
        allow_model(rules, value);
}

static void allow_all(int rules, const arguments *args)
{
    struct stat st;
    bool in_store = args->command == COMMAND_LIST || args->given[OPTION_STORE];
    for (size_t i = 0; i < count_models(args); i++) {
        const char *path = args->operands[i];
        in_store = in_store || strncmp(path, "ollama://", 9) == 0;
        if (strpbrk(path, "*?[") != NULL && lstat(path, &st) != 0)
            allow_pattern(rules, path);
        else if (strcmp(path, STDIN_PATH) != 0)
            allow_model(rules, path);
    }
    if (in_store)
        allow_store(rules, args, READ);
    for (size_t i = 0; i < args->lora_count; i++)
        allow_lora(rules, args->loras[i]);
    if (args->given[OPTION_IMATRIX])
        allow(rules, args->value[OPTION_IMATRIX], READ_FILE);
    if (args->given[OPTION_MANIFEST] && args->value[OPTION_MANIFEST] != NULL &&
        strcmp(args->value[OPTION_MANIFEST], STDIN_PATH) != 0)
        allow(rules, args->value[OPTION_MANIFEST], READ_FILE);
    if (args->given[OPTION_FOLLOW_LINKS])
        allow(rules, "/", READ);
}

int sandbox_restrict_files(const arguments *args)
{
    long version = syscall(CREATE_RULESET, NULL, 0, GET_VERSION);
    if (version < 1)
        return errno;
    const struct version *known = &versions[(version < VERSIONS ? version : VERSIONS) - 1];
    int rules = (int)syscall(CREATE_RULESET, &known->all, known->size, 0);
    if (rules < 0)
        return errno;
    allow_all(rules, args);
    allow_output(rules, args, known->all.files);
    int os_error = syscall(RESTRICT_SELF, rules, 0) == 0 ? 0 : errno;
    (void)close(rules);
    return os_error;
}

/* ---- descriptors ---- */

/* Returns the number that a text consists of, or -1. */
static int number_of(const char *digits)
{
    char *end;
    long number = strtol(digits, &end, 10);
    return end != digits && *end == '\0' && number >= 0 && number <= INT_MAX ? (int)number : -1;
}

/* Returns the number of the descriptor that a path of the command line names, or -1. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) == 0)
            return number_of(path + n);
    }
    return -1;
}

static bool is_named(const arguments *args, int fd)
{
    for (size_t i = 0; i < args->count; i++) {
        if (named_descriptor(args->operands[i]) == fd)
            return true;
    }
    return false;
}

/* Reopens a descriptor as read-only if it is a regular file that is open for writing. */
static void reopen(int fd)
{
    struct stat st;
    text path = {0};
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    text_addf(&path, "/proc/self/fd/%d", fd);
    off_t at = lseek(fd, 0, SEEK_CUR);
    int copy = open(path.ptr, O_RDONLY | O_CLOEXEC);
    if (copy >= 0 && lseek(copy, at, SEEK_SET) == at)
        (void)dup2(copy, fd);
    if (copy >= 0)
        (void)close(copy);
    text_free(&path);
}

void sandbox_close_descriptors(const arguments *args)
{
    int last = STDERR_FILENO;
    struct dirent *entry;
    DIR *all = opendir("/proc/self/fd");
    while (all != NULL && (entry = readdir(all)) != NULL) {
        int fd = number_of(entry->d_name);
        last = fd > last ? fd : last;
    }
    if (all != NULL)
        (void)closedir(all);
    reopen(STDIN_FILENO);
    for (int fd = STDERR_FILENO + 1; fd <= last; fd++) {
        if (is_named(args, fd))
            reopen(fd);
        else
            (void)close(fd);
    }
}

#endif
