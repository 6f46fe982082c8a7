/*
 * formats/formats_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_FORMATS_FORMATS_MESSAGES_H
#define WB_FORMATS_FORMATS_MESSAGES_H

/* ---- foreign.c ---- */

#define WB__MSG_FOREIGN_EMPTY "the file is empty"
#define WB__MSG_FOREIGN_GIT_LFS                                                                    \
    "this is a Git LFS pointer, a short text file that refers to the real file"
#define WB__MSG_FOREIGN_HTML "this is a web page in HTML, not a file of weights"
#define WB__MSG_FOREIGN_XML "this is XML, likely an error message of a file server"
#define WB__MSG_FOREIGN_PICKLE "this is a Python pickle, as in older PyTorch files"
#define WB__MSG_FOREIGN_ZIP "this is a zip archive, as in PyTorch files"
#define WB__MSG_FOREIGN_GZIP "the file is compressed with gzip"
#define WB__MSG_FOREIGN_ZSTD "the file is compressed with zstd"
#define WB__MSG_FOREIGN_TAR "this is a tar archive"
#define WB__MSG_FOREIGN_HDF5 "this is an HDF5 file, as written by Keras"
#define WB__MSG_FOREIGN_GGML                                                                       \
    "this is a legacy ggml file (ggml, ggmf, ggjt or ggla), from before GGUF"
#define WB__MSG_FOREIGN_JSON "this is JSON text, not a file of weights"
#define WB__MSG_FOREIGN_REFUSAL "this is an error message of a server, not a file of weights: %s"
#define WB__MSG_FOREIGN_ZEROS "the first bytes of the file are all 0"
#define WB__MSG_FOREIGN_TEXT "this is plain text, not a file of weights"
#define WB__MSG_FOREIGN_UNKNOWN "the first bytes of the file match no known format"

/* ---- gguf/gguf_arrays.c ---- */

#define WB__MSG_GGUF_BOOL "a boolean is %u, but must be 0 or 1"
#define WB__MSG_GGUF_ARRAY_PAST_END                                                                \
    "an array declares %llu elements, but the file has only %llu more bytes"
#define WB__MSG_GGUF_ELEMENT_TYPE                                                                  \
    "the type number of the array elements is %lu, which GGUF does not define"
#define WB__MSG_GGUF_NESTED_ARRAY "the value is an array of arrays"

/* ---- gguf/gguf_entries.c ---- */

#define WB__MSG_GGUF_KEY_NUL                                                                       \
    "the key contains a NUL byte, which other programs treat as the end of the key"
#define WB__MSG_GGUF_KEY_ASCII "the key contains bytes that are not ASCII"
#define WB__MSG_GGUF_KEY_CHARACTER "the key contains an unusual character"
#define WB__MSG_GGUF_KEY_EMPTY_PART                                                                \
    "the key begins or ends with a dot, or contains two dots in a row"
#define WB__MSG_GGUF_KEY_LENGTH "the key has %zu bytes, but must have 1 to %d"
#define WB__MSG_GGUF_VALUE_UTF8 "the value is not valid UTF-8"
#define WB__MSG_GGUF_VALUE_NUL                                                                     \
    "the value contains a NUL byte, which other programs treat as the end of the value"
#define WB__MSG_GGUF_ALIGNMENT_TYPE "general.alignment is not of type UINT32"
#define WB__MSG_GGUF_ALIGNMENT_VALUE                                                               \
    "the alignment is %llu, but must be a power of two of at least 8"
#define WB__MSG_GGUF_ARCHITECTURE_TYPE "general.architecture is not a string"
#define WB__MSG_GGUF_ARCHITECTURE_NAME "\"%s\" is not a valid architecture name"
#define WB__MSG_GGUF_SPLIT_VALUE "the value of this key must be an integer of at least 0"
#define WB__MSG_GGUF_VALUE_TYPE "the type number of the value is %lu, which GGUF does not define"
#define WB__MSG_GGUF_KEY_TWICE "the file has this key twice"

/* ---- gguf/gguf_layout.c ---- */

#define WB__MSG_GGUF_TENSOR_PAST_END                                                               \
    "the tensor's %llu bytes at offset %llu of the tensor data are not inside the file, which "    \
    "has %llu bytes of tensor data, %llu too few for all tensors"
#define WB__MSG_GGUF_TENSOR_OVERLAP "the tensor overlaps the data of %s"
#define WB__MSG_GGUF_TENSOR_ORDER                                                                  \
    "the data of this tensor is stored before the data of the tensor that precedes it in the "     \
    "header; this is the first of %llu such tensors"
#define WB__MSG_GGUF_TENSOR_GAP                                                                    \
    "the gap before the data of this tensor is larger than the alignment requires; this is the "   \
    "first of %llu such gaps"
#define WB__MSG_GGUF_TRAILING_BYTES "%llu bytes at the end of the file belong to no tensor"
#define WB__MSG_GGUF_NO_DATA                                                                       \
    "the file ends after %llu bytes, but the tensors' data should begin at %llu"

/* ---- gguf/gguf_read.c ---- */

#define WB__MSG_GGUF_HEADER_LIMIT "the header has more than %llu bytes, which is the limit"
#define WB__MSG_GGUF_TRUNCATED "the file ends after %llu bytes, inside %s"
#define WB__MSG_GGUF_LENGTH_PAST_END                                                               \
    "%s has a declared length of %llu bytes, but the file has only %llu more"
#define WB__MSG_GGUF_MAGIC_REVERSED                                                                \
    "the file begins with \"FUGG\": its bytes are reversed in groups of four"
#define WB__MSG_GGUF_MAGIC "the file does not begin with \"GGUF\""
#define WB__MSG_GGUF_VERSION_1                                                                     \
    "this is GGUF version 1, which llama.cpp has not supported since 2023"
#define WB__MSG_GGUF_VERSION_UNKNOWN "GGUF has no version %lu%s"
#define WB__MSG_GGUF_READ_BIG_ENDIAN " (read as big-endian)"
#define WB__MSG_GGUF_BIG_ENDIAN "numbers are stored in big-endian byte order"
#define WB__MSG_GGUF_MIXED_BYTE_ORDER                                                              \
    "the version is stored %s byte first, but the number of %s in the opposite byte order"
#define WB__MSG_GGUF_COUNT "the header declares %llu %s, but the file is too short for them"
#define WB__MSG_GGUF_NO_QUANT_VERSION                                                              \
    "the file has quantized tensors, but no general.quantization_version"

/* ---- gguf/gguf_tensors.c ---- */

#define WB__MSG_GGUF_NAME_NUL                                                                      \
    "the tensor name contains a NUL byte, which other programs treat as the end of the name"
#define WB__MSG_GGUF_NAME_EMPTY "the tensor name is empty"
#define WB__MSG_GGUF_NAME_64 "the tensor name has 64 bytes, but llama.cpp accepts at most 63"
#define WB__MSG_GGUF_NAME_UTF8 "the tensor name is not valid UTF-8"
#define WB__MSG_GGUF_NAME_LENGTH "the tensor name has %zu bytes; the format allows %d"
#define WB__MSG_GGUF_DIMENSION                                                                     \
    "because of the dimension %llu, the tensor has more than 2^63 - 1 elements"
#define WB__MSG_GGUF_RANK "the tensor has %lu dimensions; the format allows %d"
#define WB__MSG_GGUF_SCALAR "the tensor has no dimensions; it is read as a single element"
#define WB__MSG_GGUF_EMPTY_TENSOR "the tensor has a dimension of 0 and thus no elements"
#define WB__MSG_GGUF_REMOVED_TYPE "tensor type number %lu is %s"
#define WB__MSG_GGUF_UNKNOWN_TYPE "GGUF has no tensor type number %lu"
#define WB__MSG_GGUF_BLOCK                                                                         \
    "the row length of %llu elements is not a multiple of the %s block size of %lu"
#define WB__MSG_GGUF_TENSOR_BITS "a %s tensor of this shape has more than 2^64 bits"
#define WB__MSG_GGUF_OFFSET "the offset %llu is not a multiple of %llu"
#define WB__MSG_GGUF_TENSOR_TWICE "the file has this tensor twice"

/* ---- gguf/gguf_write.c ---- */

#define WB__MSG_GGUF_WRITE_KEY                                                                     \
    "a GGUF key must have 1 to %d bytes, all ASCII and not NUL; this key has %zu bytes"
#define WB__MSG_GGUF_WRITE_NAME                                                                    \
    "a GGUF tensor name must have at most %d bytes and no NUL; this name has %zu bytes"
#define WB__MSG_GGUF_WRITE_RANK "a GGUF tensor must have at most %d dimensions; this tensor has %u"
#define WB__MSG_GGUF_WRITE_TYPE "GGUF has no type %s"
#define WB__MSG_FORMATS_FILE_TOO_LARGE "the tensors together are too large for one file"
#define WB__MSG_GGUF_WRITE_ALIGNMENT                                                               \
    "the alignment is %llu bytes, but GGUF requires a power of two of at least %d"

/* ---- npy/npy_descr.c ---- */

#define WB__MSG_NPY_TEXT "the array contains text"
#define WB__MSG_NPY_DATES "the array contains dates or time spans"
#define WB__MSG_NPY_VOID                                                                           \
    "the array contains raw bytes of unknown type (NumPy stores FP8 values this way)"
#define WB__MSG_NPY_ELEMENT_TYPE "the array contains elements of an unsupported type"
#define WB__MSG_NPY_OBJECTS "the array contains Python objects, which are pickled code"
#define WB__MSG_NPY_BYTE_ORDER "descr does not specify the byte order of the elements"

/* ---- npy/npy_header.c ---- */

#define WB__MSG_NPY_SHORT "the array ends inside its header"
#define WB__MSG_NPY_MAGIC "the array does not begin with \\x93NUMPY"
#define WB__MSG_NPY_VERSION "the version is %u.%u, but only 1.0, 2.0 and 3.0 are supported"
#define WB__MSG_NPY_HEADER_LIMIT "the declared header length is %llu bytes; the limit is %llu"
#define WB__MSG_NPY_OVERFLOW "the array's shape has more elements than any file can hold"

/* ---- npy/npy_literal.c ---- */

#define WB__MSG_NPY_STRING "expected a string in quotes"
#define WB__MSG_NPY_ESCAPE "a string in the header contains an escape or a control character"
#define WB__MSG_NPY_STRING_END "the header ends within a string"
#define WB__MSG_NPY_RECORDS "the array contains records of several fields"
#define WB__MSG_NPY_BOOLEAN "expected True or False"
#define WB__MSG_NPY_DIMENSION "a dimension exceeds 2^64 - 1"
#define WB__MSG_NPY_DIGITS "expected a dimension in decimal digits"
#define WB__MSG_NPY_LEADING_ZERO "a number begins with 0"
#define WB__MSG_NPY_RANK "the array has more than %llu dimensions"
#define WB__MSG_NPY_TUPLE "expected a tuple of dimensions"
#define WB__MSG_NPY_TUPLE_NEXT "expected ',' or ')'"
#define WB__MSG_NPY_TUPLE_COMMA "a tuple with one element needs a comma"
#define WB__MSG_NPY_UNKNOWN_KEY "the header has a key other than descr, fortran_order and shape"
#define WB__MSG_NPY_KEY_TWICE "the header has a key twice"
#define WB__MSG_NPY_COLON "expected ':' after a key"
#define WB__MSG_NPY_DICT "expected a dict"
#define WB__MSG_NPY_DICT_NEXT "expected ',' or '}'"
#define WB__MSG_NPY_AFTER_DICT "the header has text after the dict"
#define WB__MSG_NPY_KEY_MISSING "descr, fortran_order or shape is missing"

/* ---- npy/npy_read.c ---- */

#define WB__MSG_NPY_EXTENT "the array's elements need %llu bytes, but the file has only %llu more"
#define WB__MSG_NPY_TRAILING "%llu bytes follow the elements of the array"

/* ---- npy/npy_write.c ---- */

#define WB__MSG_NPY_WRITE_DTYPE                                                                    \
    "NumPy has no dtype for %s; convert the tensor to a supported dtype, for example F32"
#define WB__MSG_NPY_WRITE_RANK "NumPy arrays have at most 64 dimensions"
#define WB__MSG_NPY_WRITE_DIMENSION "a dimension of a NumPy array must not exceed 2^63 - 1"
#define WB__MSG_NPY_WRITE_HEADER                                                                   \
    "the array's header would have more than 10000 bytes, which NumPy does not read"

/* ---- npz/npz_end.c ---- */

#define WB__MSG_NPZ_TWO_ENDS "the archive has two end records and thus two directories"
#define WB__MSG_NPZ_NO_END "the file does not end with the end record of a zip archive"
#define WB__MSG_NPZ_MULTIPART "the archive is one part of a multi-part archive"
#define WB__MSG_NPZ_END64 "the zip64 end record is not at the offset that its locator specifies"
#define WB__MSG_NPZ_ENDS_DIFFER "the two end records of the archive contradict each other"
#define WB__MSG_NPZ_DIRECTORY_END                                                                  \
    "the directory of the archive does not end at the end record: bytes were inserted or removed"
#define WB__MSG_NPZ_DIRECTORY_LIMIT "the directory of the archive has %llu bytes; the limit is %llu"
#define WB__MSG_NPZ_ENTRY_COUNT                                                                    \
    "the end record declares more entries than the directory of the archive can hold"

/* ---- npz/npz_entry.c ---- */

#define WB__MSG_NPZ_NAME_EMPTY "the member name is empty"
#define WB__MSG_NPZ_NAME_NUL                                                                       \
    "the member name contains a NUL byte, which other programs treat as the end of the name"
#define WB__MSG_NPZ_NAME_ENCODING                                                                  \
    "the member name is neither ASCII nor marked as UTF-8, so programs read it "                   \
    "differently"
#define WB__MSG_NPZ_ENCRYPTED "the member is encrypted"
#define WB__MSG_NPZ_FLAGS "the member has flags that are not used for arrays"
#define WB__MSG_NPZ_STORED_SIZES                                                                   \
    "the member is stored without compression, but its compressed and uncompressed sizes differ"
#define WB__MSG_NPZ_METHOD "compression method %u is not supported; use 0 (stored) or 8 (deflate)"
#define WB__MSG_NPZ_EXTRA "the extra fields are malformed, or give the member another name"
#define WB__MSG_NPZ_ZIP64_UNUSED "the member has a zip64 field although its sizes do not need one"
#define WB__MSG_NPZ_ENTRY "the directory of the archive contains bytes that are not an entry"
#define WB__MSG_NPZ_ENTRY_PAST_END "the entry extends past the end of the directory of the archive"
#define WB__MSG_NPZ_OTHER_PART "the member is in another part of a multi-part archive"
#define WB__MSG_NPZ_MEMBER_START                                                                   \
    "the entry places its member at or after the start of the directory of the archive"

/* ---- npz/npz_extents.c ---- */

#define WB__MSG_NPZ_OVERLAP "two members overlap"
#define WB__MSG_NPZ_GAP "%llu bytes belong to no member of the archive"

/* ---- npz/npz_member.c ---- */

#define WB__MSG_NPZ_NO_LOCAL                                                                       \
    "there is no local header at the offset given in the directory of the archive"
#define WB__MSG_NPZ_LOCAL_EXTENT "the local header extends into the directory of the archive"
#define WB__MSG_NPZ_LOCAL_NAME                                                                     \
    "the local header and the directory of the archive have different names for the member"
#define WB__MSG_NPZ_LOCAL_DIFFERS                                                                  \
    "the local header of the member and its entry in the directory contradict each other"
#define WB__MSG_NPZ_DESCRIPTOR                                                                     \
    "the data descriptor of the member and its entry in the directory contradict each other"
#define WB__MSG_NPZ_DEFLATE "the compressed data is damaged or incomplete"
#define WB__MSG_NPZ_RATIO                                                                          \
    "the declared uncompressed size exceeds what deflate can produce from the compressed "         \
    "data"
#define WB__MSG_NPZ_INFLATED_LIMIT                                                                 \
    "the compressed members expand to more than %llu bytes plus 16 times their compressed size"
#define WB__MSG_NPZ_EXTENT                                                                         \
    "the array's elements need %llu bytes, but the member has %llu bytes for them"
#define WB__MSG_NPZ_MEMBER_EXTENT "the member extends into the directory of the archive"

/* ---- npz/npz_read.c ---- */

#define WB__MSG_NPZ_NAME_TWICE "the archive has two arrays with this name"
#define WB__MSG_NPZ_DIRECTORY_REST "the directory of the archive has bytes after its last entry"
#define WB__MSG_NPZ_OTHER_MEMBERS "%llu members that are not arrays are ignored"

/* ---- npz/npz_write.c ---- */

#define WB__MSG_NPZ_WRITE_NAME_LENGTH "the tensor name is too long for a zip archive"
#define WB__MSG_NPZ_WRITE_NAME                                                                     \
    "NumPy cannot find an array whose name ends with .npy or contains a NUL"
#define WB__MSG_NPZ_WRITE_UTF8 "the tensor name is not valid UTF-8, which zip archives require"
#define WB__MSG_NPZ_WRITE_DIRECTORY "the directory of the archive would exceed the size limit"
#define WB__MSG_NPZ_WRITE_BIG_ENDIAN ".npz arrays can be written only in little-endian byte order"
#define WB__MSG_NPZ_WRITE_META "an .npz archive cannot store metadata"

/* ---- output_layout.c ---- */

#define WB__MSG_FORMATS_HEADER_LIMIT                                                               \
    "the header would have more than %llu bytes, which is the limit"

/* ---- safetensors/safetensors_decode.c ---- */

#define WB__MSG_ST_UTF8 "the header is not valid UTF-8"
#define WB__MSG_ST_UNKNOWN_DTYPE "safetensors has no dtype \"%s\""
#define WB__MSG_ST_DTYPE_OBJECT "the dtype is a JSON object; a string is required"
#define WB__MSG_ST_RANK "the shape has more than %llu dimensions"
#define WB__MSG_ST_UNKNOWN_FIELD_TWICE "the entry has the same field twice"
#define WB__MSG_ST_FIELD_TWICE "the entry has the field %s twice"
#define WB__MSG_ST_FIELD_MISSING "the entry has no field %s"
#define WB__MSG_ST_ENTRY_ARRAY "the entry is a JSON array; an object is required"
#define WB__MSG_ST_META_KEY_TWICE "the metadata has this key twice"
#define WB__MSG_ST_META_TWICE "the header has __metadata__ twice"
#define WB__MSG_ST_META_NULL "__metadata__ is null, as written by MLX, instead of an object"
#define WB__MSG_ST_WHITE_SPACE "white space other than spaces %s the header's object"
#define WB__MSG_ST_AFTER_OBJECT "something other than spaces follows the header's object"
#define WB__MSG_ST_NO_BRACE "the header does not begin with '{'"

/* ---- safetensors/safetensors_layout.c ---- */

#define WB__MSG_ST_OFFSETS_REVERSED "data_offsets [%llu, %llu] end before they begin"
#define WB__MSG_ST_OFFSETS "data_offsets [%llu, %llu] %s: the tensors before it end at %llu"
#define WB__MSG_ST_OVERFLOW "the tensor's number of elements or bits exceeds 2^64 - 1"
#define WB__MSG_ST_SUB_BYTE "%llu elements of %s do not fill their last byte"
#define WB__MSG_ST_TENSOR_SIZE                                                                     \
    "%llu elements of %s take %llu bytes, but data_offsets [%llu, %llu] span %llu"
#define WB__MSG_ST_TRAILING "%llu bytes at the end of the file belong to no tensor"
#define WB__MSG_ST_TRUNCATED                                                                       \
    "the file is truncated: it ends after %llu bytes, and %llu more are missing"

/* ---- safetensors/safetensors_read.c ---- */

#define WB__MSG_ST_NO_LENGTH                                                                       \
    "the file ends after %llu bytes, but the header length field has 8 bytes"
#define WB__MSG_ST_HEADER_LIMIT "the declared header length is %llu bytes; the limit is %llu"
#define WB__MSG_ST_HEADER_PAST_END                                                                 \
    "the declared header length is %llu bytes, but the file ends %llu bytes before the "           \
    "end of the header"
#define WB__MSG_ST_TENSOR_TWICE "the header has this tensor twice"

/* ---- safetensors/safetensors_write.c ---- */

#define WB__MSG_ST_WRITE_UTF8 "safetensors requires UTF-8, but %s is not valid UTF-8"
#define WB__MSG_ST_WRITE_META "__metadata__ of safetensors can store only strings"
#define WB__MSG_ST_WRITE_DTYPE "safetensors has no dtype %s"
#define WB__MSG_ST_WRITE_NAME "safetensors cannot store a tensor with this name"

#endif
