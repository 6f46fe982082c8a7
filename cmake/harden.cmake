# Flags that make errors in memory harder to exploit. wb_harden(TARGET) adds them to a library or a program; a flag
# that the compiler or linker lacks is left out. tests/check/hardening.sh checks the result.
#
#   _FORTIFY_SOURCE=3        libc functions abort if they write beyond a buffer whose size is known
#   -fstack-protector-strong a function with a buffer on the stack aborts if its return address was overwritten
#   -fstack-clash-protection the stack cannot grow over other memory
#   -fcf-protection          x86: indirect jumps end only at marked places, and returns use a shadow stack
#   -mbranch-protection      AArch64: the same, with BTI and pointer authentication
#   relro, now               all symbols are resolved at the start, and then their addresses are write-protected
#   noexecstack              the stack is not executable
#
# Sanitizers check more than these flags, and cannot check the functions that _FORTIFY_SOURCE replaces.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
option(WEIGHBRIDGE_HARDEN "Make errors in memory harder to exploit (cmake/harden.cmake)" ON)
check_pie_supported(LANGUAGES C)

set(harden_compile)
set(harden_link)
if(WEIGHBRIDGE_HARDEN AND UNIX AND NOT APPLE AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    set(candidates -fstack-protector-strong -fstack-clash-protection)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|i.86)$")
        list(APPEND candidates -fcf-protection=full)
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
        list(APPEND candidates -mbranch-protection=standard)
    endif()
    foreach(flag ${candidates})
        string(MAKE_C_IDENTIFIER "has${flag}" known)
        check_c_compiler_flag(${flag} ${known})
        if(${known})
            list(APPEND harden_compile ${flag})
        endif()
    endforeach()
    # Without optimisation, glibc warns about _FORTIFY_SOURCE. Some compilers define it themselves.
    set(has_optimiser $<NOT:$<CONFIG:Debug>>)
    list(APPEND harden_compile $<${has_optimiser}:-U_FORTIFY_SOURCE> $<${has_optimiser}:-D_FORTIFY_SOURCE=3>)
    foreach(flag relro now noexecstack)
        check_linker_flag(C "LINKER:-z,${flag}" has_z_${flag})
        if(has_z_${flag})
            list(APPEND harden_link "LINKER:-z,${flag}")
        endif()
    endforeach()
endif()

function(wb_harden target)
    target_compile_options(${target} PRIVATE ${harden_compile})
    target_link_options(${target} PRIVATE ${harden_link})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
