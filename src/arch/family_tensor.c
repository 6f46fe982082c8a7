/*
 * Parses tensor statements:
 *
 *     tensor CANONICAL [AXIS, …] | SPELLING, … | SPELLING, … | role ROLE …
 *
 * The first list has the names of Hugging Face, MLX and Ollama, the second those of GGUF. "-" is an
 * empty list. A spelling is [~] [FORMAT:] NAME [TRANSFORM …]: "~" marks a name that is recognized
 * when a model is read, but never written.
 */
#include "arch/family_parser.h"
#include "weighbridge/config.h"

/* ---- roles and formats ---- */

static const struct {
    const char *name;
    uint32_t flags;
} roles[] = {
    {"norm", WB__NEED_NORM},
    {"q", WB__NEED_Q},
    {"k", WB__NEED_K},
    {"v", WB__NEED_V},
    {"output", WB__NEED_OUTPUT},
    {"ffn_norm", WB__NEED_FFN_NORM},
    {"gate", WB__NEED_GATE},
    {"up", WB__NEED_UP},
    {"down", WB__NEED_DOWN},
    {"cross", WB__NEED_CROSS},
    {"mixer", WB__NEED_MIXER},
    {"mixer_out", WB__NEED_MIXER_OUT},
    {"conv", WB__NEED_CONV},
    {"decay", WB__NEED_DECAY},
    {"embedding", WB__NEED_EMBEDDING},
    {"head", WB__NEED_HEAD},
    {"last_norm", WB__NEED_LAST_NORM},
    {"router", WB__RULE_ROUTER},
    {"rope_q", WB__RULE_ROPE_Q},
    {"rope_k", WB__RULE_ROPE_K},
    {"is_norm", WB__RULE_NORM},
};

static const struct {
    const char *name;
    uint8_t side;
} sides[] = {
    {"gguf", WB__SIDE_GGUF},
    {"hf", WB__SIDE_HF},
    {"mlx", WB__SIDE_MLX},
    {"ollama", WB__SIDE_OLLAMA},
};

bool wb__parser_roles(wb__family_parser *p, uint32_t *flags)
{
    *flags = 0;
    do {
        uint32_t flag = 0;
        for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
            if (wb__lexer_is(&p->lexer, roles[i].name))
                flag = roles[i].flags;
        }
        if (flag == 0)
            return wb__parser_fail(p, WB__MSG_FAMILY_ROLE);
        *flags |= flag;
        wb__lexer_next(&p->lexer);
    } while (p->lexer.token.kind == WB__TOKEN_WORD);
    return true;
}

/* Returns the flag of the format that the current token names, or 0. */
static uint8_t side_at(const wb__family_parser *p)
{
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (wb__lexer_is(&p->lexer, sides[i].name))
            return sides[i].side;
    }
    return 0;
}

bool wb__parser_sides(wb__family_parser *p, uint8_t *flags)
{
    *flags = 0;
    do {
        uint8_t side = side_at(p);
        if (side == 0)
            return wb__parser_fail(p, WB__MSG_FAMILY_FORMAT);
        *flags |= side;
        wb__lexer_next(&p->lexer);
    } while (wb__lexer_take(&p->lexer, ","));
    return true;
}

/* ---- names ---- */

/* Returns true if all braces in the name are part of {n} or {e}. */
static bool has_valid_braces(wb__str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '}')
            return false;
        if (name.ptr[i] != '{')
            continue;
        if (name.len - i < 3 || (name.ptr[i + 1] != 'n' && name.ptr[i + 1] != 'e') ||
            name.ptr[i + 2] != '}')
            return false;
        i += 2;
    }
    return true;
}

/*
 * Reads a tensor name. If it begins with `short_form`, for example "B.", replaces this prefix by
 * `full`. A name that ends with ".weight" or ".bias" has this suffix, and a name that ends with "!"
 * has none. Otherwise *suffix becomes SAME.
 */
static const char *read_name(wb__family_parser *p, const char *short_form, const char *full,
                             uint8_t *suffix)
{
    static const struct {
        wb__str end;
        uint8_t suffix;
    } ends[] = {{{".weight", 7}, WB__SUFFIX_WEIGHT},
                {{".bias", 5}, WB__SUFFIX_BIAS},
                {{"!", 1}, WB__SUFFIX_NONE}};
    wb__str word, begin = wb__str_from(short_form, SIZE_MAX), text = wb__str_from(full, SIZE_MAX);
    if (!wb__parser_word(p, &word))
        return NULL;
    *suffix = WB__SUFFIX_SAME;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (*suffix == WB__SUFFIX_SAME && wb__str_ends_with(word, ends[i].end)) {
            *suffix = ends[i].suffix;
            word.len -= ends[i].end.len;
        }
    }
    bool is_short = wb__str_starts_with(word, begin);
    size_t skipped = is_short ? begin.len : 0, added = is_short ? text.len : 0;
    size_t n = added + word.len - skipped;
    if (n == 0 || n > WB__TABLE_NAME || !has_valid_braces(word)) {
        (void)wb__parser_fail(p, WB__MSG_FAMILY_NAME);
        return NULL;
    }
    char *name = wb__parser_alloc(p, n + 1);
    if (name == NULL)
        return NULL;
    memcpy(name, text.ptr, added);
    memcpy(name + added, word.ptr + skipped, word.len - skipped);
    name[n] = '\0';
    return name;
}

/* ---- transforms ---- */

static const struct {
    const char *name;
    bool has_argument;
} transforms[WB__TRANSFORMS] = {[WB__TRANSFORM_SCALE] = {"scale", true},
                                [WB__TRANSFORM_TRANSPOSE] = {"transpose", false},
                                [WB__TRANSFORM_MAYBE_TRANSPOSE] = {"maybe_transpose", false},
                                [WB__TRANSFORM_GROUPS] = {"groups", true}};

static bool read_transform(wb__family_parser *p, wb__transform *transform)
{
    size_t kind = 0;
    while (kind < WB__TRANSFORMS && !wb__lexer_is(&p->lexer, transforms[kind].name))
        kind++;
    if (kind == WB__TRANSFORMS)
        return wb__parser_fail(p, WB__MSG_FAMILY_TRANSFORM);
    wb__lexer_next(&p->lexer);
    *transform = (wb__transform){.kind = (uint8_t)kind};
    return !transforms[kind].has_argument ||
           (wb__parser_expect(p, "(") && wb__parser_expr(p, &transform->argument) &&
            wb__parser_expect(p, ")"));
}

static bool read_chain(wb__family_parser *p, wb__spelling *spelling)
{
    wb__transform chain[WB__TABLE_TRANSFORMS];
    size_t count = 0;
    while (p->lexer.token.kind == WB__TOKEN_WORD) {
        if (count == WB__TABLE_TRANSFORMS)
            return wb__parser_fail(p, WB__MSG_FAMILY_TRANSFORM);
        if (!read_transform(p, &chain[count++]))
            return false;
    }
    if (count == 0)
        return true;
    wb__transform *copy = wb__parser_alloc(p, count * sizeof *copy);
    if (copy == NULL)
        return false;
    memcpy(copy, chain, count * sizeof *copy);
    spelling->chain = copy;
    spelling->count = (uint8_t)count;
    return true;
}

/* ---- spellings ---- */

typedef struct spellings {
    wb__spelling list[WB__TABLE_SPELLINGS];
    size_t count;
} spellings;

static bool read_spelling(wb__family_parser *p, uint8_t usual, spellings *s)
{
    if (s->count == WB__TABLE_SPELLINGS)
        return wb__parser_fail(p, WB__MSG_FAMILY_SPELLINGS);
    wb__spelling *spelling = &s->list[s->count++];
    *spelling = (wb__spelling){.is_read = wb__lexer_take(&p->lexer, "~")};
    wb__lexer before = p->lexer;
    uint8_t side = side_at(p);
    if (side != 0) {
        wb__lexer_next(&p->lexer);
        if (wb__lexer_take(&p->lexer, ":"))
            spelling->sides = side;
        else
            p->lexer = before; /* no ":" follows: the word is a tensor name that equals a format
                                * name */
    }
    bool gguf = usual == WB__SIDE_GGUF;
    spelling->name = gguf ? read_name(p, "B.", "blk.{n}.", &spelling->suffix)
                          : read_name(p, "L.", p->layer, &spelling->suffix);
    return spelling->name != NULL && read_chain(p, spelling);
}

/*
 * Reads a list of spellings. A spelling without a format is used in all formats in `usual`, except
 * those for which the list already has another spelling. A spelling that is only read ("~") is read
 * in all formats in `usual`.
 */
static bool read_list(wb__family_parser *p, uint8_t usual, spellings *s)
{
    size_t first = s->count;
    uint8_t taken = 0;
    if (!wb__parser_expect(p, "|"))
        return false;
    if (wb__lexer_take(&p->lexer, "-"))
        return true;
    do {
        if (!read_spelling(p, usual, s))
            return false;
        if (!s->list[s->count - 1].is_read)
            taken |= s->list[s->count - 1].sides;
    } while (wb__lexer_take(&p->lexer, ","));
    for (size_t i = first; i < s->count; i++) {
        if (s->list[i].sides == 0)
            s->list[i].sides = s->list[i].is_read ? usual : usual & (uint8_t)~taken;
        if (s->list[i].sides == 0)
            return wb__parser_fail(p, WB__MSG_FAMILY_FORMAT);
    }
    return true;
}

/* ---- the statement ---- */

static bool read_shape(wb__family_parser *p, wb__rule *rule)
{
    wb__expr axes[WB__TABLE_AXES];
    size_t rank = 0;
    if (!wb__lexer_take(&p->lexer, "["))
        return true;
    do {
        if (rank == WB__TABLE_AXES)
            return wb__parser_fail(p, WB__MSG_FAMILY_AXES);
        axes[rank] = NULL;
        if (!wb__lexer_take(&p->lexer, "*") && !wb__parser_expr(p, &axes[rank]))
            return false;
        rank++;
    } while (wb__lexer_take(&p->lexer, ","));
    wb__expr *copy = wb__parser_alloc(p, rank * sizeof *copy);
    if (copy == NULL)
        return false;
    for (size_t i = 0; i < rank; i++)
        copy[i] = axes[i];
    rule->shape = copy;
    rule->rank = (uint8_t)rank;
    return wb__parser_expect(p, "]");
}

bool wb__parser_fused(wb__family_parser *p, wb__fused *fused)
{
    uint8_t suffix;
    *fused = (wb__fused){.whole = read_name(p, "L.", "layers.{n}.", &suffix)};
    if (fused->whole == NULL || !wb__parser_expect(p, "="))
        return false;
    do {
        if (fused->count == WB__FUSED_PARTS_MAX)
            return wb__parser_fail(p, WB__MSG_FAMILY_PARTS);
        fused->parts[fused->count] = read_name(p, "L.", "layers.{n}.", &suffix);
        if (fused->parts[fused->count++] == NULL)
            return false;
    } while (p->lexer.token.kind == WB__TOKEN_WORD);
    return true;
}

bool wb__parser_tensor(wb__family_parser *p, wb__rule *rule)
{
    spellings s = {.count = 0};
    if (wb__lexer_take(&p->lexer, "-"))
        rule->suffix = WB__SUFFIX_SAME;
    else if ((rule->canonical = read_name(p, "L.", "layers.{n}.", &rule->suffix)) == NULL)
        return false;
    if (!read_shape(p, rule) || !read_list(p, WB__SIDE_NATIVE, &s) ||
        !read_list(p, WB__SIDE_GGUF, &s))
        return false;
    wb__spelling *copy = wb__parser_alloc(p, s.count * sizeof *copy + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, s.list, s.count * sizeof *copy);
    rule->spellings = copy;
    rule->spelling_count = (uint8_t)s.count;
    return !wb__lexer_take(&p->lexer, "|") ||
           (wb__parser_expect(p, "role") && wb__parser_roles(p, &rule->provides));
}
