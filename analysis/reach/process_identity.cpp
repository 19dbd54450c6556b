#include "analysis/reach/process_identity.h"

#include "analysis/base/environment.h"
#include "analysis/base/files.h"

#include <array>
#include <charconv>
#include <fmt/format.h>

namespace msleaks::analysis::inline reach {
namespace {

// The variables of torchrun and others, Open MPI, PMIx, PMI (MPICH), and Slurm. The first one counts.
constexpr std::array<std::string_view, 5> kVariables = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                                        "SLURM_PROCID"};

} // namespace

std::optional<uint32_t> rankIn(std::string_view environment) {
  for (const std::string_view variable : kVariables) {
    const std::string_view value = variableIn(environment, variable);
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
    rank_ = rankIn(readText(fmt::format("/proc/{}/environ", pid)));
  has_looked_ = true;
  if (std::string name = readText(fmt::format("/proc/{}/comm", pid)); !name.empty()) { // empty: the process has ended
    name.pop_back();
    name_ = std::move(name);
  }
}

} // namespace msleaks::analysis::inline reach
