#include "analysis/reach/process_identity.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace msleaks::analysis::inline reach {
namespace {

// The variables of torchrun and others, Open MPI, PMIx, PMI (MPICH), and Slurm. The first one counts.
constexpr std::array<std::string_view, 5> kVariables = {
    "RANK=", "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="};

std::string textOf(uint32_t pid, const char *file) {
  std::ifstream stream(fmt::format("/proc/{}/{}", pid, file), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string_view valueOf(std::string_view variable, std::string_view environment) {
  for (size_t begin = 0; begin < environment.size();) {
    const std::string_view entry = environment.substr(begin, environment.find('\0', begin) - begin);
    if (entry.starts_with(variable))
      return entry.substr(variable.size());
    begin += entry.size() + 1;
  }
  return {};
}

} // namespace

std::optional<uint32_t> rankIn(std::string_view environment) {
  for (const std::string_view variable : kVariables) {
    const std::string_view value = valueOf(variable, environment);
    uint32_t rank = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), rank);
    if (!value.empty() && error == std::errc() && end == value.data() + value.size())
      return rank;
  }
  return std::nullopt;
}

void ProcessIdentity::look(uint32_t pid) {
  if (pid == 0)
    return;
  if (!has_looked_)
    rank_ = rankIn(textOf(pid, "environ"));
  has_looked_ = true;
  if (std::string name = textOf(pid, "comm"); !name.empty()) { // empty: the process has ended
    name.pop_back();
    name_ = std::move(name);
  }
}

} // namespace msleaks::analysis::inline reach
