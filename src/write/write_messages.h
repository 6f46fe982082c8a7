/*
 * write/write_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_WRITE_WRITE_MESSAGES_H
#define WB_WRITE_WRITE_MESSAGES_H

/* ---- copy_file.c ---- */

#define WB__MSG_WRITE_READ_BACK "cannot read back written data"
#define WB__MSG_WRITE_COPY_WHOLE_STATE                                                             \
    "wb_writer_copy_whole may be called once, after wb_writer_begin and before commit"

/* ---- copy_tensor.c ---- */

#define WB__MSG_WRITE_NO_TENSOR "the tensor index %llu is out of range"
#define WB__MSG_WRITE_COPY_MISMATCH                                                                \
    "the tensor was declared with %llu bytes of %s, but the source has %llu bytes of %s"
#define WB__MSG_WRITE_COPY_PARTS "a tensor of several parts must be copied part by part"

/* ---- interleaved_headers.c ---- */

#define WB__MSG_WRITE_FILE "cannot write the file"

/* ---- meta_value.c ---- */

#define WB__MSG_WRITE_ARRAY_EMPTY "the array has no valid element type, or its items are NULL"
#define WB__MSG_WRITE_ARRAY_DEEP "arrays are nested too deeply"
#define WB__MSG_WRITE_ARRAY_LARGE "the array has more elements than memory can hold"
#define WB__MSG_WRITE_ARRAY_ELEMENT_SIZE                                                           \
    "the wb_value structs in the array have different values in `size`"
#define WB__MSG_WRITE_ARRAY_ELEMENT "an element of an array of arrays is not an array"
#define WB__MSG_WRITE_VALUE_NULL "the value is NULL"
#define WB__MSG_WRITE_VALUE_TYPE                                                                   \
    "wb_value.type is invalid, or wb_value.bits is not possible for this type"
#define WB__MSG_WRITE_VALUE_RANGE "the number does not fit into the given number of bits"
#define WB__MSG_WRITE_ARRAY_DEPTH "arrays are nested more than %d levels deep"

/* ---- ollama/store.c ---- */

#define WB__MSG_WRITE_STORE_EXISTS "the store already contains a model with this name"
#define WB__MSG_WRITE_STORE_SYNC "cannot sync the folder of the blobs"

/* ---- ollama/store_digest.c ---- */

#define WB__MSG_WRITE_STORE_LIBCRYPTO "libcrypto failed to compute the SHA-256 digest of a blob"

/* ---- ollama/store_plan.c ---- */

#define WB__MSG_WRITE_STORE_BLOBS "the model would have %zu tensor blobs; the limit is %llu"
#define WB__MSG_WRITE_STORE_NAME "the name is not a valid model name for an Ollama store"
#define WB__MSG_WRITE_STORE_EMPTY "a model without tensors cannot be stored in an Ollama store"

/* ---- ollama/store_text.c ---- */

#define WB__MSG_WRITE_READ "cannot read the file"
#define WB__MSG_WRITE_JSON_LIMIT "the file has more than %llu bytes (wb_limits.json_bytes)"

/* ---- output_file.c ---- */

#define WB__MSG_WRITE_ARCHIVE_STREAM                                                               \
    "the archive was planned for a file but is written to a stream, or vice versa"

/* ---- replaced_files.c ---- */

#define WB__MSG_WRITE_FOLDER_NESTED                                                                \
    "this path is a folder, but the output has a file with this name"
#define WB__MSG_WRITE_FOLDER_IS_INPUT                                                              \
    "the output folder contains an input file: choose another output path"
#define WB__MSG_WRITE_OUTPUT_STAT "cannot access the output path"
#define WB__MSG_WRITE_FOLDER_EXISTS "the folder exists"
#define WB__MSG_WRITE_FOLDER_IS_FILE "the path exists and is not a folder"
#define WB__MSG_WRITE_REMOVE "cannot remove a file"

/* ---- write_begin.c ---- */

#define WB__MSG_WRITE_INSIDE_SOURCE                                                                \
    "the output is inside the folder of the model, and would become part of it: choose another "   \
    "output path"
#define WB__MSG_WRITE_OUTPUT_IS_INPUT "the output is an input file: choose another output path"
#define WB__MSG_WRITE_SET_EXISTS                                                                   \
    "the file exists, and a set of files cannot be replaced atomically: remove the old files "     \
    "or choose another path"
#define WB__MSG_WRITE_FILE_EXISTS "the file exists"
#define WB__MSG_WRITE_FILE_IS_FOLDER "this path is a folder, but the output is a single file"
#define WB__MSG_WRITE_NO_SPACE "the output needs %llu bytes, but only %llu are free"
#define WB__MSG_WRITE_BEGIN_STATE                                                                  \
    "wb_writer_begin must follow wb_writer_plan and may be called once"
#define WB__MSG_WRITE_OUTPUT_FOLDER "cannot write to the folder of the output"
#define WB__MSG_WRITE_OUTPUT_PARENTS "cannot create the parent folders of the output"
#define WB__MSG_WRITE_NO_PATH                                                                      \
    "wb_writer_begin requires a path, which must be given to wb_writer_plan"
#define WB__MSG_WRITE_DESCRIPTOR_FILES "several files cannot be written to one file descriptor"

/* ---- write_commit.c ---- */

#define WB__MSG_WRITE_BYTE_MISSING "byte %llu of the tensor was not written"
#define WB__MSG_WRITE_SYNC_FOLDER "cannot sync the folder of the output"
#define WB__MSG_WRITE_COMMIT_STATE                                                                 \
    "wb_writer_commit must follow wb_writer_begin and may be called once"

/* ---- write_declare.c ---- */

#define WB__MSG_WRITE_FORMAT "unknown output format '%s': use safetensors, gguf, mlx, ollama or npz"
#define WB__MSG_WRITE_OPTIONS_FLAGS "wb_writer_options.flags contains unknown flags"
#define WB__MSG_WRITE_NPZ_FOLDER "a .npz output must be a file, not a folder"
#define WB__MSG_WRITE_ALIGNMENT "the alignment must be a power of two and at least 8"
#define WB__MSG_WRITE_COPY_WHOLE_KIND                                                              \
    "an unchanged copy requires a GGUF model, GGUF or Ollama output, and no declared tensors; "    \
    "for GGUF output, the model must be a single file"
#define WB__MSG_WRITE_DECLARE_STATE "tensors and metadata must be declared before wb_writer_plan"
#define WB__MSG_WRITE_TENSOR_SIZE "the size of a tensor with this shape overflows 64 bits"
#define WB__MSG_WRITE_TENSOR_BLOCKS                                                                \
    "the row length of the tensor is not a multiple of the block size"
#define WB__MSG_WRITE_TENSOR_LAST_BYTE "the elements of the tensor do not fill its last byte"
#define WB__MSG_WRITE_DTYPE "the dtype is not a WB_DTYPE_* value"
#define WB__MSG_WRITE_TENSOR_DIMENSIONS                                                            \
    "the tensor has %lu dimensions, more than the limit (wb_limits.rank)"
#define WB__MSG_WRITE_TENSOR_EXISTS "a tensor with this name was already declared"
#define WB__MSG_WRITE_PACKING                                                                      \
    "the tensor index is out of range, or the name of the packing is empty"

/* ---- write_plan.c ---- */

#define WB__MSG_WRITE_NPZ_SPLIT                                                                    \
    "a .npz output is a single file and would exceed the maximum file size"
#define WB__MSG_WRITE_FILES_MANY                                                                   \
    "the output would consist of %zu files; the limit is wb_limits.files, and at most 65535"
#define WB__MSG_WRITE_ALIGNMENT_VALUE "general.alignment is not a valid alignment"
#define WB__MSG_WRITE_FILE_SIZE "a file of %llu bytes is larger than any file system supports"
#define WB__MSG_WRITE_COPY_WHOLE_PATH                                                              \
    "a file that is copied unchanged needs an output path, and can have no sidecar files"
#define WB__MSG_WRITE_PLAN_STATE "wb_writer_plan may be called once"
#define WB__MSG_WRITE_SIDECARS_FOLDER "sidecar files require an output folder"

/* ---- write_progress.c ---- */

#define WB__MSG_WRITE_CANCELLED "the write was cancelled"

/* ---- write_put.c ---- */

#define WB__MSG_WRITE_BYTE_TWICE "byte %llu of the tensor was already written"
#define WB__MSG_WRITE_STREAM_ORDER "a stream accepts tensor bytes only in file order"
#define WB__MSG_WRITE_PUT_STATE                                                                    \
    "tensor bytes can be written only between wb_writer_begin and wb_writer_commit"
#define WB__MSG_WRITE_TENSOR_END                                                                   \
    "the write extends past the end of the tensor, which has %llu bytes"
#define WB__MSG_WRITE_RANGE "the range is not within a tensor that is being written"
#define WB__MSG_WRITE_RANGE_GONE                                                                   \
    "written bytes can be read back only from an unfinished file, not from a finished file or a "  \
    "stream"
#define WB__MSG_WRITE_SWAP_UNITS                                                                   \
    "writes with byte swapping must consist of whole elements of %zu bytes"

/* ---- writeback.c ---- */

#define WB__MSG_WRITE_WRITEBACK_SLOTS "the number of slots must be from 1 to 64"
#define WB__MSG_WRITE_WRITEBACK_SLOT "the slot number is out of range"

/* ---- writer_public.c ---- */

#define WB__MSG_WRITE_OPTIONS_NULL "the options are NULL"
#define WB__MSG_WRITE_NOT_PLANNED "%s index %llu is out of range"

/* ---- writer_sidecars.c ---- */

#define WB__MSG_WRITE_LINK_OUTSIDE                                                                 \
    "the file was not copied, because a symbolic link leads outside the folder"
#define WB__MSG_WRITE_SIDECAR_STAT "cannot get the status of the sidecar file"
#define WB__MSG_WRITE_SIDECAR_NAME                                                                 \
    "the name of a sidecar file must be unique, contain no path, and not end with .safetensors "   \
    "or .safetensors.index.json"
#define WB__MSG_WRITE_IS_FOLDER "the path is a folder"

#endif
