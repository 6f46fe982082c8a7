#include "arch/tokenizer/sentencepiece.h"

/*@ requires \valid_read(f) && \base_addr(f->bytes) == \base_addr(f->bytes_end) &&
             0 <= f->bytes_end - f->bytes <= SIZE_MAX;
    assigns \nothing;
    ensures \result.len == f->bytes_end - f->bytes; */
static wb__str text_of(const wb__field *f)
{
    return (wb__str){(const char *)f->bytes, (size_t)(f->bytes_end - f->bytes)};
}

/*@ requires \valid_read(f);
    assigns \nothing;
    ensures \result.p == f->bytes && \result.end == f->bytes_end && \result.bad == 0; */
static wb__message message_of(const wb__field *f)
{
    return (wb__message){f->bytes, f->bytes_end, false};
}

/* The proofs of the other functions assume this contract. It is not proved itself. */
/*@ assigns \nothing; */
static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/*@ requires message_sound(m) && \valid(piece) && \separated(m, piece) &&
             \separated(piece, m->p + (0 .. m->end - m->p - 1));
    assigns m->p, m->bad, *piece;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end);
    ensures piece->text.len <= \old(m->end - m->p) && 1 <= piece->type <= 6; */
static void read_piece(wb__message *m, wb__piece *piece)
{
    wb__field f;
    piece->text.ptr = "";
    piece->text.len = 0;
    piece->score = 0;
    piece->type = 1;
    /*@ loop invariant message_sound(m) && inside(m->p, \at(m->p, Pre), m->end);
        loop invariant piece->text.len <= \at(m->end - m->p, Pre);
        loop invariant 1 <= piece->type <= 6;
        loop assigns m->p, m->bad, f, *piece;
        loop variant m->end - m->p; */
    while (wb__message_next(m, &f)) {
        if (f.number == 1 && f.type == WB__FIELD_BYTES) {
            piece->text = text_of(&f);
        } else if (f.number == 2 && f.type == WB__FIELD_4_BYTES) {
            piece->score = float_of((uint32_t)f.value);
        } else if (f.number == 3 && f.type == WB__FIELD_VARINT) {
            piece->type = f.value >= 1 && f.value <= 6 ? (uint32_t)f.value : 1;
        }
    }
}

/*@ requires message_sound(m) && \valid(model) && \separated(m, model) &&
             \separated(model, m->p + (0 .. m->end - m->p - 1));
    assigns m->p, m->bad, model->model_type, model->unk, model->bos, model->eos, model->pad;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end); */
static void read_trainer(wb__sentencepiece *model, wb__message *m)
{
    wb__field f;
    /*@ loop invariant message_sound(m) && inside(m->p, \at(m->p, Pre), m->end);
        loop assigns m->p, m->bad, f, model->model_type, model->unk, model->bos, model->eos,
                     model->pad;
        loop variant m->end - m->p; */
    while (wb__message_next(m, &f)) {
        int32_t *id = f.number == 40   ? &model->unk
                      : f.number == 41 ? &model->bos
                      : f.number == 42 ? &model->eos
                      : f.number == 43 ? &model->pad
                                       : NULL;
        if (f.number == 3 && f.type == WB__FIELD_VARINT)
            model->model_type = (uint32_t)f.value;
        else if (id != NULL && f.type == WB__FIELD_VARINT)
            *id = f.value <= INT32_MAX ? (int32_t)f.value : -1;
    }
}

/*@ requires message_sound(m) && \valid(model) && \separated(m, model) &&
             \separated(model, m->p + (0 .. m->end - m->p - 1));
    assigns m->p, m->bad, model->charsmap, model->add_dummy_prefix,
            model->remove_extra_whitespaces;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end); */
static void read_normalizer(wb__sentencepiece *model, wb__message *m)
{
    wb__field f;
    /*@ loop invariant message_sound(m) && inside(m->p, \at(m->p, Pre), m->end);
        loop assigns m->p, m->bad, f, model->charsmap, model->add_dummy_prefix,
                     model->remove_extra_whitespaces;
        loop variant m->end - m->p; */
    while (wb__message_next(m, &f)) {
        if (f.number == 2 && f.type == WB__FIELD_BYTES)
            model->charsmap = text_of(&f);
        else if (f.number == 3 && f.type == WB__FIELD_VARINT)
            model->add_dummy_prefix = f.value != 0;
        else if (f.number == 4 && f.type == WB__FIELD_VARINT)
            model->remove_extra_whitespaces = f.value != 0;
    }
}

/* Reads field `number` of ModelProto. The field contains a message; `m` contains its bytes. */
/*@ requires message_sound(m) && \valid(model) && \separated(m, model) &&
             \separated(model, m->p + (0 .. m->end - m->p - 1));
    assigns m->p, m->bad, *model;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end);
    ensures model->bytes == \old(model->bytes) && model->n == \old(model->n); */
static void read_part(wb__sentencepiece *model, uint64_t number, wb__message *m)
{
    wb__piece piece;
    if (number == 1) {
        read_piece(m, &piece);
        model->count += !m->bad;
        model->text_bytes += piece.text.len; /* each text is in the file, so this cannot overflow */
    } else if (number == 2) {
        read_trainer(model, m);
    } else if (number == 3) {
        read_normalizer(model, m);
    }
}

bool wb__sentencepiece_read(wb__sentencepiece *model, const void *bytes, size_t n)
{
    /* The defaults of absent fields, as specified in sentencepiece_model.proto. */
    *model = (wb__sentencepiece){.bytes = bytes,
                                 .n = n,
                                 .model_type = 1,
                                 .bos = 1,
                                 .eos = 2,
                                 .pad = -1,
                                 .charsmap = {"", 0},
                                 .add_dummy_prefix = true,
                                 .remove_extra_whitespaces = true};
    wb__message all = wb__pieces_begin(model);
    wb__field f;
    while (wb__message_next(&all, &f)) {
        wb__message part = message_of(&f);
        if (f.type == WB__FIELD_BYTES)
            read_part(model, f.number, &part);
        if (part.bad) {
            model->fault_at = (size_t)(part.p - model->bytes);
            return false;
        }
    }
    model->fault_at = (size_t)(all.p - model->bytes);
    return !all.bad && model->count > 0;
}

wb__message wb__pieces_begin(const wb__sentencepiece *model)
{
    return (wb__message){model->bytes, model->n == 0 ? model->bytes : model->bytes + model->n,
                         false};
}

/*@ requires message_sound(rest) && \valid(piece) && \separated(rest, piece) &&
             \separated(piece, rest->p + (0 .. rest->end - rest->p - 1));
    assigns rest->p, rest->bad, *piece;
    ensures message_sound(rest);
    ensures inside(rest->p, \old(rest->p), rest->end);
    ensures \result == 1 ==> piece->text.len <= \old(rest->end - rest->p); */
bool wb__pieces_next(wb__message *rest, wb__piece *piece)
{
    wb__field f;
    /*@ loop invariant message_sound(rest) && inside(rest->p, \at(rest->p, Pre), rest->end);
        loop assigns rest->p, rest->bad, f, *piece;
        loop variant rest->end - rest->p; */
    while (wb__message_next(rest, &f)) {
        if (f.number == 1 && f.type == WB__FIELD_BYTES) {
            wb__message m = message_of(&f);
            read_piece(&m, piece);
            return true;
        }
    }
    return false;
}
