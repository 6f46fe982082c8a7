/* Recognizes files of unsupported types by their first bytes; one table row per file type. */
#include "formats/format.h"
#include "formats/formats_messages.h"

#define REFUSAL_SHOWN 160 /* number of bytes of a server's message that the error contains */

typedef struct foreign_row {
    wb__finding_id finding;
    bool (*is)(const wb__head *head);
    const char *what;
} foreign_row;

static bool starts_with(const wb__head *head, const char *bytes, size_t n)
{
    return head->n >= n && memcmp(head->bytes, bytes, n) == 0;
}

#define STARTS_WITH(head, literal) starts_with(head, literal, sizeof(literal) - 1)

/*
 * Returns the index of the first byte from i on that is not white space. If i is 0, also skips a
 * byte order mark.
 */
static size_t skip_space(const wb__head *head, size_t i)
{
    if (i == 0 && STARTS_WITH(head, "\xEF\xBB\xBF"))
        i = 3;
    while (i < head->n && (head->bytes[i] == ' ' || head->bytes[i] == '\t' ||
                           head->bytes[i] == '\r' || head->bytes[i] == '\n'))
        i++;
    return i;
}

/* Case-insensitive. */
static bool text_starts_with(const wb__head *head, wb__str text)
{
    size_t i = skip_space(head, 0);
    return head->n - i >= text.len &&
           wb__str_equal_nocase((wb__str){(const char *)head->bytes + i, text.len}, text);
}

static bool is_empty(const wb__head *head)
{
    return head->file_bytes == 0;
}

static bool is_git_lfs(const wb__head *head)
{
    return STARTS_WITH(head, "version https://git-lfs.github.com/spec/");
}

static bool is_html(const wb__head *head)
{
    return text_starts_with(head, WB__STR("<!doctype html")) ||
           text_starts_with(head, WB__STR("<html")) || text_starts_with(head, WB__STR("<head"));
}

static bool is_xml(const wb__head *head)
{
    return text_starts_with(head, WB__STR("<?xml"));
}

/*
 * Returns true for a pickle: the opcode PROTO with a version from 2 to 5, then an opcode that many
 * pickles begin with. \x8a (a long integer) is included because older torch files begin with the
 * number 0x1950a86a20f9469cfc6c.
 */
static bool is_pickle(const wb__head *head)
{
    return head->n >= 3 && head->bytes[0] == 0x80 && head->bytes[1] >= 2 && head->bytes[1] <= 5 &&
           memchr("\x95(}])\x8a"
                  "cX\x8c",
                  head->bytes[2], 9) != NULL;
}

static bool is_zip(const wb__head *head)
{
    return STARTS_WITH(head, "PK\3\4") || STARTS_WITH(head, "PK\5\6");
}

static bool is_gzip(const wb__head *head)
{
    return STARTS_WITH(head, "\x1f\x8b\x08");
}

static bool is_zstd(const wb__head *head)
{
    return STARTS_WITH(head, "\x28\xb5\x2f\xfd");
}

static bool is_tar(const wb__head *head)
{
    return head->n >= 262 && memcmp(head->bytes + 257, "ustar", 5) == 0;
}

static bool is_hdf5(const wb__head *head)
{
    return STARTS_WITH(head, "\x89HDF\r\n\x1a\n");
}

/* The magic numbers 'ggml', 'ggmf', 'ggjt' and 'ggla' (adapter), in either byte order. */
static bool is_ggml(const wb__head *head)
{
    return STARTS_WITH(head, "lmgg") || STARTS_WITH(head, "fmgg") || STARTS_WITH(head, "tjgg") ||
           STARTS_WITH(head, "algg") || STARTS_WITH(head, "ggml") || STARTS_WITH(head, "ggmf") ||
           STARTS_WITH(head, "ggjt") || STARTS_WITH(head, "ggla");
}

/*
 * Returns true for JSON text that starts with an object. The header of a safetensors file does not
 * match, because it starts at offset 8.
 */
static bool is_json(const wb__head *head)
{
    size_t i = skip_space(head, 0);
    if (i == head->n || head->bytes[i] != '{')
        return false;
    i = skip_space(head, i + 1);
    return i == head->n || head->bytes[i] == '"' || head->bytes[i] == '}';
}

static bool is_zeros(const wb__head *head)
{
    for (size_t i = 0; i < head->n; i++) {
        if (head->bytes[i] != 0)
            return false;
    }
    return head->n >= 16;
}

/*
 * Returns true if all bytes are printable ASCII. At least 16 bytes are required, because the bytes
 * of a short binary file could be printable by chance.
 */
static bool is_text(const wb__head *head)
{
    for (size_t i = 0; i < head->n; i++) {
        uint8_t c = head->bytes[i];
        if (c >= 0x7F || (c < 0x20 && c != '\n' && c != '\r' && c != '\t'))
            return false;
    }
    return head->n >= 16;
}

/*
 * Returns true for an error message that a server sent in place of a file: JSON whose first member
 * is "error", or a text that the Hugging Face Hub sends.
 */
static bool is_refusal(const wb__head *head)
{
    static const wb__str texts[] = {
        {"Access to model ", 16},     {"Access to this ", 15},     {"Cannot access gated", 19},
        {"Entry not found", 15},      {"Invalid credentials", 19}, {"Invalid username", 16},
        {"Repository not found", 20},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (text_starts_with(head, texts[i]))
            return true;
    }
    size_t i = skip_space(head, 0);
    if (i == head->n || head->bytes[i] != '{')
        return false;
    i = skip_space(head, i + 1);
    return starts_with(&(wb__head){head->bytes + i, head->n - i, head->file_bytes}, "\"error\"", 7);
}

static const foreign_row rows[] = {
    {WB__FINDING_FILE_EMPTY, is_empty, WB__MSG_FOREIGN_EMPTY},
    {WB__FINDING_FOREIGN_GIT_LFS, is_git_lfs, WB__MSG_FOREIGN_GIT_LFS},
    {WB__FINDING_FOREIGN_HTML, is_html, WB__MSG_FOREIGN_HTML},
    {WB__FINDING_FOREIGN_XML, is_xml, WB__MSG_FOREIGN_XML},
    {WB__FINDING_FOREIGN_PICKLE, is_pickle, WB__MSG_FOREIGN_PICKLE},
    {WB__FINDING_FOREIGN_ZIP, is_zip, WB__MSG_FOREIGN_ZIP},
    {WB__FINDING_FOREIGN_GZIP, is_gzip, WB__MSG_FOREIGN_GZIP},
    {WB__FINDING_FOREIGN_ZSTD, is_zstd, WB__MSG_FOREIGN_ZSTD},
    {WB__FINDING_FOREIGN_TAR, is_tar, WB__MSG_FOREIGN_TAR},
    {WB__FINDING_FOREIGN_HDF5, is_hdf5, WB__MSG_FOREIGN_HDF5},
    {WB__FINDING_FOREIGN_GGML, is_ggml, WB__MSG_FOREIGN_GGML},
    {WB__FINDING_FOREIGN_REFUSAL, is_refusal, WB__MSG_FOREIGN_REFUSAL},
    {WB__FINDING_FOREIGN_JSON, is_json, WB__MSG_FOREIGN_JSON},
    {WB__FINDING_FOREIGN_ZEROS, is_zeros, WB__MSG_FOREIGN_ZEROS},
    {WB__FINDING_FOREIGN_TEXT, is_text, WB__MSG_FOREIGN_TEXT},
};

static const foreign_row *find(const wb__head *head)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].is(head))
            return &rows[i];
    }
    return NULL;
}

static wb_status fail_as(wb__context *context, const foreign_row *row, const wb__head *head)
{
    if (row->is == is_refusal) {
        char shown[REFUSAL_SHOWN + 1];
        size_t n = head->n < REFUSAL_SHOWN ? head->n : REFUSAL_SHOWN;
        while (n > 0 && head->bytes[n - 1] == '\n')
            n--;
        wb__printable(shown, sizeof shown, (wb__str){(const char *)head->bytes, n});
        return wb__fail(context, WB_ERROR_FORMAT, row->finding, 0, WB__STR(""),
                        WB__MSG_FOREIGN_REFUSAL, shown);
    }
    return wb__fail(context, WB_ERROR_FORMAT, row->finding, 0, WB__STR(""), "%s", row->what);
}

bool wb__explain_foreign(wb__context *context, const wb__head *head)
{
    const foreign_row *row = find(head);
    if (row == NULL)
        return false;
    (void)fail_as(context, row, head);
    return true;
}

wb_status wb__fail_foreign(wb__context *context, const wb__head *head)
{
    if (wb__explain_foreign(context, head))
        return context->error->status;
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_FORMAT_UNKNOWN, 0, WB__STR(""),
                    WB__MSG_FOREIGN_UNKNOWN);
}
