#include "arch/tokenizer/sentencepiece.h"

typedef struct wire {
    const uint8_t *begin; /* start of the file, for offsets */
    const uint8_t *p, *end;
    bool bad;
} wire;

typedef struct field {
    uint64_t number;
    unsigned type;
    uint64_t value; /* value for wire types 0, 1 and 5 */
    wire bytes;     /* value for wire type 2 */
} field;

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* Reads a varint: at most ten bytes of seven bits each, lowest bits first. */
static uint64_t read_varint(wire *w)
{
    uint64_t value = 0;
    for (unsigned shift = 0; w->p != w->end; shift += 7) {
        uint8_t byte = *w->p++;
        if (shift == 63 && byte > 1) /* the tenth byte can only be 0 or 1 */
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
    w->bad = true;
    return 0;
}

static bool read_fixed(wire *w, size_t n, uint64_t *value)
{
    if ((size_t)(w->end - w->p) < n)
        return false;
    *value = n == 8 ? wb__load_le64(w->p) : wb__load_le32(w->p);
    w->p += n;
    return true;
}

/* Reads the next field; returns false at the end, or with w->bad set on an error. */
static bool next_field(wire *w, field *f)
{
    if (w->p == w->end)
        return false;
    const uint8_t *at = w->p;
    uint64_t tag = read_varint(w);
    *f = (field){.number = tag >> 3, .type = (unsigned)(tag & 7)};
    bool good = f->number != 0; /* the number is also 0 if the tag cannot be read */
    if (good && f->type == VARINT) {
        f->value = read_varint(w);
        good = !w->bad;
    } else if (good && (f->type == FIXED64 || f->type == FIXED32)) {
        good = read_fixed(w, f->type == FIXED64 ? 8 : 4, &f->value);
    } else if (good && f->type == BYTES) {
        uint64_t n = read_varint(w);
        good = !w->bad && n <= (uint64_t)(w->end - w->p);
        if (good) {
            f->bytes = (wire){w->begin, w->p, w->p + (size_t)n, false};
            w->p += (size_t)n;
        }
    } else {
        good = false;
    }
    if (!good) {
        w->bad = true;
        w->p = at;
    }
    return good;
}

static wb__str text_of(const field *f)
{
    return (wb__str){(const char *)f->bytes.p, (size_t)(f->bytes.end - f->bytes.p)};
}

static bool fail_at(wb__sentencepiece *model, const wire *w)
{
    model->fault_at = (size_t)(w->p - w->begin);
    return false;
}

static bool read_piece(wb__sentencepiece *model, wire *w)
{
    wb__piece piece = {.text = {"", 0}, .type = 1};
    field f;
    while (next_field(w, &f)) {
        if (f.number == 1 && f.type == BYTES) {
            piece.text = text_of(&f);
        } else if (f.number == 2 && f.type == FIXED32) {
            uint32_t bits = (uint32_t)f.value;
            memcpy(&piece.score, &bits, sizeof piece.score);
        } else if (f.number == 3 && f.type == VARINT) {
            piece.type = f.value >= 1 && f.value <= 6 ? (uint32_t)f.value : 1;
        }
    }
    if (w->bad)
        return fail_at(model, w);
    if (model->count == model->capacity &&
        !wb__grow(&model->allocator, (void **)&model->pieces, &model->capacity,
                  sizeof *model->pieces, model->count + 1, SIZE_MAX)) {
        model->out_of_memory = true;
        return false;
    }
    model->pieces[model->count++] = piece;
    return true;
}

static bool read_trainer(wb__sentencepiece *model, wire *w)
{
    field f;
    while (next_field(w, &f)) {
        int32_t *id = f.number == 40   ? &model->unk
                      : f.number == 41 ? &model->bos
                      : f.number == 42 ? &model->eos
                      : f.number == 43 ? &model->pad
                                       : NULL;
        if (f.number == 3 && f.type == VARINT)
            model->model_type = (uint32_t)f.value;
        else if (id != NULL && f.type == VARINT)
            *id = f.value <= INT32_MAX ? (int32_t)f.value : -1;
    }
    return w->bad ? fail_at(model, w) : true;
}

static bool read_normalizer(wb__sentencepiece *model, wire *w)
{
    field f;
    while (next_field(w, &f)) {
        if (f.number == 2 && f.type == BYTES)
            model->charsmap = text_of(&f);
        else if (f.number == 3 && f.type == VARINT)
            model->add_dummy_prefix = f.value != 0;
        else if (f.number == 4 && f.type == VARINT)
            model->remove_extra_whitespaces = f.value != 0;
    }
    return w->bad ? fail_at(model, w) : true;
}

bool wb__sentencepiece_read(wb__sentencepiece *model, const void *bytes, size_t n,
                            const wb_allocator *allocator)
{
    /* The defaults of absent fields, as specified in sentencepiece_model.proto. */
    *model = (wb__sentencepiece){.allocator = *allocator,
                                 .model_type = 1,
                                 .bos = 1,
                                 .eos = 2,
                                 .pad = -1,
                                 .charsmap = {"", 0},
                                 .add_dummy_prefix = true,
                                 .remove_extra_whitespaces = true};
    const uint8_t *p = bytes;
    wire w = {p, p, n == 0 ? p : p + n, false};
    field f;
    while (next_field(&w, &f)) {
        bool good = f.type != BYTES ? true
                    : f.number == 1 ? read_piece(model, &f.bytes)
                    : f.number == 2 ? read_trainer(model, &f.bytes)
                    : f.number == 3 ? read_normalizer(model, &f.bytes)
                                    : true;
        if (!good)
            return false;
    }
    return !w.bad && model->count > 0 ? true : fail_at(model, &w);
}

void wb__sentencepiece_free(wb__sentencepiece *model)
{
    if (model->pieces != NULL)
        wb__free(&model->allocator, model->pieces, model->capacity * sizeof *model->pieces);
    model->pieces = NULL;
    model->count = model->capacity = 0;
}
