// What most sources of this folder include, read once where clang compiles: there it takes most of the time of a file.
// A file includes what it uses all the same; gcc builds without this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <utility>
#include <vector>
