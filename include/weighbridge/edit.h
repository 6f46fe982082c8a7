/*
 * weighbridge/edit.h: editing the header of a safetensors or GGUF file.
 */
#ifndef WEIGHBRIDGE_EDIT_H
#define WEIGHBRIDGE_EDIT_H

#include "weighbridge/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operation of an edit. A key is a key of the metadata. */
typedef enum wb_edit_kind {
    WB_EDIT_SET = 1,        /* sets a key to a value */
    WB_EDIT_DELETE = 2,     /* deletes a key; no error if it does not exist */
    WB_EDIT_RENAME_KEY = 3, /* renames a key; its position is kept */
    WB_EDIT_RENAME = 4,     /* renames a tensor */
    WB_EDIT_DROP = 5        /* removes a tensor */
} wb_edit_kind;

typedef struct wb_edit {
    size_t size; /* sizeof(wb_edit) */
    wb_edit_kind kind;
    const char *name; /* name of the key or tensor */
    size_t name_len;
    const char *to; /* RENAME_KEY, RENAME: the new name */
    size_t to_len;
    const wb_value *value; /* SET: the value; for safetensors a string */
} wb_edit;
#define WB_EDIT_INIT WB_INIT(wb_edit)

/* Report how the file would be edited (wb_edited), without changing it. */
#define WB_EDIT_DRY_RUN 1u
/* Change the file in place even if it could be replaced atomically by a new one. */
#define WB_EDIT_IN_PLACE 2u
/* safetensors: align each tensor, as with WB_WRITE_ALIGN_TENSORS. */
#define WB_EDIT_ALIGN_TENSORS 4u

typedef struct wb_edit_options {
    size_t size;                   /* sizeof(wb_edit_options) */
    uint32_t flags;                /* WB_EDIT_* */
    uint64_t alignment;            /* new alignment of the data, in bytes; 0: unchanged */
    const wb_limits *limits;       /* NULL: wb_limits_default */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks */
} wb_edit_options;
#define WB_EDIT_OPTIONS_INIT WB_INIT(wb_edit_options)

/* How a file was edited or, with WB_EDIT_DRY_RUN, would be edited. */
typedef enum wb_edit_way {
    WB_EDIT_NOTHING = 0,  /* no change was necessary */
    WB_EDIT_HEADER = 1,   /* the header was overwritten in place */
    WB_EDIT_INSERT = 2,   /* space was inserted before the data, without copying the data */
    WB_EDIT_NEW_FILE = 3, /* the file was replaced atomically by a new one */
} wb_edit_way;

typedef struct wb_edited {
    size_t size; /* sizeof(wb_edited) */
    wb_edit_way way;
    uint64_t header_bytes; /* size of the new header */
    uint64_t inserted;     /* number of bytes inserted before the data */
    uint64_t bytes;        /* size of the file after the edit */
    uint64_t links;        /* number of other hard links of the file. After WB_EDIT_NEW_FILE, they
                            * refer to the unedited file; otherwise, to the edited file. */
} wb_edited;
#define WB_EDITED_INIT WB_INIT(wb_edited)

/*
 * Edits the header of one safetensors or GGUF file, which may be one of several files of a model.
 *
 * Small files, and files on a file system that can share data between files, are replaced
 * atomically by a new file. Other files are changed in place, without copying the data of the
 * tensors, unless tensors are dropped or `alignment` requires it. During a change in place, a
 * journal ".NAME.wb-journal" in the same directory contains the former header. If the edit is
 * interrupted by a crash, the next edit of the file by the same user first restores that header.
 * The checksum of the journal is keyed by a secret in $XDG_STATE_HOME/weighbridge/journal-key, by
 * default ~/.local/state/weighbridge/journal-key, so that a forged journal that was distributed
 * with a model is refused. The first edit that needs the secret creates it; if this fails, the file
 * is not changed in place but replaced. GGUF permits no gap between header and data: unused space
 * becomes the value of a key "weighbridge.padding", and later edits can use this space.
 *
 * If the edit renames or drops tensors, the names are compared with the other files of the model,
 * and model.safetensors.index.json is changed, too. If a crash interrupts the edit, the next edit
 * of the file first makes the file and the index consistent: it completes both changes or reverts
 * both.
 *
 * Edits are applied in order, each to the result of the former ones. Either all edits are applied
 * or none.
 *
 * edited  set to how the file was edited; may be NULL
 *
 * NOT_FOUND if a tensor, or a key to rename, does not exist; ARGUMENT if a new name already exists
 * in the file or in another file of the model, and for the key "weighbridge.padding"; IO while
 * another edit of the file holds its lock (flock); UNSUPPORTED ("edit-store") for files of an
 * Ollama store, whose names are the digests of their bytes. Other processes must not write the file
 * during the edit; processes that have mapped it see the change.
 *
 * Needs at most 24 times the bytes of the header plus 1 MiB of memory. Only headers with keys of a
 * few bytes need that much.
 */
WB_API wb_status wb_edit_file(const char *path, const wb_edit *edits, uint64_t count,
                              const wb_edit_options *options, wb_edited *edited,
                              wb_error *error) WB_MUST_CHECK;

/*
 * Reverts an edit of the file that was interrupted by a crash, or completes the edit if only the
 * index remained to be changed. Sets *undone to 1 if there was such an edit, otherwise to 0; undone
 * may be NULL. IO ("edit-another-file"), without any change, if the journal belongs to another
 * file, or was not written by this user.
 */
WB_API wb_status wb_edit_recover(const char *path, int *undone, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
