/*
 * edit/edit_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_EDIT_EDIT_MESSAGES_H
#define WB_EDIT_EDIT_MESSAGES_H

/* ---- edit.c ---- */

#define WB__MSG_EDIT_KEY_RESERVED "this key is reserved for the padding of the header"
#define WB__MSG_EDIT_NO_KEY "the file does not contain this key"
#define WB__MSG_EDIT_KEY_EXISTS "the file already contains this key"
#define WB__MSG_EDIT_NO_TENSOR "the file does not contain this tensor"
#define WB__MSG_EDIT_TENSOR_EXISTS "the file already contains a tensor with this name"
#define WB__MSG_EDIT_OTHER_SHARD                                                                   \
    "another file of the model already contains a tensor with this name"
#define WB__MSG_EDIT_INDEX_LISTS "the index already lists a tensor with this name in another file"
#define WB__MSG_EDIT_STORE_BLOB                                                                    \
    "the file is a blob of an Ollama store and cannot be edited, because its name is the digest "  \
    "of its bytes"
#define WB__MSG_EDIT_FORMAT "only headers of safetensors and GGUF files can be edited"
#define WB__MSG_EDIT_STORE_MODEL                                                                   \
    "the files of models in an Ollama store cannot be edited, because the name of each file is "   \
    "the digest of its bytes"

/* ---- edit_in_place.c ---- */

#define WB__MSG_EDIT_UNDO "restoring the file after an interrupted edit failed (errno %d)"
#define WB__MSG_EDIT_JOURNAL_KEY                                                                   \
    "cannot read the secret key that signs the edit journals of this user"
#define WB__MSG_EDIT_JOURNAL_UNKNOWN                                                               \
    "the journal of an interrupted edit was not written by this user, or is damaged"
#define WB__MSG_EDIT_JOURNAL_FOREIGN                                                               \
    "the journal of an interrupted edit does not match the file, because the file was replaced "   \
    "after the edit"
#define WB__MSG_EDIT_JOURNAL_REMOVE "cannot remove the journal of the edit"
#define WB__MSG_EDIT_SYNC_FOLDER "cannot sync the folder of the file"
#define WB__MSG_EDIT_WRITE "cannot write to the file"
#define WB__MSG_EDIT_OPEN "cannot open the file for writing"
#define WB__MSG_EDIT_CLOSE "cannot close the file"

/* ---- edit_lock.c ---- */

#define WB__MSG_EDIT_LOCKED "another process is editing the file"

/* ---- edit_public.c ---- */

#define WB__MSG_EDIT_PATH_NULL "the path is NULL"
#define WB__MSG_EDIT_EDIT_SIZES "the wb_edit structs have different values in `size`"
#define WB__MSG_EDIT_EDIT_INCOMPLETE                                                               \
    "an edit has an unknown kind, or lacks a name, value or new name"

/* ---- edit_rewrite.c ---- */

#define WB__MSG_EDIT_INDEX_LEFT                                                                    \
    "the edited file was written, but the index file could not be replaced"
#define WB__MSG_EDIT_NEW_FILE "cannot write the file"

#endif
