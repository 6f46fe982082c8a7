"""The records that weighbridge returns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import IntEnum

__all__ = ["Config", "DType", "Encoding", "File", "Finding", "Findings", "Origin", "Severity"]


class Severity(IntEnum):
    """How serious a finding is."""

    INFO = 0  #: information that does not affect the verdict
    WARNING = 1  #: the model is usable, but something is not as expected
    SEVERE = 2  #: values of the model are damaged or doubtful
    FATAL = 3  #: the model cannot be opened


class Origin(IntEnum):
    """Where a field of the config comes from."""

    ABSENT = 0  #: unknown: the field is None
    FILE = 1  #: a file specifies it
    DEFAULT = 2  #: default of the architecture
    DERIVED = 3  #: derived from other fields or from the tensors


@dataclass(frozen=True, slots=True)
class DType:
    """An element type.

    Attributes:
        number: number of the type, for ggml's types that of ggml
        name: name of the type, such as ``"BF16"`` or ``"Q4_K"``
        block_size: number of elements in a block; 1 for plain types
        block_bits: size of a block, in bits
        is_float, is_complex, is_signed: kind of the numbers
        decodes: :func:`weighbridge.dequantize` supports it
        encodes: :func:`weighbridge.quantize` supports it
        importance: 0: the encoder ignores an importance matrix, 1: it can use one, 2: it needs one
        description: one line of text
    """

    number: int
    name: str
    block_size: int
    block_bits: int
    is_float: bool
    is_complex: bool
    is_signed: bool
    decodes: bool
    encodes: bool
    importance: int
    description: str


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the values of a tensor are stored.

    Attributes:
        type: ``"plain"``, the name of a ggml type, ``"affine"``, ``"mxfp4"``, ``"mxfp8"``,
            ``"nvfp4"``, ``"int4"``, ``"int8"``, ``"fp8_block"``, ``"awq"`` or ``"gptq"``
        bits: bits of a value, rounded down for ggml's types
        group_size: number of values in a row that share a scale; 0 for plain
        dtype: number of the type (wb_encoding.dtype)
        parts: number of stored tensors that make up the tensor
        global_scale: meaning of the global scale (wb_mlx_global), 0 if there is none
    """

    type: str
    bits: int
    group_size: int
    dtype: int
    parts: int
    global_scale: int

    @property
    def is_plain(self) -> bool:
        """Whether each value is stored by itself."""
        return self.type == "plain"

    def __str__(self) -> str:
        return f"{self.type}{self.bits}:{self.group_size}" if self.type == "affine" else self.type


@dataclass(frozen=True, slots=True)
class File:
    """A file of a model.

    Attributes:
        path: path as opened
        format: container format
        size: size of the file, in bytes
        data_offset: offset of the tensor data, in bytes
        tensors: number of tensors in the file
        version: version of the format, 0 if it has none
        big_endian: numbers are stored most significant byte first
    """

    path: str
    format: str
    size: int
    data_offset: int
    tensors: int
    version: int
    big_endian: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a model, or other information about it.

    Attributes:
        severity: how serious it is
        code: stable identifier, see docs/findings.md
        file: path of the file, or ``""``
        name: name of the tensor or key, or ``""``
        message: what is wrong
        advice: what to do, or ``""``
        offset: offset in the file, in bytes, or None
    """

    severity: Severity
    code: str
    file: str
    name: str
    message: str
    advice: str
    offset: int | None

    def __str__(self) -> str:
        place = self.file + (f":{self.offset}" if self.offset is not None else "")
        about = f"{self.name}: " if self.name else ""
        text = f"{self.severity.name.lower()}: {about}{self.message}"
        return f"{place}: {text}" if place else text


class Findings(list[Finding]):
    """The findings of a verification, most often empty.

    Attributes:
        verdict: 0 valid, 1 warnings or damaged values, 2 refused
    """

    def __init__(self, rows: Iterable[tuple], verdict: int | None = None) -> None:
        super().__init__(Finding(Severity(row[0]), *row[1:]) for row in rows)
        worst = max((finding.severity for finding in self), default=Severity.INFO)
        self.verdict = min(worst, 1) + (worst == Severity.FATAL) if verdict is None else verdict

    @property
    def ok(self) -> bool:
        """Whether there is no finding above INFO."""
        return self.verdict == 0

    def _repr_html_(self) -> str:
        from ._html import findings_table

        return findings_table(self)


@dataclass(frozen=True)
class Config:
    """The hyperparameters of a model; None where they are unknown.

    Dimensions are in elements, lengths of sequences in tokens. ``origins`` says for each field where
    it comes from. docs/format/metadata.md describes the fields.
    """

    architecture: str | None = None
    dim: int | None = None
    n_layers: int | None = None
    n_heads: int | None = None
    n_kv_heads: int | None = None
    head_dim: int | None = None
    q_dim: int | None = None
    kv_dim: int | None = None
    ffn_dim: int | None = None
    vocab_size: int | None = None
    max_seq_len: int | None = None
    norm_eps: float | None = None
    rope_theta: float | None = None
    sliding_window: int | None = None
    sliding_window_pattern: int | None = None
    rope_local_theta: float | None = None
    n_experts: int | None = None
    n_experts_used: int | None = None
    expert_ffn_dim: int | None = None
    tie_embeddings: bool | None = None
    rope_layout: str | None = None
    norm_offset: int | None = None
    enc_n_layers: int | None = None
    enc_n_heads: int | None = None
    enc_dim: int | None = None
    enc_ffn_dim: int | None = None
    n_mels: int | None = None
    enc_max_seq_len: int | None = None
    quant_bits: int | None = None
    quant_group_size: int | None = None
    activation: str | None = None
    norm_type: str | None = None
    attention_causal: bool | None = None
    parallel_residual: bool | None = None
    embedding_scale: float | None = None
    residual_scale: float | None = None
    attention_scale: float | None = None
    logit_scale: float | None = None
    attn_logit_softcapping: float | None = None
    final_logit_softcapping: float | None = None
    attention_clamp_kqv: float | None = None
    attention_max_alibi_bias: float | None = None
    attention_temperature_scale: float | None = None
    value_length: int | None = None
    q_lora_rank: int | None = None
    kv_lora_rank: int | None = None
    key_length_mla: int | None = None
    value_length_mla: int | None = None
    rope_dimension_count: int | None = None
    rope_scaling_type: str | None = None
    rope_scaling_factor: float | None = None
    rope_scaling_original_context_length: int | None = None
    rope_scaling_attn_factor: float | None = None
    rope_scaling_yarn_beta_fast: float | None = None
    rope_scaling_yarn_beta_slow: float | None = None
    rope_scaling_yarn_ext_factor: float | None = None
    rope_scaling_yarn_log_multiplier: float | None = None
    rope_scaling_low_freq_factor: float | None = None
    rope_scaling_high_freq_factor: float | None = None
    expert_group_count: int | None = None
    expert_group_used_count: int | None = None
    expert_gating_func: str | None = None
    expert_weights_scale: float | None = None
    expert_weights_norm: bool | None = None
    expert_shared_count: int | None = None
    expert_shared_feed_forward_length: int | None = None
    leading_dense_block_count: int | None = None
    interleave_moe_layer_step: int | None = None
    nextn_predict_layers: int | None = None
    full_attention_interval: int | None = None
    ssm_conv_kernel: int | None = None
    ssm_inner_size: int | None = None
    ssm_state_size: int | None = None
    ssm_time_step_rank: int | None = None
    ssm_group_count: int | None = None
    shortconv_l_cache: int | None = None
    kda_head_dim: int | None = None
    key_length_swa: int | None = None
    value_length_swa: int | None = None
    rope_dimension_count_swa: int | None = None
    shared_kv_layers: int | None = None
    embedding_length_per_layer_input: int | None = None
    altup_num_inputs: int | None = None
    altup_active_idx: int | None = None
    relative_buckets_count: int | None = None
    decoder_start_token_id: int | None = None
    origins: dict[str, Origin] = field(default_factory=dict, repr=False, compare=False)
    #: fields that this version of the package does not know
    others: dict[str, object] = field(default_factory=dict, repr=False)

    @classmethod
    def _from_fields(cls, rows: Iterable[tuple]) -> Config:
        known = {one.name for one in fields(cls)} - {"origins", "others"}
        values: dict = {}
        others: dict[str, object] = {}
        origins: dict[str, Origin] = {}
        for name, value, origin in rows:
            (values if name in known else others)[name] = value
            origins[name] = Origin(origin)
        return cls(**values, origins=origins, others=others)
