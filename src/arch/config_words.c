#include "arch/config_words.h"

typedef struct word {
    uint32_t value;
    const char *name;
    const char *others; /* other spellings in files, separated by '|' */
} word;

#define END {0, NULL, NULL}

static const word layouts[] = {{WB_ROPE_NONE, "none", ""},
                               {WB_ROPE_HALF, "half", ""},
                               {WB_ROPE_INTERLEAVED, "interleaved", ""},
                               END};

/* Names of activation functions in transformers (ACT2FN). */
static const word activations[] = {{WB_ACTIVATION_SILU, "silu", "swish"},
                                   {WB_ACTIVATION_GELU, "gelu", "gelu_python"},
                                   {WB_ACTIVATION_GELU_TANH, "gelu_pytorch_tanh",
                                    "gelu_new|gelu_fast|gelu_accurate|gelu_python_tanh"},
                                   {WB_ACTIVATION_GELU_QUICK, "quick_gelu", ""},
                                   {WB_ACTIVATION_RELU, "relu", ""},
                                   {WB_ACTIVATION_RELU_SQUARED, "relu2", ""},
                                   {WB_ACTIVATION_XIELU, "xielu", ""},
                                   END};

static const word norms[] = {{WB_NORM_RMS, "rms", ""}, {WB_NORM_LAYER, "layer", ""}, END};

static const word scalings[] = {{WB_ROPE_SCALING_NONE, "none", "default"},
                                {WB_ROPE_SCALING_LINEAR, "linear", ""},
                                {WB_ROPE_SCALING_YARN, "yarn", ""},
                                {WB_ROPE_SCALING_LONGROPE, "longrope", "su"},
                                {WB_ROPE_SCALING_LLAMA3, "llama3", ""},
                                {WB_ROPE_SCALING_DYNAMIC, "dynamic", ""},
                                {WB_ROPE_SCALING_PROPORTIONAL, "proportional", ""},
                                END};

static const word gatings[] = {{WB_EXPERT_GATING_SOFTMAX, "softmax", ""},
                               {WB_EXPERT_GATING_SIGMOID, "sigmoid", ""},
                               {WB_EXPERT_GATING_SOFTMAX_CHOSEN, "softmax_chosen", ""},
                               {WB_EXPERT_GATING_SQRT_SOFTPLUS, "sqrtsoftplus", ""},
                               END};

static const word *words_of(wb__config_kind kind)
{
    switch (kind) {
    case WB__CONFIG_KIND_LAYOUT: return layouts;
    case WB__CONFIG_KIND_ACTIVATION: return activations;
    case WB__CONFIG_KIND_NORM: return norms;
    case WB__CONFIG_KIND_SCALING: return scalings;
    case WB__CONFIG_KIND_GATING: return gatings;
    default: return NULL;
    }
}

const char *wb__config_word(wb__config_kind kind, uint32_t value)
{
    const word *w = words_of(kind);
    while (w != NULL && w->name != NULL && w->value != value)
        w++;
    return w == NULL ? NULL : w->name;
}

static bool is_spelt(const word *w, wb__str text)
{
    wb__str other;
    const char *rest = w->others;
    if (wb__str_equal(text, wb__str_from(w->name, SIZE_MAX)))
        return true;
    while (wb__spelling_next(&rest, &other)) {
        if (wb__str_equal(text, other))
            return true;
    }
    return false;
}

bool wb__config_choice(wb__config_kind kind, const wb__fact *fact, uint32_t *value)
{
    const word *w = words_of(kind);
    if (w == NULL)
        return false;
    *value = 0;
    if (fact->type != WB__FACT_TEXT && fact->type != WB__FACT_UINT)
        return false;
    for (; w->name != NULL; w++) {
        if (fact->type == WB__FACT_TEXT ? is_spelt(w, fact->text) : fact->number == w->value)
            *value = w->value;
    }
    return true;
}
