// manifest.json: text <-> Manifest.
#pragma once

#include "analysis/run/run_folder.h"

#include <string_view>

namespace msleaks::analysis {

inline constexpr uint32_t kManifestVersion = 1;

std::string formatManifest(const Manifest &manifest);
// `where` names the file in the error.
// Fails only on one that a newer msleaks wrote.
Result<void> checkManifestVersion(std::string_view text, const std::string &where);
Result<Manifest> parseManifest(std::string_view text, const std::string &where);

} // namespace msleaks::analysis
