/*
 * world.h: a scratch folder, what is in it, and the works that are done there.
 *
 * A scene prepares the folder "out", then runs one piece of work of the library in it. What is there is
 * compared as a whole: names, permissions and contents.
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
    char path[200]; /* below the folder */
    bool is_folder;
    uint32_t mode;
    uint64_t size, digest;
} entry;

#define ENTRIES 128

typedef struct tree {
    entry entries[ENTRIES]; /* by path */
    size_t count;
} tree;

/* Ends the program: something is wrong with the test, not with what is tested. */
void broken(const char *what, const char *path);

/* "SCRATCH/name", in a buffer that lives for the next 15 calls. */
const char *at(const char *name);

void world_begin(void);
void world_end(void);
void put(const char *name, const void *bytes, size_t n);
void empty_folder(const char *name); /* made, if it is not there */

/* What is in a folder. */
void look(const char *name, tree *t);

bool is_temporary(const char *path); /* named so by the library */
bool same(const tree *a, const tree *b);
void without_temporaries(tree *t);

/* All of a's entries are in b, each as it is there. */
bool within(const tree *a, const tree *b);
bool has(const tree *t, const char *path);
void show(const tree *t, const char *title);

uint64_t mix(uint64_t digest, const void *bytes, size_t n);

/* ---- scenes ---- */

typedef struct scene {
    const char *name;
    void (*prepare)(void); /* "out" is empty before */
    wb_status (*run)(wb_error *error);
    /*
     * Of several files that cannot appear at one stroke: the one, below "out", without which the others
     * are nothing. NULL: all appears at once.
     */
    const char *anchor;
    bool reads;   /* nothing is written; `read_digest` is what was read */
    bool repeats; /* on the new state it fails, since that is there */
    bool keeps;   /* files that are whole stay, though the anchor is missing: blobs of a store */
} scene;

extern const scene scenes[];
extern const size_t scene_count;
extern uint64_t read_digest;

/* Of the conversion before: after how many calls it had given all tensors away, and their bytes. */
extern uint64_t all_given_at, bytes_given;

/* Makes the files that the scenes start from. */
void scenes_begin(void);

#endif
