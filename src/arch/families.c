#include "arch/family.h"

extern const wb__family wb__family_llama, wb__family_qwen2, wb__family_qwen2moe, wb__family_qwen3,
    wb__family_qwen3moe, wb__family_gemma, wb__family_gemma2, wb__family_gemma3, wb__family_phi3,
    wb__family_bert, wb__family_whisper;

static const wb__family *const families[] = {
    &wb__family_llama,    &wb__family_qwen2, &wb__family_qwen2moe, &wb__family_qwen3,
    &wb__family_qwen3moe, &wb__family_gemma, &wb__family_gemma2,   &wb__family_gemma3,
    &wb__family_phi3,     &wb__family_bert,  &wb__family_whisper,
};

#define COUNT (sizeof families / sizeof families[0])

bool wb__spelling_next(const char **rest, wb__str *spelling)
{
    if (*rest == NULL || **rest == '\0')
        return false;
    size_t n = strcspn(*rest, "|");
    *spelling = (wb__str){*rest, n};
    *rest += n + ((*rest)[n] == '|');
    return true;
}

const wb__family *wb__family_by_name(wb__str architecture)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (wb__str_equal(architecture, wb__str_from(families[i]->name, SIZE_MAX)))
            return families[i];
    }
    return NULL;
}

const wb__family *wb__family_by_model_type(wb__str model_type)
{
    wb__str spelling;
    for (size_t i = 0; i < COUNT; i++) {
        const char *rest = families[i]->model_types;
        while (wb__spelling_next(&rest, &spelling)) {
            if (wb__str_equal(model_type, spelling))
                return families[i];
        }
    }
    return NULL;
}

const wb__family *wb__family_by_signature(bool (*has)(void *ctx, wb__str pattern), void *ctx)
{
    wb__str spelling;
    for (size_t i = 0; i < COUNT; i++) {
        const char *rest = families[i]->signature;
        while (wb__spelling_next(&rest, &spelling)) {
            if (has(ctx, spelling))
                return families[i];
        }
    }
    return &wb__family_unknown;
}
