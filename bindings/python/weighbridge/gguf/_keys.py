"""The keys that methods of GGUFWriter set: one line for each, grouped by type.

A line has the name of the method without "add_", and the key. "{arch}" is the architecture. Methods
whose key has "{id}" take the number of the model or data set as first argument.
"""

from __future__ import annotations

ARRAY = """
activation_sparsity_scale {arch}.activation_sparsity_scale
classifier_output_labels {arch}.classifier.output_labels
languages general.languages
precompiled_charsmap tokenizer.ggml.precompiled_charsmap
rope_dimension_sections {arch}.rope.dimension_sections
swiglu_clamp_exp {arch}.swiglu_clamp_exp
swiglu_clamp_shexp {arch}.swiglu_clamp_shexp
tags general.tags
token_list tokenizer.ggml.tokens
token_merges tokenizer.ggml.merges
token_scores tokenizer.ggml.scores
token_types tokenizer.ggml.token_type
vision_image_mean clip.vision.image_mean
vision_image_std clip.vision.image_std
vision_is_deepstack_layers clip.vision.is_deepstack_layers
vision_wa_layer_indexes clip.vision.wa_layer_indexes
xielu_alpha_n xielu.alpha_n
xielu_alpha_p xielu.alpha_p
xielu_beta xielu.beta
xielu_eps xielu.eps
"""

BOOL = """
add_bos_token tokenizer.ggml.add_bos_token
add_eos_token tokenizer.ggml.add_eos_token
add_sep_token tokenizer.ggml.add_sep_token
add_space_prefix tokenizer.ggml.add_space_prefix
causal_attention {arch}.attention.causal
clip_has_audio_encoder clip.has_audio_encoder
clip_has_vision_encoder clip.has_vision_encoder
diffusion_shift_logits diffusion.shift_logits
expert_weights_norm {arch}.expert_weights_norm
parallel_residual {arch}.use_parallel_residual
remove_extra_whitespaces tokenizer.ggml.remove_extra_whitespaces
rope_scaling_finetuned {arch}.rope.scaling.finetuned
ssm_dt_b_c_rms {arch}.ssm.dt_b_c_rms
swin_norm {arch}.swin_norm
vision_use_gelu clip.use_gelu
vision_use_silu clip.use_silu
"""

FLOAT32 = """
attention_scale {arch}.attention.scale
attn_logit_softcapping {arch}.attn_logit_softcapping
attn_output_scale {arch}.attention.output_scale
attn_temperature_scale {arch}.attention.temperature_scale
audio_attention_layernorm_eps clip.audio.attention.layer_norm_epsilon
clamp_kqv {arch}.attention.clamp_kqv
embedding_scale {arch}.embedding_scale
expert_group_scale {arch}.expert_group_scale
expert_weights_scale {arch}.expert_weights_scale
final_logit_softcapping {arch}.final_logit_softcapping
group_norm_eps {arch}.attention.group_norm_epsilon
layer_norm_eps {arch}.attention.layer_norm_epsilon
layer_norm_rms_eps {arch}.attention.layer_norm_rms_epsilon
logit_scale {arch}.logit_scale
max_alibi_bias {arch}.attention.max_alibi_bias
residual_scale {arch}.residual_scale
rope_freq_base {arch}.rope.freq_base
rope_freq_base_swa {arch}.rope.freq_base_swa
rope_scaling_alpha {arch}.rope.scaling.alpha
rope_scaling_attn_factors {arch}.rope.scaling.attn_factor
rope_scaling_factor {arch}.rope.scaling.factor
rope_scaling_yarn_attn_factor {arch}.rope.scaling.yarn_attn_factor
rope_scaling_yarn_beta_fast {arch}.rope.scaling.yarn_beta_fast
rope_scaling_yarn_beta_slow {arch}.rope.scaling.yarn_beta_slow
rope_scaling_yarn_ext_factor {arch}.rope.scaling.yarn_ext_factor
rope_scaling_yarn_log_mul {arch}.rope.scaling.yarn_log_multiplier
router_logit_softcapping {arch}.router_logit_softcapping
sampling_min_p general.sampling.min_p
sampling_mirostat_eta general.sampling.mirostat_eta
sampling_mirostat_tau general.sampling.mirostat_tau
sampling_penalty_repeat general.sampling.penalty_repeat
sampling_temp general.sampling.temp
sampling_top_p general.sampling.top_p
sampling_xtc_probability general.sampling.xtc_probability
sampling_xtc_threshold general.sampling.xtc_threshold
vision_attention_layernorm_eps clip.vision.attention.layer_norm_epsilon
"""

INT32 = """
sampling_mirostat general.sampling.mirostat
sampling_penalty_last_n general.sampling.penalty_last_n
sampling_top_k general.sampling.top_k
"""

STRING = """
author general.author
base_model_author general.base_model.{id}.author
base_model_description general.base_model.{id}.description
base_model_doi general.base_model.{id}.doi
base_model_name general.base_model.{id}.name
base_model_organization general.base_model.{id}.organization
base_model_repo_url general.base_model.{id}.repo_url
base_model_url general.base_model.{id}.url
base_model_uuid general.base_model.{id}.uuid
base_model_version general.base_model.{id}.version
basename general.basename
clip_audio_projector_type clip.audio.projector_type
clip_projector_type clip.projector_type
clip_vision_projector_type clip.vision.projector_type
dataset_author general.dataset.{id}.author
dataset_description general.dataset.{id}.description
dataset_doi general.dataset.{id}.doi
dataset_name general.dataset.{id}.name
dataset_organization general.dataset.{id}.organization
dataset_repo_url general.dataset.{id}.repo_url
dataset_url general.dataset.{id}.url
dataset_uuid general.dataset.{id}.uuid
dataset_version general.dataset.{id}.version
description general.description
doi general.doi
finetune general.finetune
license general.license
license_link general.license.link
license_name general.license.name
name general.name
organization general.organization
quantized_by general.quantized_by
repo_url general.repo_url
sampling_sequence general.sampling.sequence
size_label general.size_label
source_doi general.source.doi
source_repo_url general.source.repo_url
source_url general.source.url
source_uuid general.source.uuid
tensor_data_layout {arch}.tensor_data_layout
tokenizer_model tokenizer.ggml.model
tokenizer_pre tokenizer.ggml.pre
type general.type
url general.url
uuid general.uuid
version general.version
"""

UINT32 = """
altup_active_idx {arch}.altup.active_idx
altup_num_inputs {arch}.altup.num_inputs
attn_temperature_length {arch}.attention.temperature_length
audio_block_count clip.audio.block_count
audio_chunk_size clip.audio.chunk_size
audio_conv_kernel_size clip.audio.conv_kernel_size
audio_embedding_length clip.audio.embedding_length
audio_feed_forward_length clip.audio.feed_forward_length
audio_head_count clip.audio.attention.head_count
audio_max_pos_emb clip.audio.max_pos_emb
audio_num_mel_bins clip.audio.num_mel_bins
audio_projection_dim clip.audio.projection_dim
audio_projector_downsample_rate clip.audio.projector.downsample_rate
audio_projector_head_count clip.audio.projector.head_count
audio_projector_window_size clip.audio.projector.window_size
audio_stack_factor clip.audio.projector.stack_factor
base_model_count general.base_model.count
block_count {arch}.block_count
bos_token_id tokenizer.ggml.bos_token_id
context_length {arch}.context_length
convnext_block_count {arch}.convnext.block_count
convnext_embedding_length {arch}.convnext.embedding_length
dataset_count general.dataset.count
decay_lora_rank {arch}.attention.decay_lora_rank
decoder_block_count {arch}.decoder_block_count
decoder_start_token_id {arch}.decoder_start_token_id
embedding_length {arch}.embedding_length
embedding_length_out {arch}.embedding_length_out
embedding_length_per_layer_input {arch}.embedding_length_per_layer_input
eom_token_id tokenizer.ggml.eom_token_id
eos_token_id tokenizer.ggml.eos_token_id
eot_token_id tokenizer.ggml.eot_token_id
expert_chunk_feed_forward_length {arch}.expert_chunk_feed_forward_length
expert_count {arch}.expert_count
expert_feed_forward_length {arch}.expert_feed_forward_length
expert_group_count {arch}.expert_group_count
expert_group_used_count {arch}.expert_group_used_count
expert_shared_count {arch}.expert_shared_count
expert_shared_feed_forward_length {arch}.expert_shared_feed_forward_length
expert_used_count {arch}.expert_used_count
experts_per_group {arch}.experts_per_group
features_length {arch}.features_length
file_type general.file_type
full_attention_interval {arch}.full_attention_interval
gate_lora_rank {arch}.attention.gate_lora_rank
group_norm_groups {arch}.attention.group_norm_groups
iclr_lora_rank {arch}.attention.iclr_lora_rank
indexer_head_count {arch}.attention.indexer.head_count
indexer_key_length {arch}.attention.indexer.key_length
indexer_top_k {arch}.attention.indexer.top_k
interleave_moe_layer_step {arch}.interleave_moe_layer_step
kda_head_dim {arch}.kda.head_dim
key_length {arch}.attention.key_length
key_length_mla {arch}.attention.key_length_mla
key_length_swa {arch}.attention.key_length_swa
kv_lora_rank {arch}.attention.kv_lora_rank
leading_dense_block_count {arch}.leading_dense_block_count
mask_token_id tokenizer.ggml.mask_token_id
moe_every_n_layers {arch}.moe_every_n_layers
moe_latent_size {arch}.moe_latent_size
nextn_predict_layers {arch}.nextn_predict_layers
num_deepstack_layers {arch}.n_deepstack_layers
pad_token_id tokenizer.ggml.padding_token_id
posnet_block_count {arch}.posnet.block_count
posnet_embedding_length {arch}.posnet.embedding_length
q_lora_rank {arch}.attention.q_lora_rank
quantization_version general.quantization_version
relative_attn_buckets_count {arch}.attention.relative_buckets_count
rescale_every_n_layers {arch}.rescale_every_n_layers
rope_dimension_count {arch}.rope.dimension_count
rope_dimension_count_swa {arch}.rope.dimension_count_swa
rope_scaling_orig_ctx_len {arch}.rope.scaling.original_context_length
sep_token_id tokenizer.ggml.seperator_token_id
shared_kv_layers {arch}.attention.shared_kv_layers
shortconv_l_cache {arch}.shortconv.l_cache
sliding_window {arch}.attention.sliding_window
ssm_conv_kernel {arch}.ssm.conv_kernel
ssm_group_count {arch}.ssm.group_count
ssm_inner_size {arch}.ssm.inner_size
ssm_state_size {arch}.ssm.state_size
ssm_time_step_rank {arch}.ssm.time_step_rank
time_decay_extra_dim {arch}.time_decay_extra_dim
time_mix_extra_dim {arch}.time_mix_extra_dim
token_shift_count {arch}.token_shift_count
token_type_count tokenizer.ggml.token_type_count
unk_token_id tokenizer.ggml.unknown_token_id
value_length {arch}.attention.value_length
value_length_mla {arch}.attention.value_length_mla
value_length_swa {arch}.attention.value_length_swa
value_residual_mix_lora_rank {arch}.attention.value_residual_mix_lora_rank
vision_block_count clip.vision.block_count
vision_embedding_length clip.vision.embedding_length
vision_feed_forward_length clip.vision.feed_forward_length
vision_head_count clip.vision.attention.head_count
vision_image_size clip.vision.image_size
vision_max_pixels clip.vision.image_max_pixels
vision_min_pixels clip.vision.image_min_pixels
vision_n_wa_pattern clip.vision.n_wa_pattern
vision_patch_size clip.vision.patch_size
vision_preproc_image_size clip.vision.preproc_image_size
vision_preproc_max_tiles clip.vision.preproc_max_tiles
vision_preproc_min_tiles clip.vision.preproc_min_tiles
vision_projection_dim clip.vision.projection_dim
vision_projector_scale_factor clip.vision.projector.scale_factor
vision_sam_embedding_length clip.vision.sam.embedding_length
vision_sam_head_count clip.vision.sam.head_count
vision_sam_layers_count clip.vision.sam.block_count
vision_spatial_merge_size clip.vision.spatial_merge_size
vision_window_size clip.vision.window_size
vocab_size {arch}.vocab_size
wkv_head_size {arch}.wkv.head_size
"""

UINT32_OR_ARRAY = """
feed_forward_length {arch}.feed_forward_length
head_count {arch}.attention.head_count
head_count_kv {arch}.attention.head_count_kv
sliding_window_pattern {arch}.attention.sliding_window_pattern
"""
