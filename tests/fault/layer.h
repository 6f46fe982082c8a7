/*
 * layer.h: what lies between the library and the system, for tests of faults.
 *
 * Every function by which the library reaches the system is wrapped (CMakeLists.txt, --wrap). While the
 * layer is on, each call has a number, counted from 1; one of them, or all from one on, can fail with
 * any errno, write less than it was asked to, or be the last that the process makes. Everything works
 * on real files; only fsync does nothing, and room is made in front of files (FALLOC_FL_INSERT_RANGE)
 * by hand, so that any file system will do. A second fault can be set for a second call.
 */
#ifndef WB_FAULT_LAYER_H
#define WB_FAULT_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weighbridge.h"

/* The calls, and whether they give or take descriptors. */
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
    LAYER_LASTING, /* it and all of its kind after it */
    LAYER_FOREVER, /* it and all after it that `mask` counts */
    LAYER_SHORT,   /* it writes or reads half of what it should */
    LAYER_KILL,    /* the process ends in its place */
    LAYER_TEAR     /* it writes half, then the process ends */
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
    uint64_t mask; /* calls that are counted, 1 << layer_call */
    layer_fault fault[2];
    uint64_t most; /* bytes that are read or written at once; 0: as many as there are */
    uint64_t room; /* bytes that still fit on the disk, if `has_room` */
    bool has_room;
    bool interrupts; /* every call that may be is interrupted once first */
    /* what came of it */
    uint64_t calls;
    bool happened;     /* the (first) fault did */
    layer_call struck; /* in this call */
    layer_call *kinds; /* of the calls in their order, if not NULL: at most `capacity` */
    uint64_t capacity;
    long descriptors; /* opened and not closed */
    long blocks;      /* allocated and not freed */
    uint64_t put;     /* bytes that pwrite wrote */
    uint64_t copied;  /* bytes that copy_file_range wrote */
    bool wrong;       /* a block was freed with another size, or a descriptor closed twice */
} layer_state;

extern layer_state layer;

/* Nothing counted, nothing set. */
void layer_reset(void);

/* Counts, and fails as the layer says. */
wb_allocator layer_allocator(void);

/* ---- what was done to the disk, for power.c ---- */

typedef enum op_kind {
    OP_WRITE,    /* bytes of file `ino` at `at` */
    OP_SIZE,     /* ftruncate to `at` */
    OP_INSERT,   /* n zeros at `at`, the rest moves back */
    OP_COLLAPSE, /* n bytes at `at` are taken out */
    OP_NEW,      /* a new file `ino`; name empty: none yet */
    OP_NEW_DIR,  /* a new folder `ino` */
    OP_LINK,     /* `ino` gets a name */
    OP_RENAME,   /* what is called `name` is called `to` */
    OP_EXCHANGE, /* the two change places */
    OP_UNLINK,
    OP_SYNC /* of file or folder `ino` */
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

/* Set while operations are to be written down; they stay the caller's to free. */
extern op_log *layer_log;
void op_log_free(op_log *log);

#endif
