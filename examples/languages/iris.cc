// Trains on iris.csv and prints the species of the flowers in new.csv, in C++: each object is freed
// by a unique_ptr, and a failure is an exception.
//
//   enhope examples .
//   g++ -std=c++17 iris.cc -o iris $(pkg-config --cflags --libs enhope) && ./iris
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include <enhope.h>

template <auto function> struct freed_by {
    template <typename T> void operator()(T *object) const { function(object); }
};
using context = std::unique_ptr<enhope_context, freed_by<enhope_context_free>>;
using dataset = std::unique_ptr<enhope_dataset, freed_by<enhope_dataset_free>>;
using model = std::unique_ptr<enhope_model, freed_by<enhope_model_free>>;

static void check(const context &ctx, enhope_status status)
{
    if (status) throw std::runtime_error(enhope_error(ctx.get()));
}

static dataset read(const context &ctx, const char *path, const enhope_model *columns_of)
{
    enhope_source source = {};
    source.path = path;
    source.model = columns_of;
    if (columns_of) source.label = "none";
    enhope_dataset *data = nullptr;
    check(ctx, enhope_dataset_read(ctx.get(), &source, &data));
    return dataset(data);
}

int main()
try {
    context ctx(enhope_context_create());
    const dataset train = read(ctx, "iris.csv", nullptr);
    enhope_model *trained = nullptr;
    check(ctx, enhope_train(ctx.get(), train.get(), nullptr, nullptr, nullptr, &trained));
    const model flowers(trained);

    const dataset fresh = read(ctx, "new.csv", flowers.get());
    enhope_dataset_info info;
    enhope_dataset_get_info(fresh.get(), &info);
    std::vector<int32_t> label(static_cast<size_t>(info.n));
    enhope_prediction out = {};
    out.label = label.data();
    check(ctx, enhope_model_predict(ctx.get(), flowers.get(), fresh.get(), 0, &out));
    for (const int32_t one : label) std::puts(enhope_model_class_name(flowers.get(), one));
} catch (const std::exception &error) {
    std::fprintf(stderr, "iris: %s\n", error.what());
    return 1;
}
