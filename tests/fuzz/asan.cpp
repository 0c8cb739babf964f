// usearch for asan.rs: makes a graph, and walks one in memory that ends where the graph ends. `without` as a second
// argument leaves out our own check, to see that it is needed.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <usearch/index_dense.hpp>

using namespace unum::usearch;

static index_dense_t empty(std::size_t dimensions) {
    metric_punned_t metric(dimensions, metric_kind_t::cos_k, scalar_kind_t::i8_k);
    return index_dense_t::make(metric, index_dense_config_t(24, 160));
}

extern "C" std::size_t make_graph(i8_t const* vectors, std::size_t count, std::size_t dimensions, byte_t* out,
                                  std::size_t room) {
    index_dense_t index = empty(dimensions);
    index.try_reserve(count);
    for (std::size_t i = 0; i != count; ++i)
        index.add(i, vectors + i * dimensions);
    std::size_t length = index.serialized_length();
    if (length > room || !index.save(memory_mapped_file_t(out, length)))
        return 0;
    return length;
}

// How many were found; -1 if usearch refuses the graph.
extern "C" long walk_graph(byte_t const* bytes, std::size_t length, i8_t const* query, std::size_t dimensions) {
    index_dense_t index = empty(dimensions);
    byte_t* copy = static_cast<byte_t*>(std::malloc(length ? length : 1));
    std::memcpy(copy, bytes, length);
    long found = -1;
    try {
        index.view(memory_mapped_file_t(copy, length)).error.raise();
        if (index.dimensions() == dimensions) {
            found = 0;
            default_key_t keys[5];
            auto even = [](default_key_t key) { return key % 2 == 0; };
            auto all = index.search(query, 5);
            all.error.raise();
            found += all.dump_to(keys);
            auto some = index.filtered_search(query, 5, even);
            some.error.raise();
            found += some.dump_to(keys);
        }
    } catch (std::exception const&) {
        // What the Rust binding makes an error of.
        found = -1;
    }
    index.reset();
    std::free(copy);
    return found;
}

extern "C" void try_graphs(std::uint64_t count, bool is_checked);

int main(int count, char** arguments) {
    try_graphs(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100000, count < 3);
    return 0;
}
