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
function __wb_names
    set -l file .
    for word in (commandline -poc)[2..-1]
        set word (string replace -r '^~' $HOME -- $word)
        if not string match -q -- '-*' $word; and test -e $word
            set file $word
            break
        end
    end
    wb --generate $argv[1] $file 2>/dev/null | string replace -r '$' "$argv[2]"
end
complete -c wb -n __fish_use_subcommand -f -a inspect -d 'show the contents of a model'
complete -c wb -n __fish_use_subcommand -f -a verify -d 'check that a model is valid, and report what is wrong'
complete -c wb -n __fish_use_subcommand -f -a doctor -d 'explain why a model does not load, and what to do'
complete -c wb -n __fish_use_subcommand -f -a export -d 'write a tensor as .npy, raw bytes or text'
complete -c wb -n __fish_use_subcommand -f -a get -d 'write tensors in the layout that engines load'
complete -c wb -n __fish_use_subcommand -f -a codec -d 'encode and decode raw data in any type'
complete -c wb -n __fish_use_subcommand -f -a hash -d 'compute digests of files, and of values in any format'
complete -c wb -n __fish_use_subcommand -f -a diff -d 'compare two models, across formats and quantizations'
complete -c wb -n __fish_use_subcommand -f -a load -d 'measure the time to load a model, and the limits of this machine'
complete -c wb -n __fish_use_subcommand -f -a list -d 'list the models of an Ollama store'
complete -c wb -n __fish_use_subcommand -f -a convert -d 'convert a model: format, quantization, number of files'
complete -c wb -n __fish_use_subcommand -f -a edit -d 'change metadata and tensor names without copying the data'
complete -c wb -n __fish_use_subcommand -f -a realign -d 'rewrite a file with aligned data'
complete -c wb -n __fish_use_subcommand -f -a help -d 'explain a command'
complete -c wb -n __fish_use_subcommand -l version -d 'print the version'
complete -c wb -n __fish_use_subcommand -l help -s h -d 'explain a command'
complete -c wb -n '__fish_seen_subcommand_from help' -f -a 'inspect verify doctor export get codec hash diff load list convert edit realign help'
complete -c wb -n '__fish_seen_subcommand_from export get; and __wb_first_operand >/dev/null' -a '(__wb_names tensors)' -d tensor
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor hash load' -l json -d 'print a JSON object for each path, on a line of its own; a failure gives path and error{}'
complete -c wb -n '__fish_seen_subcommand_from export get diff convert edit realign' -l json -d 'print a JSON object; a failure gives path and error{}'
complete -c wb -n '__fish_seen_subcommand_from codec' -l json -d 'print a JSON object; list prints one for each type, on a line of its own; a failure gives path and error{}'
complete -c wb -n '__fish_seen_subcommand_from list' -l json -d 'print a JSON object for each model, on a line of its own; a failure gives path and error{}'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l no-tensors -d 'omit the table of tensors'
complete -c wb -n '__fish_seen_subcommand_from hash' -l no-tensors -d 'omit the digests of single tensors'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l tensors -d 'show each tensor, also if there are more than 200'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l sort -x -a 'size name offset' -d 'show each tensor, sorted by size (largest first), name (numbers by value) or offset in the files'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l top -x -d 'show only the first N tensors, sorted by size if there is no --sort; totals are those of all'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l metadata -a '(__wb_names keys)' -d 'show all metadata in full, including what is derived from config.json and tokenizer files; with KEY, print only that value, strings without quotes'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l config -d 'show every field of the config and its source'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l layers -d 'show tensors layer by layer, with equal layers merged'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l tokens -d 'show the tokens of the tokenizer'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l template -d 'print the chat template'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l modelfile -d 'print the output of \'ollama show --modelfile\' for a model in a store'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l no-metadata -d 'omit the metadata'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l filter -x -d 'show and count only tensors whose name matches: *, ?, [a-z]; if none matches, the exit code is 1'
complete -c wb -n '__fish_seen_subcommand_from inspect' -l names -x -a 'native canonical both' -d 'show the names in the file, the canonical names, or both; a tensor without a canonical name is shown with its name in parentheses'
complete -c wb -n '__fish_seen_subcommand_from verify doctor' -l deep -d 'read all tensor data'
complete -c wb -n '__fish_seen_subcommand_from load' -l io -x -a 'auto map read direct' -d 'how to read: the best way for each piece [auto], mapped, through the page cache, or direct I/O'
complete -c wb -n '__fish_seen_subcommand_from load' -l cold -d 'drop the files from the page cache first'
complete -c wb -n '__fish_seen_subcommand_from load' -l warm -d 'read the files into the page cache first'
complete -c wb -n '__fish_seen_subcommand_from load' -l verify -d 'compute the SHA-256 of each file during loading, and compare it with the name of a blob; data copied to a device is read back and compared with the files'
complete -c wb -n '__fish_seen_subcommand_from get' -l device -x -a 'host opencl cuda' -d 'where to make the buffer: in the memory of this process, on the first OpenCL device (a GPU if there is one), or on the first CUDA device'
complete -c wb -n '__fish_seen_subcommand_from load' -l device -x -a 'host opencl cuda' -d 'where to store the bytes: in the memory of this process, on the first OpenCL device (a GPU if there is one), or on the first CUDA device'
complete -c wb -n '__fish_seen_subcommand_from verify' -l quiet -s q -d 'print nothing about valid models'
complete -c wb -n '__fish_seen_subcommand_from hash' -l files -d 'compute digests of files only, not of values'
complete -c wb -n '__fish_seen_subcommand_from verify' -l manifest -r -F -d 'compare all bytes of the files of one PATH with this file, which \'wb hash --manifest\' wrote'
complete -c wb -n '__fish_seen_subcommand_from hash' -l manifest -r -F -d 'write the digests of one PATH to this file; - is standard output'
complete -c wb -n '__fish_seen_subcommand_from diff' -l only -x -d 'compare only these, separated by commas: names, config, metadata, shapes, encodings, values'
complete -c wb -n '__fish_seen_subcommand_from export load' -l dtype -x -a 'f64 f32 f16 bf16 f8_e4m3 f8_e5m2 f8_e8m0 f8_e4m3fnuz f8_e5m2fnuz f6_e2m3 f6_e3m2 f4 i8 i16 i32 i64 u8 u16 u32 u64 bool c64' -d 'convert to this dtype (case-insensitive)'
complete -c wb -n '__fish_seen_subcommand_from export' -l slice -x -d 'select elements as in NumPy: \'0:4, :, ::2\', \'-1\', \'..., 3\''
complete -c wb -n '__fish_seen_subcommand_from export' -l format -x -a 'npy raw text' -d 'output format'
complete -c wb -n '__fish_seen_subcommand_from export get' -l part -x -d 'the tensor-parallel part of one rank: 0:1/4 is the second of four parts of the rows'
complete -c wb -n '__fish_seen_subcommand_from get' -l policy -x -a 'f16 keep f32 bf16' -d 'dtype for plain F32, BF16 and F16 tensors [f16]; scales of affine tensors become F16, except with keep'
complete -c wb -n '__fish_seen_subcommand_from export get' -l output -s o -r -F -d 'output file; - is standard output'
complete -c wb -n '__fish_seen_subcommand_from codec' -l type -x -d 'the type (case-insensitive); \'wb codec list\' shows them'
complete -c wb -n '__fish_seen_subcommand_from codec' -l cols -x -d 'number of values per row'
complete -c wb -n '__fish_seen_subcommand_from codec' -l imatrix -r -F -d 'an importance matrix: one raw row of binary32 values, used for every row of the data'
complete -c wb -n '__fish_seen_subcommand_from convert' -l imatrix -r -F -d 'an importance matrix from llama.cpp (.dat or GGUF)'
complete -c wb -n '__fish_seen_subcommand_from codec' -l e8m0 -x -a 'up nearest' -d 'rounding of scales in MLX\'s mxfp4 and mxfp8: as MLX 0.32.2 and later [up], or as older MLX and Ollama'
complete -c wb -n '__fish_seen_subcommand_from convert' -l to -x -a 'safetensors gguf mlx ollama npz' -d 'output format [from the extension of OUT: .gguf, .safetensors, .npz]'
complete -c wb -n '__fish_seen_subcommand_from convert' -l generation -x -a 'feb2026' -d 'ollama: write blobs as first published, with experts one by one'
complete -c wb -n '__fish_seen_subcommand_from convert' -l quant -x -a '(__wb_names quants)' -d 'type for the weights (case-insensitive)'
complete -c wb -n '__fish_seen_subcommand_from convert' -l rule -x -d 'use TYPE for tensors whose name matches REGEX, overriding --quant; may be repeated, the last match counts'
complete -c wb -n '__fish_seen_subcommand_from convert' -l lora -x -d 'merge an adapter from PEFT, mlx-lm or GGUF, multiplied by SCALE [1]; may be repeated'
complete -c wb -n '__fish_seen_subcommand_from convert' -l strict -d 'fail if a type does not fit a tensor, instead of falling back to another type'
complete -c wb -n '__fish_seen_subcommand_from convert' -l max-memory -x -d 'limit for buffers of tensor data [256MiB]'
complete -c wb -n '__fish_seen_subcommand_from convert' -l max-shard-size -x -d 'largest number of tensor bytes per file; K, M, G and KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024'
complete -c wb -n '__fish_seen_subcommand_from convert' -l max-shard-tensors -x -d 'for a copy in the format of IN: largest number of tensors per file'
complete -c wb -n '__fish_seen_subcommand_from convert' -l alignment -x -d 'for a copy in the format of IN: alignment of the data, and of every tensor in GGUF and array in npz: a power of two [that of IN; 8 for safetensors]'
complete -c wb -n '__fish_seen_subcommand_from realign' -l alignment -x -d 'alignment of the data, and of every tensor in GGUF: a power of two'
complete -c wb -n '__fish_seen_subcommand_from convert realign' -l align-tensors -d 'safetensors: align every tensor to --alignment, with padding tensors __padding__.N between them'
complete -c wb -n '__fish_seen_subcommand_from convert' -l force -s f -d 'replace an existing file, model of a store, or the files of the model in an existing folder; --dry-run lists them'
complete -c wb -n '__fish_seen_subcommand_from convert' -l interactive -s i -d 'ask on the terminal before an existing output is replaced'
complete -c wb -n '__fish_seen_subcommand_from convert' -l discard -d 'remove the partial result of an interrupted conversion to OUT; IN may be omitted'
complete -c wb -n '__fish_seen_subcommand_from edit' -l set -x -a '(__wb_names edit-keys =)' -d 'set a key'
complete -c wb -n '__fish_seen_subcommand_from edit' -l set-file -x -a '(__wb_names edit-keys =)' -d 'set a key to the contents of a file'
complete -c wb -n '__fish_seen_subcommand_from edit' -l delete -x -a '(__wb_names edit-keys)' -d 'remove a key'
complete -c wb -n '__fish_seen_subcommand_from edit' -l ignore-missing -d 'let --delete accept a key that does not exist'
complete -c wb -n '__fish_seen_subcommand_from edit' -l rename -x -a '(__wb_names tensors =)' -d 'rename a tensor, or a key if no tensor is named OLD'
complete -c wb -n '__fish_seen_subcommand_from edit' -l drop -x -a '(__wb_names tensors)' -d 'remove a tensor'
complete -c wb -n '__fish_seen_subcommand_from edit' -l in-place -d 'change the file in place even if a new file could replace it'
complete -c wb -n '__fish_seen_subcommand_from export get codec convert edit realign' -l dry-run -d 'show what would be written, and write nothing'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash diff load convert' -l compatible -d 'accept files that violate the safetensors specification but that the official library accepts'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash diff load convert' -l max-header -x -d 'limit for the header length in bytes; K, M, G are powers of 1024 [100000000]'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash load' -l store -r -F -d 'an Ollama store; a PATH that does not exist is then the name of a model in it [OLLAMA_MODELS, or ~/.ollama/models]'
complete -c wb -n '__fish_seen_subcommand_from diff' -l store -r -F -d 'an Ollama store; an A or B that does not exist is then the name of a model in it [OLLAMA_MODELS, or ~/.ollama/models]'
complete -c wb -n '__fish_seen_subcommand_from list' -l store -r -F -d 'the Ollama store [OLLAMA_MODELS, or ~/.ollama/models]'
complete -c wb -n '__fish_seen_subcommand_from convert' -l store -r -F -d 'an Ollama store; an IN that does not exist is then the name of a model in it, and --to ollama writes to it [OLLAMA_MODELS, or ~/.ollama/models]'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash diff load convert edit' -l follow-links -d 'for trusted folders: follow symbolic links that lead outside the folder of the model; without this option, only links in PATH and those of Hugging Face caches are followed'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get hash diff list convert' -l sandbox -d 'for untrusted files: before opening them, drop every system call that the command does not need; the process can then start no program, read only the files of the model, write only to the folder of the output, and send nothing'
complete -c wb -n '__fish_seen_subcommand_from verify doctor get hash diff load convert' -l jobs -s j -x -d 'number of threads [the number of processors]'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get codec hash diff load list convert edit realign help' -l progress -x -a 'auto never json' -d 'progress on standard error: a line if that is a terminal, none, or a JSON object per line [auto]'
complete -c wb -n '__fish_seen_subcommand_from inspect diff convert' -l wide -d 'do not shorten names and values to fit tables into the terminal; tables in a pipe or file are never fitted'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get codec hash diff load list convert edit realign help' -l color -x -a 'auto always never' -d 'use colours: if standard output is a terminal and NO_COLOR is not set, always, or never [auto]'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get codec hash diff load list edit realign help' -l verbose -s v -d 'also print the time that the command took'
complete -c wb -n '__fish_seen_subcommand_from convert' -l verbose -s v -d 'also print every tensor, all infos, and the time that the command took'
complete -c wb -n '__fish_seen_subcommand_from inspect verify doctor export get codec hash diff load list convert edit realign help' -l help -s h -d 'explain the command'
complete -c weighbridge -w wb
