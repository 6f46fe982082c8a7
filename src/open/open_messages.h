/*
 * open/open_messages.h: texts of the errors and findings of this module, grouped by source file.
 */
#ifndef WB_OPEN_OPEN_MESSAGES_H
#define WB_OPEN_OPEN_MESSAGES_H

/* ---- open_file.c ---- */

#define WB__MSG_OPEN_IS_FOLDER "the path is a folder; a file is required"

/* ---- open_model.c ---- */

#define WB__MSG_OPEN_STORE "the path is an Ollama store: give the name of a model in the store"
#define WB__MSG_OPEN_STORE_INSIDE                                                                  \
    "the folder 'models' in this folder is an Ollama store: give the name of a model in that "     \
    "store"
#define WB__MSG_OPEN_STORE_BELOW                                                                   \
    "this folder is no Ollama store, but its folder 'models' is: give that folder as --store"
#define WB__MSG_OPEN_STORE_AROUND                                                                  \
    "the folder around this one is an Ollama store: give the name of a model in that store"
#define WB__MSG_OPEN_ADDRESS "this is an address, but weighbridge reads only files of this machine"
#define WB__MSG_OPEN_LINK_BROKEN "the symbolic link leads to a file that does not exist"
#define WB__MSG_OPEN_NO_BLOB "the store contains no blob with this digest"
#define WB__MSG_OPEN_NOT_DIGEST                                                                    \
    "the name is not a complete digest, and the store contains no blob with this name"

/* ---- open_ollama.c ---- */

#define WB__MSG_OPEN_BLOB_SIZE "the blob of a %s layer %s"
#define WB__MSG_OPEN_BLOB_SHORT "is shorter than the manifest specifies"
#define WB__MSG_OPEN_BLOB_LONG "is longer than the manifest specifies"
#define WB__MSG_OPEN_LAYER_NAME "the name of the layer matches no tensor in its blob"
#define WB__MSG_OPEN_NO_WEIGHTS "the manifest contains no layer with weights"
#define WB__MSG_OPEN_BLOB_MISSING "the blob of a %s layer is missing"
#define WB__MSG_OPEN_OTHER_MODEL "the %s of the model is a separate file, which is not opened"
#define WB__MSG_OPEN_MANIFEST "cannot open the manifest"

/* ---- open_public.c ---- */

#define WB__MSG_OPEN_OUT_NULL "the pointer that receives the model is NULL"
#define WB__MSG_OPEN_NULL "%s is NULL"
#define WB__MSG_OPEN_SOURCE_READ "wb_source.read must not be NULL"

#endif
