# Completion of wb for bash. Generated from cli/options.def by 'wb --generate bash'; do not edit.
_wb_names() {
    [[ -n $path || $1 == quants ]] &&
        wb --generate "$1" "${path/#\~/$HOME}" 2>/dev/null
}
_wb() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local command= path= operands=0 i
    COMPREPLY=()
    # Bash takes --name=value apart into three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]] && ((COMP_CWORD >= 2)); then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
        ((i == COMP_CWORD)) && continue
        case ${COMP_WORDS[i]} in
        =) ((i++)) ;;
        --sort|--top|--filter|--names|--io|--device|--manifest|--only|--dtype|--slice|--format|--part|--policy|--output|-o|--type|--cols|--imatrix|--e8m0|--to|--generation|--quant|--rule|--lora|--max-memory|--max-shard-size|--max-shard-tensors|--alignment|--set|--set-file|--delete|--rename|--drop|--to|--include|--exclude|--sha256|--message|-m|--revision|--family|--max-header|--store|--retries|--jobs|-j|--progress|--color)
            [[ ${COMP_WORDS[i+1]} == = ]] || ((i++)) ;;
        -?*) ;;
        *)
            if [[ -z $command ]]; then
                command=${COMP_WORDS[i]}
            else
                [[ -z $path && -e ${COMP_WORDS[i]/#\~/$HOME} ]] && path=${COMP_WORDS[i]}
                ((i < COMP_CWORD && operands++))
            fi
            ;;
        esac
    done
    case $prev in
    --sort)
        COMPREPLY=($(compgen -W 'size name offset' -- "$cur"))
        return
        ;;
    --top)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --metadata)
        COMPREPLY=($(compgen -W "$(_wb_names keys)" -- "$cur"))
        ((${#COMPREPLY[@]})) && return
        ;;
    --filter)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --names)
        COMPREPLY=($(compgen -W 'native canonical both' -- "$cur"))
        return
        ;;
    --io)
        COMPREPLY=($(compgen -W 'auto map read direct' -- "$cur"))
        return
        ;;
    --device)
        COMPREPLY=($(compgen -W 'host opencl cuda' -- "$cur"))
        return
        ;;
    --manifest)
        return
        ;;
    --only)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --dtype)
        COMPREPLY=($(compgen -W 'f64 f32 f16 bf16 f8_e4m3 f8_e5m2 f8_e8m0 f8_e4m3fnuz f8_e5m2fnuz f6_e2m3 f6_e3m2 f4 i8 i16 i32 i64 u8 u16 u32 u64 bool c64' -- "$cur"))
        return
        ;;
    --slice)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --format)
        COMPREPLY=($(compgen -W 'npy raw text' -- "$cur"))
        return
        ;;
    --part)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --policy)
        COMPREPLY=($(compgen -W 'f16 keep f32 bf16' -- "$cur"))
        return
        ;;
    --output|-o)
        return
        ;;
    --type)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --cols)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --imatrix)
        return
        ;;
    --e8m0)
        COMPREPLY=($(compgen -W 'up nearest' -- "$cur"))
        return
        ;;
    --to)
        COMPREPLY=($(compgen -W 'safetensors gguf mlx ollama npz' -- "$cur"))
        return
        ;;
    --generation)
        COMPREPLY=($(compgen -W 'feb2026' -- "$cur"))
        return
        ;;
    --quant)
        COMPREPLY=($(compgen -W "$(_wb_names quants)" -- "$cur"))
        return
        ;;
    --rule)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --lora)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --max-memory)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --max-shard-size)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --max-shard-tensors)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --alignment)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --set)
        COMPREPLY=($(compgen -S = -W "$(_wb_names edit-keys)" -- "$cur"))
        compopt -o nospace 2>/dev/null
        return
        ;;
    --set-file)
        COMPREPLY=($(compgen -S = -W "$(_wb_names edit-keys)" -- "$cur"))
        compopt -o nospace 2>/dev/null
        return
        ;;
    --delete)
        COMPREPLY=($(compgen -W "$(_wb_names edit-keys)" -- "$cur"))
        return
        ;;
    --rename)
        COMPREPLY=($(compgen -S = -W "$(_wb_names tensors)" -- "$cur"))
        compopt -o nospace 2>/dev/null
        return
        ;;
    --drop)
        COMPREPLY=($(compgen -W "$(_wb_names tensors)" -- "$cur"))
        return
        ;;
    --to)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --include)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --exclude)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --sha256)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --message|-m)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --revision)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --family)
        return
        ;;
    --max-header)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --store)
        return
        ;;
    --retries)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --jobs|-j)
        compopt +o default +o bashdefault 2>/dev/null
        return
        ;;
    --progress)
        COMPREPLY=($(compgen -W 'auto never json' -- "$cur"))
        return
        ;;
    --color)
        COMPREPLY=($(compgen -W 'auto always never' -- "$cur"))
        return
        ;;
    esac
    case $command in
    '')
        COMPREPLY=($(compgen -W 'inspect verify doctor export get codec hash diff load list convert edit realign pull push help --help --version' -- "$cur"))
        ;;
    inspect)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --no-tensors --tensors --sort --top --metadata --config --layers --tree --tokens --template --modelfile --no-metadata --filter --names --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --progress --wide --color --verbose --help' -- "$cur"))
        fi
        ;;
    verify)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --deep --quiet --manifest --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --jobs --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    doctor)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --deep --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --jobs --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    export)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --dtype --slice --format --part --output --dry-run --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --progress --color --verbose --help' -- "$cur"))
        elif [[ $operands == 1 ]]; then
            COMPREPLY=($(compgen -W "$(_wb_names tensors)" -- "$cur"))
        fi
        ;;
    get)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --device --part --policy --output --dry-run --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --jobs --progress --color --verbose --help' -- "$cur"))
        elif [[ $operands != 0 ]]; then
            COMPREPLY=($(compgen -W "$(_wb_names tensors)" -- "$cur"))
        fi
        ;;
    codec)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --type --cols --imatrix --e8m0 --dry-run --progress --color --verbose --help' -- "$cur"))
        elif [[ $operands == 0 ]]; then
            COMPREPLY=($(compgen -W 'list encode decode' -- "$cur"))
        fi
        ;;
    hash)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --no-tensors --files --manifest --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --jobs --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    diff)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --only --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --jobs --progress --wide --color --verbose --help' -- "$cur"))
        fi
        ;;
    load)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --io --cold --warm --verify --device --dtype --compatible --family --max-header --store --follow-links --plain-http --retries --netrc --jobs --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    list)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --store --sandbox --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    convert)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --imatrix --to --generation --quant --rule --lora --strict --force-lossy --raw --max-memory --max-shard-size --max-shard-tensors --alignment --align-tensors --force --interactive --discard --dry-run --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --jobs --progress --wide --color --verbose --help' -- "$cur"))
        fi
        ;;
    edit)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --set --set-file --delete --ignore-missing --rename --drop --in-place --dry-run --follow-links --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    realign)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --alignment --align-tensors --dry-run --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    pull)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --force --to --include --exclude --sha256 --repair --dry-run --plain-http --retries --netrc --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    push)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --json --dry-run --message --revision --plain-http --retries --netrc --progress --color --verbose --help' -- "$cur"))
        fi
        ;;
    help)
        if [[ $cur == -* ]]; then
            COMPREPLY=($(compgen -W ' --progress --color --verbose --help' -- "$cur"))
        else
            COMPREPLY=($(compgen -W 'inspect verify doctor export get codec hash diff load list convert edit realign pull push help' -- "$cur"))
        fi
        ;;
    esac
}
complete -o default -o bashdefault -F _wb wb weighbridge
