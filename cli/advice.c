/* The advice of the library names functions, structs and flags of C where only these help. The
 * command replaces it by advice that its user can follow.
 */
#include <string.h>

#include "report.h"

static const struct {
    const char *code, *advice;
} advices[] = {
    {"safetensors-header-too-large", "If you trust the file, raise the limit with --max-header. "
                                     "Otherwise it is not a safetensors file."},
    {"gguf-header-too-large", "If you trust the file, raise the limit with --max-header."},
    {"npy-header-too-large",
     "The file is damaged or malicious: the header of an array has less than 200 bytes."},
    {"npz-directory-too-large",
     "If you trust the archive, extract it with 'unzip', and open its .npy files one by one."},
    {"npz-expansion",
     "The archive may be built to exhaust memory. If you trust it, extract it with "
     "'unzip', and open its .npy files."},
    {"too-many-files",
     "This is the limit for the files of one model. A GGUF file can hold any number "
     "of tensors."},
    {"too-many-dimensions", "The header is damaged or malicious: fetch the file again."},
    {"metadata-type", "'wb inspect --metadata' shows the values and their types."},
    {"convert-architecture",
     "Write a table of the family (docs/dev/adding-a-family.md) and add --family FILE, or copy the "
     "tensors under their own names with --raw."},
    {"net-setting",
     "Correct or remove the setting that the message names: an environment variable or a file."},
    {"write-header-too-large", "Split the model into several files with --max-shard-size."},
    {"write-order", "Write to a file instead of a pipe or a device."},
    {"output-exists", "Choose another output, or replace this one with --force."},
    {"edit-journal", "Run 'wb edit PATH' without any edit. This restores the previous state of the "
                     "file."},
    {"fuse", "Request the tensors one by one."},
    {"rows", "Request the tensors one by one."},
    {"budget", "Request fewer tensors at once."},
};

const char *advice_of(const char *code, const char *advice)
{
    for (size_t i = 0; i < sizeof advices / sizeof advices[0] && advice[0] != '\0'; i++) {
        if (strcmp(advices[i].code, code) == 0)
            return advices[i].advice;
    }
    return advice;
}
