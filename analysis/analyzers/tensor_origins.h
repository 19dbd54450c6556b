// The calls that allocate the tensors of PyTorch.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/findings/torch_owner.h"
#include "analysis/live/cohorts.h"
#include "analysis/live/owners.h"
#include "analysis/places/path_answers.h"
#include "analysis/places/torch_functions.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline analyzers {

// The call that allocated a tensor.
enum class TensorOrigin : uint8_t { NotAsked, NoTensor, Construction, Module, Operator, Backward, Optimizer };

// Finds the call of each cohort.
class TensorOrigins {
public:
  TensorOrigins(const Cohorts &cohorts, SiteCatalog &catalog)
      : cohorts_(cohorts), catalog_(catalog), builds_(catalog, 0) {}

  TensorOrigin of(CohortId cohort) {
    TensorOrigin &origin = elementAt(by_cohort_, cohort.index);
    if (origin == TensorOrigin::NotAsked)
      origin = find(cohorts_[cohort]);
    return origin;
  }

private:
  // The path comes first: the program may name another owner, and a step of an optimizer may call forward and backward.
  TensorOrigin find(const Cohort &cohort) {
    const std::optional<TorchOwner> called = torchOwnerOf(catalog_.pathOwnerOf(cohort.site));
    if (called && called->phase == "backward")
      return TensorOrigin::Backward;
    if (called && isInConstruction(cohort.site))
      return TensorOrigin::Construction;
    if (called && !catalog_.moduleOf(cohort.site).empty())
      return TensorOrigin::Module;
    const std::optional<TorchOwner> owner = torchOwnerOf(ownerOf(cohort, catalog_));
    if (owner && owner->phase == "optimizer")
      return TensorOrigin::Optimizer;
    return called ? TensorOrigin::Operator : TensorOrigin::NoTensor;
  }
  bool isInConstruction(SiteId site) {
    return builds_.of(catalog_.innermostNodeOf(site), [&](uint32_t outer, SiteId call) -> uint32_t {
      const Site *python = outer != 0 ? nullptr : catalog_.pythonCallOf(call);
      return outer != 0 || (python != nullptr && buildsTorchModule(python->file, python->function));
    }) != 0;
  }

  const Cohorts &cohorts_;
  SiteCatalog &catalog_;
  PathAnswers builds_; // 1: the path has a call that makes, moves or loads parameters
  std::vector<TensorOrigin> by_cohort_;
};

} // namespace msleaks::analysis::inline analyzers
