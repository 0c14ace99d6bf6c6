// Something sizable to compile: templates of the standard library, put together in many ways.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N> struct Row {
    using Key = std::tuple<std::integral_constant<int, N>, std::string>;
    std::map<std::string, std::variant<int, double, std::string, std::vector<int>>> fields;
    std::unordered_map<std::string, std::optional<std::set<int>>> index;

    long fill(std::mt19937 &random) {
        for (int i = 0; i < N + 10; i++) {
            std::string name = "field" + std::to_string(i * N);
            fields[name] = std::vector<int>(static_cast<std::size_t>(i + 1), N);
            index[name] = std::set<int>{i, N, static_cast<int>(random() % 100)};
        }
        auto size = [](const auto &value) -> long {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
                return static_cast<long>(value);
            else
                return static_cast<long>(value.size());
        };
        long sum = 0;
        for (const auto &[name, value] : fields) sum += std::visit(size, value);
        for (const auto &[name, value] : index) sum += value ? size(*value) : N;
        std::regex digits("([a-z]+)([0-9]{1," + std::to_string(N + 1) + "})");
        std::smatch match;
        for (const auto &[name, value] : fields)
            if (std::regex_match(name, match, digits)) sum += std::stol(match[2].str());
        std::vector<std::function<long(long)>> steps;
        for (int i = 0; i < N + 3; i++) steps.push_back([i](long x) { return x * N + i; });
        return std::accumulate(steps.begin(), steps.end(), sum,
                               [](long x, const auto &step) { return step(x) % 1'000'003; });
    }
};

template <int... Ns> long all(std::mt19937 &random, std::integer_sequence<int, Ns...>) {
    return (Row<Ns>{}.fill(random) + ...);
}

int main() {
    std::mt19937 random(7);
    std::cout << all(random, std::make_integer_sequence<int, 5>{}) << '\n';
}
