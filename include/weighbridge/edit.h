/*
 * weighbridge/edit.h: editing the header of a safetensors or GGUF file.
 */
#ifndef WEIGHBRIDGE_EDIT_H
#define WEIGHBRIDGE_EDIT_H

#include "weighbridge/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an edit does. A key is one of the metadata. */
typedef enum wb_edit_kind {
    WB_EDIT_SET = 1,        /* a key to a value */
    WB_EDIT_DELETE = 2,     /* a key; of none is no failure */
    WB_EDIT_RENAME_KEY = 3, /* which keeps its place */
    WB_EDIT_RENAME = 4,     /* a tensor */
    WB_EDIT_DROP = 5        /* a tensor */
} wb_edit_kind;

typedef struct wb_edit {
    size_t size; /* sizeof(wb_edit) */
    wb_edit_kind kind;
    const char *name; /* of the key or tensor */
    size_t name_len;
    const char *to; /* RENAME_KEY, RENAME: the new name */
    size_t to_len;
    const wb_value *value; /* SET; for safetensors a string */
} wb_edit;
#define WB_EDIT_INIT WB_INIT(wb_edit)

/* Find out what would be done, and do nothing. */
#define WB_EDIT_DRY_RUN 1u
/* Change the file where it lies even where a new one could take its place at once. */
#define WB_EDIT_IN_PLACE 2u
/* safetensors: as WB_WRITE_ALIGN_TENSORS. */
#define WB_EDIT_ALIGN_TENSORS 4u

typedef struct wb_edit_options {
    size_t size; /* sizeof(wb_edit_options) */
    uint32_t flags;
    uint64_t alignment;            /* lays the file out anew with this alignment; 0: as it is */
    const wb_limits *limits;       /* NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: as for wb_open */
} wb_edit_options;
#define WB_EDIT_OPTIONS_INIT WB_INIT(wb_edit_options)

/* How an edit was done, or would be. */
typedef enum wb_edit_way {
    WB_EDIT_NOTHING = 0,  /* the file says all that already */
    WB_EDIT_HEADER = 1,   /* the header was written over, in its place */
    WB_EDIT_INSERT = 2,   /* room was made in front of the data, which was not copied */
    WB_EDIT_NEW_FILE = 3, /* a new file took the old one's place at once */
} wb_edit_way;

typedef struct wb_edited {
    size_t size; /* sizeof(wb_edited) */
    wb_edit_way way;
    uint64_t header_bytes; /* written */
    uint64_t inserted;     /* bytes in front of the data */
    uint64_t bytes;        /* of the file */
} wb_edited;
#define WB_EDITED_INIT WB_INIT(wb_edited)

/*
 * Edits the header of a safetensors or GGUF file: this file alone, of a split or sharded model too. A
 * small file, and one whose file system can share data between files, is replaced at once by a new one.
 * Others are changed where they lie, so that nothing of the data is copied: what the header was is kept
 * in a file ".NAME.wb-journal" beside it until the change is on the disk, and the next edit of the file
 * first undoes what a crash left half done. Data is only copied where tensors are dropped or `alignment`
 * asks for it. GGUF knows no room between header and data: what is left over there is filled with a key
 * "weighbridge.padding", which later edits use up.
 * Edits are carried out in their order, each on what those before have left; either all or none. UNSUPPORTED
 * ("edit-store") for what an Ollama store has, whose names are the digests of the bytes.
 *
 * edited  may be NULL
 *
 * NOT_FOUND for a tensor, or a key to be renamed, that is not there; ARGUMENT for a name that is there
 * already, and for the key above; IO while another edit of the file is under way, which holds a lock (flock). Nobody else may
 * write the file meanwhile; who has it mapped sees it change.
 */
WB_API wb_status wb_edit_file(const char *path, const wb_edit *edits, uint64_t count,
                              const wb_edit_options *options, wb_edited *edited,
                              wb_error *error) WB_MUST_CHECK;

/*
 * Undoes what a crash left half done of an edit, if anything. *undone, which may be NULL, is 1 if there
 * was something. IO ("edit-another-file") where a journal is there and the file is not the one it belongs to any more:
 * nothing is done to it.
 */
WB_API wb_status wb_edit_recover(const char *path, int *undone, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
