"""What the checks against llama.cpp have in common; L is llama_cpp."""
import numpy as np


def logits(L, model, params, ids):
    """Of each of the ids, by a context of these parameters. Frees the model."""
    context = L.llama_init_from_model(model, params)
    vocab = L.llama_vocab_n_tokens(L.llama_model_get_vocab(model))
    batch = L.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
        batch.seq_id[i][0] = 0
    assert L.llama_decode(context, batch) == 0
    got = np.ctypeslib.as_array(L.llama_get_logits(context), shape=(len(ids), vocab)).copy()
    L.llama_batch_free(batch)
    L.llama_free(context)
    L.llama_model_free(model)
    return got
