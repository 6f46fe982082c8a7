/*
 * Shows how an inference engine starts: opens a model in any format, and gets all weights of all
 * layers, fused for the kernels of the engine and in the order of use.
 *
 *   engine MODEL
 */
#include <inttypes.h>
#include <stdio.h>
#include <weighbridge.h>

/* Prints a weight and a checksum. An engine would pass the weight to a kernel instead. */
static void use(const char *stack, uint64_t layer, const wb_weight *weight)
{
    const wb_buffer *buffer = weight->buffer;
    const unsigned char *bytes = buffer->contents;
    const char *type = wb_dtype_name(buffer->dtype); /* NULL: a quantized type of MLX */
    uint64_t sum = 0;
    for (uint64_t i = 0; i < buffer->bytes; i++)
        sum = sum * 31 + bytes[i];
    printf("%s %" PRIu64 " %s %s", stack, layer, weight->name, type == NULL ? "MLX" : type);
    for (uint32_t i = 0; i < buffer->rank; i++)
        printf("%s%" PRIu64, i == 0 ? " [" : ", ", buffer->shape[i]);
    printf("], sum %016" PRIx64 "\n", sum);
}

/* Loads n layers beginning with `layer`, or the weights outside the layers if `layer` is
 * WB_WEIGHTS_OUTSIDE. Without WB_WEIGHTS_FREE_BEHIND the buffers stay loaded until the provider is
 * destroyed. */
static wb_status load(wb_provider *provider, const char *stack, uint32_t layer, uint64_t n,
                      wb_error *error)
{
    const wb_weights_options options = {.size = sizeof options,
                                        .flags = WB_WEIGHTS_FUSE | WB_WEIGHTS_AHEAD};
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < n && status == WB_OK; i++) {
        wb_weights *weights;
        wb_weight weight = WB_WEIGHT_INIT;
        status = wb_provider_weights(provider, layer + (uint32_t)i, &options, &weights, error);
        for (uint32_t w = 0; status == WB_OK && wb_weights_at(weights, w, &weight) == WB_OK; w++)
            use(stack, i, &weight);
        wb_weights_free(weights);
    }
    return status;
}

int main(int argc, char **argv)
{
    /* With these flags, the row order of q and k and the weights of norms are the same for all
     * formats. */
    const wb_policy policy = {.size = sizeof policy,
                              .flags = WB_POLICY_ROPE_HALF | WB_POLICY_NORM_PLAIN};
    wb_config config = WB_CONFIG_INIT;
    wb_model *model = NULL;
    wb_provider *provider = NULL;
    wb_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: engine MODEL\n");
        return 2;
    }
    wb_status status = wb_open(argv[1], NULL, &model, &error);
    if (status == WB_OK)
        status = wb_config_get(model, &config, &error);
    if (status == WB_OK)
        status = wb_provider_create(model, NULL, &policy, &provider, &error);
    if (status == WB_OK)
        status = load(provider, "model", WB_WEIGHTS_OUTSIDE, 1, &error);
    if (status == WB_OK)
        status = load(provider, "layer", 0, config.n_layers, &error);
    if (status != WB_OK)
        fprintf(stderr, "engine: %s: %s\n", error.file, error.message);
    wb_provider_destroy(provider);
    wb_close(model);
    return status == WB_OK ? 0 : 1;
}
