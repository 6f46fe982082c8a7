/*
 * The secret key for the checksums of the user's edit journals: 16 random bytes in a file that only
 * the user may read.
 */
#define _GNU_SOURCE /* flock */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "edit/journal.h"
#include "io/sink.h"

#define KEY_BYTES 16

/*
 * Sets *path to the path of the file with the secret. The caller frees *path (strlen + 1 bytes). A
 * relative XDG_STATE_HOME is ignored, as the XDG specification requires. Returns 0 or errno.
 */
static int find_path(const wb_allocator *allocator, char **path)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    *path = NULL;
    if (state != NULL && state[0] == '/')
        *path = wb__path_join(allocator, state, WB__STR("weighbridge/journal-key"));
    else if (home != NULL && home[0] == '/')
        *path = wb__path_join(allocator, home, WB__STR(".local/state/weighbridge/journal-key"));
    else
        return ENOENT;
    return *path == NULL ? ENOMEM : 0;
}

/* Creates the directories of a path, with access for the user alone. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

/* Checks that only the user can access the file. Sets *is_complete to whether the file contains a
 * full secret. Returns 0 or errno. */
static int look_at(int fd, bool *is_complete)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return errno;
    *is_complete = st.st_size >= KEY_BYTES;
    return S_ISREG(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? 0 : EPERM;
}

/* Locks the file and writes a new secret, unless another process has completed the file meanwhile.
 * Also repairs a file that a crash left incomplete. Returns 0 or errno. */
static int complete(int fd)
{
    uint8_t bytes[KEY_BYTES];
    bool is_complete;
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return errno;
    }
    int os_error = look_at(fd, &is_complete);
    if (os_error != 0 || is_complete)
        return os_error;
    const wb__hash_key key = wb__hash_key_draw();
    wb__store_le64(bytes, key.word[0]);
    wb__store_le64(bytes + 8, key.word[1]);
    os_error = wb__write_at(fd, 0, bytes, sizeof bytes);
    return os_error != 0 ? os_error : wb__write_sync(fd);
}

/* Reads the secret. Sets *is_new if the file contained no full secret. Returns 0 or errno. */
static int read_key(int fd, bool create, wb__hash_key *key, bool *is_new)
{
    uint8_t bytes[KEY_BYTES];
    bool is_complete = false;
    int os_error = look_at(fd, &is_complete);
    *is_new = !is_complete;
    if (os_error == 0 && !is_complete)
        os_error = create ? complete(fd) : ENOENT;
    if (os_error != 0)
        return os_error;
    if (wb__read_back(fd, 0, bytes, sizeof bytes) != sizeof bytes)
        return EIO;
    key->word[0] = wb__load_le64(bytes);
    key->word[1] = wb__load_le64(bytes + 8);
    return 0;
}

int wb__journal_key(const wb_allocator *allocator, bool create, wb__hash_key *key)
{
    char *path;
    int os_error = find_path(allocator, &path);
    if (os_error != 0)
        return os_error;
    if (create)
        make_folders(path);
    int fd = open(path, (create ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_new = false;
    os_error = fd < 0 ? errno : read_key(fd, create, key, &is_new);
    if (fd >= 0)
        (void)close(fd);
    /* The name of a new file must be durable, too. */
    if (is_new && os_error == 0)
        os_error = wb__directory_sync_of(allocator, path);
    wb__free(allocator, path, strlen(path) + 1);
    return os_error == ELOOP ? EPERM : os_error;
}
