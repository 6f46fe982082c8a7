# Completion of wb for fish. Generated from cli/options.def by 'wb --generate fish'; do not edit.
function __wb_first_operand
    set -l words (commandline -poc)
    for word in $words[3..-1]
        if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
    return 1
end
function __wb_tensors
    set -l path (__wb_first_operand); or return
    wb --generate tensors (string replace -r '^~' $HOME -- $path) 2>/dev/null
end
complete -c wb -n __fish_use_subcommand -f -a inspect -d 'show what a model is made of'
complete -c wb -n __fish_use_subcommand -f -a verify -d 'prove a model sound, or say what is wrong'
complete -c wb -n __fish_use_subcommand -f -a doctor -d 'say why a model does not load, and what to do'
complete -c wb -n __fish_use_subcommand -f -a export -d 'write a tensor as .npy, raw bytes or text'
complete -c wb -n __fish_use_subcommand -f -a get -d 'write tensors as an engine gets them'
complete -c wb -n __fish_use_subcommand -f -a codec -d 'encode and decode raw data in any type'
complete -c wb -n __fish_use_subcommand -f -a hash -d 'digests of files, and of values whatever stores them'
complete -c wb -n __fish_use_subcommand -f -a diff -d 'in what two models differ, across formats and quantizations'
complete -c wb -n __fish_use_subcommand -f -a load -d 'measure what loading costs, beside what this machine can do'
complete -c wb -n __fish_use_subcommand -f -a list -d 'list the models of an Ollama store'
complete -c wb -n __fish_use_subcommand -f -a convert -d 'convert a model: format, quantization, number of files'
complete -c wb -n __fish_use_subcommand -f -a edit -d 'change metadata and names of tensors, without copying the data'
complete -c wb -n __fish_use_subcommand -f -a realign -d 'lay a file out anew'
complete -c wb -n __fish_use_subcommand -f -a help -d 'explain a command'
complete -c wb -n __fish_use_subcommand -l version -d 'print the version'
complete -c wb -n __fish_use_subcommand -l help -s h -d 'explain a command'
complete -c wb -n '__fish_seen_subcommand_from help' -f -a 'inspect verify doctor export get codec hash diff load list convert edit realign help'
complete -c wb -n '__fish_seen_subcommand_from export get; and __wb_first_operand >/dev/null' -a '(__wb_tensors)' -d tensor
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get codec hash diff load list convert edit realign' -l json -d 'answer in JSON, one object a path or model on a line of its own; of what fails path and error{}'
complete -c wb -n '__fish_seen_subcommand_from inspect hash' -l no-tensors -d 'leave the table of tensors out'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l metadata -d 'show all metadata, whole, with what follows from the files beside the weights; with a KEY that value by itself, strings as they are'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l config -d 'show every field of the config, and where it comes from'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l layers -d 'show tensors layer by layer, equal layers as one'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l tokens -d 'show the tokens of the tokenizer'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l template -d 'print the chat template as it is'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l modelfile -d 'print what \'ollama show --modelfile\' prints, of a model in a store'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l no-metadata -d 'leave the metadata out'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l filter -x -d 'only tensors whose name matches, in table and totals: *, ?, [a-z]'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l names -x -a 'native canonical both' -d 'names as the file has them, or as weighbridge calls them in every format, in parentheses where it has no name for a tensor'
complete -c wb -n '__fish_seen_subcommand_from verify doctor' -l deep -d 'read all tensor data'
complete -c wb -n '__fish_seen_subcommand_from load' -l io -x -a 'auto map read direct' -d 'how bytes are fetched: as is best for each piece [auto], mapped, through the page cache, past it'
complete -c wb -n '__fish_seen_subcommand_from load' -l cold -d 'drop the files from the page cache before'
complete -c wb -n '__fish_seen_subcommand_from load' -l warm -d 'read the files into the page cache before'
complete -c wb -n '__fish_seen_subcommand_from load' -l verify -d 'compute the SHA-256 of each file on the way, and compare it with the name of a blob; what has been copied to a device is read back and compared with the files'
complete -c wb -n '__fish_seen_subcommand_from get load' -l device -x -a 'host opencl cuda' -d 'where the bytes go: memory of this process, the first OpenCL device, a GPU if there is one, or the first of CUDA'
complete -c wb -n '__fish_seen_subcommand_from verify' -l quiet -s q -d 'say nothing about what is sound'
complete -c wb -n '__fish_seen_subcommand_from hash' -l files -d 'digests of files only; values are not looked at'
complete -c wb -n '__fish_seen_subcommand_from verify hash' -l manifest -r -F -d 'where to write the digests (hash), or to read them from to compare all bytes of the files (verify); of one PATH'
complete -c wb -n '__fish_seen_subcommand_from diff' -l only -x -d 'compare only these, commas between: names, config, metadata, shapes, encodings, values'
complete -c wb -n '__fish_seen_subcommand_from export load' -l dtype -x -a 'f64 f32 f16 bf16 f8_e4m3 f8_e5m2 f8_e8m0 f8_e4m3fnuz f8_e5m2fnuz f6_e2m3 f6_e3m2 f4 i8 i16 i32 i64 u8 u16 u32 u64 bool c64' -d 'convert to this dtype, in any case'
complete -c wb -n '__fish_seen_subcommand_from export' -l slice -x -d 'what NumPy selects with it: \'0:4, :, ::2\', \'-1\', \'..., 3\''
complete -c wb -n '__fish_seen_subcommand_from export' -l format -x -a 'npy raw text' -d 'how to write it'
complete -c wb -n '__fish_seen_subcommand_from export get' -l part -x -d 'the tensor-parallel part of a rank: 0:1/4 is the second of four parts of the rows'
complete -c wb -n '__fish_seen_subcommand_from get' -l policy -x -a 'f16 keep f32 bf16' -d 'what plain F32, BF16 and F16 tensors become [f16]; scales of affine tensors become F16 but with keep'
complete -c wb -n '__fish_seen_subcommand_from export get' -l output -s o -r -F -d 'where to write; - is standard output'
complete -c wb -n '__fish_seen_subcommand_from codec' -l type -x -d 'the type, in any case; \'wb codec list\' shows them'
complete -c wb -n '__fish_seen_subcommand_from codec' -l cols -x -d 'values in a row'
complete -c wb -n '__fish_seen_subcommand_from codec convert' -l imatrix -r -F -d 'an importance matrix: for convert llama.cpp\'s, .dat or GGUF; for codec one raw row of binary32 for every row of the data'
complete -c wb -n '__fish_seen_subcommand_from codec' -l e8m0 -x -a 'up nearest' -d 'how MLX\'s mxfp4 and mxfp8 find a scale: as MLX from 0.32.2 on [up], or as before and Ollama'
complete -c wb -n '__fish_seen_subcommand_from convert' -l to -x -a 'safetensors gguf mlx ollama npz' -d 'the format to write [as OUT ends: .gguf, .safetensors, .npz]'
complete -c wb -n '__fish_seen_subcommand_from convert' -l generation -x -a 'feb2026' -d 'ollama: blobs as they were first published, experts one by one'
complete -c wb -n '__fish_seen_subcommand_from convert' -l quant -x -d 'what weights become, in any case'
complete -c wb -n '__fish_seen_subcommand_from convert' -l rule -x -d 'tensors whose name has a match become TYPE, whatever --quant says; may be given more than once, the last match counts'
complete -c wb -n '__fish_seen_subcommand_from convert' -l lora -x -d 'merge an adapter, of PEFT, mlx-lm or GGUF, times SCALE [1]; may be given more than once'
complete -c wb -n '__fish_seen_subcommand_from convert' -l strict -d 'fail where a type does not fit a tensor, rather than to fall back on another'
complete -c wb -n '__fish_seen_subcommand_from convert' -l max-memory -x -d 'memory for tensors on their way [256MiB]'
complete -c wb -n '__fish_seen_subcommand_from convert' -l max-shard-size -x -d 'begin a new file rather than have more bytes of tensors in one; K, M, G and KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024'
complete -c wb -n '__fish_seen_subcommand_from convert' -l max-shard-tensors -x -d 'the same for tensors, in a copy'
complete -c wb -n '__fish_seen_subcommand_from convert realign' -l alignment -x -d 'where data begins, and every tensor of GGUF and array of npz: a multiple of this power of two [that of IN; 8 for safetensors]; convert: copies only'
complete -c wb -n '__fish_seen_subcommand_from convert realign' -l align-tensors -d 'safetensors: every tensor at a multiple of --alignment, with tensors __padding__.N between them'
complete -c wb -n '__fish_seen_subcommand_from convert' -l force -s f -d 'replace a folder that is there, with all that is in it'
complete -c wb -n '__fish_seen_subcommand_from edit' -l set -x -d 'set a key'
complete -c wb -n '__fish_seen_subcommand_from edit' -l set-file -x -d 'set a key to the text of a file'
complete -c wb -n '__fish_seen_subcommand_from edit' -l delete -x -d 'remove a key'
complete -c wb -n '__fish_seen_subcommand_from edit' -l rename -x -d 'rename a tensor, or a key if no tensor is called OLD'
complete -c wb -n '__fish_seen_subcommand_from edit' -l drop -x -d 'remove a tensor'
complete -c wb -n '__fish_seen_subcommand_from edit' -l in-place -d 'change the file where it lies even where a new one could take its place at once'
complete -c wb -n '__fish_seen_subcommand_from export get codec convert edit realign' -l dry-run -d 'say what would be written, and write nothing'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash diff load convert' -l compatible -d 'accept what the official safetensors library accepts against its specification'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash diff load convert' -l max-header -x -d 'the longest header to read, with K, M or G for powers of 1024 [100000000]'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash diff load list convert' -l store -r -F -d 'an Ollama store; a PATH that is none may then be the name of a model in it [OLLAMA_MODELS, or ~/.ollama/models]'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor hash diff list' -l sandbox -d 'for files from strangers: give up, before any of them is opened, all that reading does not need; no program is started, nothing is written or sent'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get codec hash diff load list convert edit realign help' -l help -s h -d 'explain the command'
complete -c weighbridge -w wb
