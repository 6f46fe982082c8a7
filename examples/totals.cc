// C++ example: counts the parameters per dtype, with the model owned by a unique_ptr: totals PATH
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <weighbridge.h>

namespace
{

struct Close {
    void operator()(wb_model *model) const noexcept
    {
        wb_close(model);
    }
};
using Model = std::unique_ptr<wb_model, Close>;

void check(wb_status status, const wb_error &error)
{
    if (status != WB_OK)
        throw std::runtime_error(std::string(error.file) + ": " + error.message);
}

Model open(const char *path)
{
    wb_model *model;
    wb_error error;
    check(wb_open(path, nullptr, &model, &error), error);
    return Model(model);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s PATH\n", argv[0]);
        return 2;
    }
    try {
        Model model = open(argv[1]);
        std::map<std::string, std::uint64_t> parameters;
        for (std::uint64_t i = 0; i < wb_tensor_count(model.get()); i++) {
            wb_tensor tensor = WB_TENSOR_INIT;
            wb_error error;
            check(wb_tensor_at(model.get(), i, &tensor, &error), error);
            parameters[wb_dtype_name(tensor.dtype)] += tensor.elements;
        }
        for (const auto &[dtype, count] : parameters)
            std::printf("%-8s %llu\n", dtype.c_str(), static_cast<unsigned long long>(count));
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    return 0;
}
