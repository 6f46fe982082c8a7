/*
 * world.h: a scratch directory, a snapshot of its contents, and the scenes that run in it.
 *
 * A scene prepares the directory "out", then runs one operation of the library in it. Snapshots
 * of the whole directory are compared: names, permissions and contents.
 */
#ifndef WB_FAULT_WORLD_H
#define WB_FAULT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/* ---- files ---- */

typedef struct entry {
    char path[200]; /* path relative to the directory of the snapshot */
    bool is_folder;
    uint32_t mode;
    uint64_t size, digest;
} entry;

#define ENTRIES 128

typedef struct tree {
    entry entries[ENTRIES]; /* sorted by path */
    size_t count;
} tree;

/* Ends the program because the test itself failed, not the tested code. */
void broken(const char *what, const char *path);

/* Returns "SCRATCH/name" in a buffer that stays valid for the next 15 calls. */
const char *at(const char *name);

void world_begin(void);
void world_end(void);
void put(const char *name, const void *bytes, size_t n);
void empty_folder(const char *name); /* Empties the directory; creates it if it does not exist. */

/* Takes a snapshot of a directory. */
void look(const char *name, tree *t);

/* Returns true if the file name is one that the library uses for temporary files. */
bool is_temporary(const char *path);
bool same(const tree *a, const tree *b);
void without_temporaries(tree *t);

/* Returns true if all entries of `a` are in `b` with the same contents. */
bool within(const tree *a, const tree *b);
bool has(const tree *t, const char *path);
void show(const tree *t, const char *title);

uint64_t mix(uint64_t digest, const void *bytes, size_t n);

/* ---- scenes ---- */

typedef struct scene {
    const char *name;
    void (*prepare)(void); /* creates the initial files in the empty directory "out" */
    wb_status (*run)(wb_error *error);
    /*
     * Path below "out" of the file that makes the other files of the output valid; without it, they
     * are unused. NULL: the output appears atomically.
     */
    const char *anchor;
    bool reads;   /* the scene only reads, and sets `read_digest` to a digest of the bytes */
    bool repeats; /* a second run of the scene fails, because the output already exists */
    bool keeps;   /* complete files may remain although the file `anchor` is missing, as blobs of an
                   * Ollama store do */
} scene;

extern const scene scenes[];
extern const size_t scene_count;
extern uint64_t read_digest;

/* Values of the last conversion. all_given_at: number of system calls before the progress report
 * that all tensors are written. If a file is copied unchanged, the report before its first byte
 * counts instead. bytes_given: size of the tensors in bytes. */
extern uint64_t all_given_at, bytes_given;

/* Creates the input files of the scenes. */
void scenes_begin(void);

#endif
