#include "folder.h"

#include "scratch.h"
#include "tape.h"

#define DATA_MAX 8192
#define FILE_MAX (4096 + 8 + DATA_MAX)

static const char *const names[] = {
    "config.json",
    "model.safetensors",
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "generation_config.json",
    "m-00001-of-00002.gguf",
    "m-00002-of-00002.gguf",
    "m.gguf",
    "hf_quant_config.json",
    "tokenizer.model",
    "vocab.txt",
    "consolidated.safetensors",
    "chat_template.jinja",
};

#define NAMES (sizeof names / sizeof *names)

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* Writes a file with at most 4096 bytes of the input. A safetensors file also gets a length prefix
 * and data. Returns the size of the file. */
static size_t write_file(const char *name, const uint8_t *p, size_t n)
{
    static uint8_t file[FILE_MAX];
    size_t size = n;
    if (n > 4096)
        n = size = 4096;
    if (n > 0)
        memcpy(file, p, n);
    if (ends_with(name, ".safetensors")) {
        size_t data = fuzz_largest_number(p, n, DATA_MAX);
        for (size_t i = 0; i < 8; i++)
            file[i] = (uint8_t)((uint64_t)n >> 8 * i);
        if (n > 0)
            memcpy(file + 8, p, n);
        for (size_t i = 0; i < data; i++)
            file[8 + n + i] = (uint8_t)(i * 37);
        size = 8 + n + data;
    }
    fuzz_scratch_write(name, file, size);
    return size;
}

size_t fuzz_folder(const uint8_t *data, size_t size)
{
    static bool there[NAMES];
    bool now[NAMES] = {false};
    size_t total = 0, which = 0, begin = 0;
    for (size_t i = 0; i <= size; i++) {
        bool cut = i + 1 < size && data[i] == 0 && data[i + 1] >= 'a' && data[i + 1] < 'a' + NAMES;
        if (!cut && i < size)
            continue;
        if ((i > begin || begin > 0) && !now[which]) {
            total += write_file(names[which], data + begin, i - begin);
            now[which] = true;
        }
        if (cut) {
            which = data[i + 1] - 'a';
            begin = i + 2;
            i++;
        }
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (there[i] && !now[i])
            fuzz_scratch_remove(names[i]);
        there[i] = now[i];
    }
    return total;
}
