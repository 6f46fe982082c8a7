/*
 * fuzz/support/written.h: describes the expected contents of a file, and compares the file with it.
 */
#ifndef WB_FUZZ_WRITTEN_H
#define WB_FUZZ_WRITTEN_H

#include "model.h"
#include "tape.h"

#define WRITTEN_TENSORS 24
#define WRITTEN_METAS 24
#define WRITTEN_NAME 300
#define WRITTEN_BYTES 4096

typedef struct written_tensor {
    char name[WRITTEN_NAME];
    size_t name_len;
    int32_t dtype;
    uint32_t rank;
    uint64_t shape[4];
    uint64_t bytes;
    uint8_t data[WRITTEN_BYTES];
} written_tensor;

typedef struct written_meta {
    char key[WRITTEN_NAME];
    size_t key_len;
    char text[9500];
    size_t text_len;
} written_meta;

typedef struct written {
    written_tensor tensors[WRITTEN_TENSORS];
    size_t tensor_count;
    written_meta metas[WRITTEN_METAS]; /* values are strings */
    size_t meta_count;
} written;

/* Chooses a tensor of at most WRITTEN_BYTES bytes. Returns false if the dtype does not permit the
 * shape. */
bool written_draw(fuzz_tape *tape, written_tensor *tensor);

/* Opens `path` and compares it with the expected contents. */
void written_check(const written *w, const char *path, bool has_metadata);

#endif
