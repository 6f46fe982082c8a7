/*
 * layer.h: fault injection between the library and the system.
 *
 * Every system function that the library calls is wrapped (CMakeLists.txt, --wrap). While the
 * layer is enabled, calls are numbered from 1. A fault makes one call fail with any errno, transfer
 * fewer bytes than requested, or end the process; a failure may extend to all later calls. Two
 * faults can be set. All calls work on real files, with two exceptions: fsync does nothing, and
 * FALLOC_FL_INSERT_RANGE and FALLOC_FL_COLLAPSE_RANGE are emulated by copying, so that any file
 * system works.
 */
#ifndef WB_FAULT_LAYER_H
#define WB_FAULT_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weighbridge.h"

/* The wrapped calls: identifier and name for messages. */
#define LAYER_CALLS(X)                                                                             \
    X(OPEN, "open")                                                                                \
    X(CLOSE, "close")                                                                              \
    X(READ, "read")                                                                                \
    X(PREAD, "pread")                                                                              \
    X(WRITE, "write")                                                                              \
    X(PWRITE, "pwrite")                                                                            \
    X(FSYNC, "fsync")                                                                              \
    X(FTRUNCATE, "ftruncate")                                                                      \
    X(FALLOCATE, "fallocate")                                                                      \
    X(COPY_RANGE, "copy_file_range")                                                               \
    X(LINK, "linkat")                                                                              \
    X(RENAME, "rename")                                                                            \
    X(UNLINK, "unlink")                                                                            \
    X(MKDIR, "mkdir")                                                                              \
    X(RMDIR, "rmdir")                                                                              \
    X(FCHMOD, "fchmod")                                                                            \
    X(FCHOWN, "fchown")                                                                            \
    X(STAT, "stat")                                                                                \
    X(LSTAT, "lstat")                                                                              \
    X(FSTAT, "fstat")                                                                              \
    X(STATFS, "statfs")                                                                            \
    X(ACCESS, "access")                                                                            \
    X(READLINK, "readlink")                                                                        \
    X(OPENDIR, "opendir")                                                                          \
    X(READDIR, "readdir")                                                                          \
    X(FCNTL, "fcntl")                                                                              \
    X(FLOCK, "flock")                                                                              \
    X(MEMFD, "memfd_create")                                                                       \
    X(MMAP, "mmap")                                                                                \
    X(POLL, "poll")                                                                                \
    X(ALLOC, "an allocation")

typedef enum layer_call {
#define X(id, name) LAYER_##id,
    LAYER_CALLS(X)
#undef X
        LAYER_CALL_COUNT
} layer_call;

extern const char *const layer_names[LAYER_CALL_COUNT];

typedef enum layer_kind {
    LAYER_NONE,
    LAYER_ERRNO,   /* call `at` fails with `error` */
    LAYER_LASTING, /* call `at` and all later calls of the same function fail */
    LAYER_FOREVER, /* call `at` and all later calls of the functions in `mask` fail */
    LAYER_SHORT,   /* call `at` reads or writes half of the requested bytes */
    LAYER_KILL,    /* the process ends instead of call `at` */
    LAYER_TEAR     /* call `at` writes half of its bytes, then the process ends */
} layer_kind;

typedef struct layer_fault {
    layer_kind kind;
    uint64_t at;
    int error;
} layer_fault;

#define LAYER_SYSTEM (~(UINT64_C(1) << LAYER_ALLOC))
#define LAYER_MEMORY (UINT64_C(1) << LAYER_ALLOC)

typedef struct layer_state {
    bool on;
    uint64_t mask; /* functions whose calls are counted and can fail: bits 1 << layer_call */
    layer_fault fault[2];
    uint64_t most; /* maximum number of bytes per read or write; 0: unlimited */
    uint64_t room; /* free bytes on the disk, if `has_room` */
    bool has_room;
    bool interrupts; /* every interruptible call fails once with EINTR first */
    /* Results: */
    uint64_t calls;
    bool happened;     /* a fault was triggered */
    layer_call struck; /* function in which the first fault was triggered */
    layer_call *kinds; /* functions of the first `capacity` calls, in order; may be NULL */
    uint64_t capacity;
    long descriptors; /* number of open file descriptors */
    long blocks;      /* number of allocated blocks */
    uint64_t put;     /* bytes written by pwrite */
    uint64_t copied;  /* bytes written by copy_file_range */
    bool wrong;       /* a block was freed with a wrong size, or a descriptor was closed twice */
} layer_state;

extern layer_state layer;

/* Resets all counts and faults. */
void layer_reset(void);

/* Returns an allocator that counts and fails as the layer is configured. */
wb_allocator layer_allocator(void);

/* ---- log of disk operations, for power.c (members: see struct op) ---- */

typedef enum op_kind {
    OP_WRITE,    /* writes n bytes to file `ino` at offset `at` */
    OP_SIZE,     /* ftruncate to `at` bytes */
    OP_INSERT,   /* inserts n zero bytes at `at`; the offsets of the bytes after `at` grow by n */
    OP_COLLAPSE, /* removes n bytes at `at` */
    OP_NEW,      /* creates file `ino`, without a name in a directory if `name` is empty */
    OP_NEW_DIR,  /* creates directory `ino` */
    OP_LINK,     /* adds a name for `ino` */
    OP_RENAME,   /* renames `name` to `to` */
    OP_EXCHANGE, /* exchanges the two names */
    OP_UNLINK,
    OP_SYNC /* fsync of file or directory `ino` */
} op_kind;

typedef struct op {
    op_kind kind;
    uint64_t ino;
    uint64_t folder, to_folder;
    char name[96], to[96];
    uint64_t at;
    size_t n;
    uint8_t *bytes;
} op;

typedef struct op_log {
    op *ops;
    size_t count, capacity;
} op_log;

/* If this is not NULL, the layer records operations in it. The test frees it with op_log_free. */
extern op_log *layer_log;
void op_log_free(op_log *log);

#endif
