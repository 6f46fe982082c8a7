/* WordPiece: splits text into words at spaces and punctuation, and takes the longest pieces of each
 * word from the left. Pieces that begin a word start with a space.
 */
#include "tokenizer.h"
#include "unicode.h"

enum { LONGEST_WORD = 100 }; /* characters; longer words are unknown */

typedef struct word {
    const tokenizer *t;
    token_list *list;
    char text[4 * LONGEST_WORD + 1]; /* a space, and the characters */
    size_t len, characters;
} word;

static void end_word(word *w)
{
    size_t first = w->list->count, at = 0;
    uint32_t id = NO_TOKEN;
    if (w->characters == 0)
        return;
    while (at < w->len && w->characters <= LONGEST_WORD) {
        size_t end = w->len;
        while (end > at && (id = find_piece(&w->t->ordinary, w->text + at, end - at)) == NO_TOKEN)
            end--;
        if (end == at)
            break;
        add_token(w->list, id);
        at = end;
    }
    if (at < w->len) {
        w->list->count = first;
        add_unknown(w->t, w->list);
    }
    w->characters = 0;
}

static void add_character(word *w, uint32_t character)
{
    if (w->characters == 0) {
        w->text[0] = ' ';
        w->len = 1;
    }
    if (w->characters++ < LONGEST_WORD)
        w->len += put_char(character, w->text + w->len);
}

static void add_alone(word *w, uint32_t character)
{
    end_word(w);
    add_character(w, character);
    end_word(w);
}

/* Adds the two or three letters of a Korean syllable, into which Unicode's form NFD splits it. */
static void add_syllable(word *w, uint32_t character)
{
    uint32_t number = character - 0xAC00, last = number % 28;
    add_character(w, 0x1100 + number / 588);
    add_character(w, 0x1161 + number % 588 / 28);
    if (last > 0)
        add_character(w, 0x11A7 + last);
}

static int is_ideograph(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x2CEAF) ||
           (c >= 0x2F800 && c <= 0x2FA1F);
}

static int is_punctuation(uint32_t c)
{
    return class_of(c) == PUNCTUATION || (c < 0x80 && class_of(c) == SYMBOL);
}

/* Control characters are left out; some of them are spaces elsewhere. */
static int is_omitted(uint32_t c)
{
    return c == 0xFFFD || c == 0x0B || c == 0x0C || c == 0x85 || class_of(c) == OTHER;
}

static void add_any(word *w, uint32_t c)
{
    uint32_t lower = w->t->lowercase ? fold(c) : c;
    if (is_omitted(c))
        return;
    if (class_of(c) == SPACE)
        end_word(w);
    else if (is_ideograph(c) || is_punctuation(lower))
        add_alone(w, lower);
    else if (w->t->lowercase && c >= 0xAC00 && c <= 0xD7A3)
        add_syllable(w, c);
    else if (!w->t->lowercase || class_of(c) != ACCENT)
        add_character(w, lower);
}

void encode_words(const tokenizer *t, const char *text, size_t len, token_list *list)
{
    word w = {.t = t, .list = list};
    for (const char *p = text; p < text + len;) {
        uint32_t character;
        p = next_char(p, text + len, &character);
        add_any(&w, character);
    }
    end_word(&w);
}
