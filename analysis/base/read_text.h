// Reads a small file whole, also one of /proc.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace msleaks::analysis {

// As much of it as can be read; nothing where there is no such file. Never throws: a file of a process that ends while
// we read it fails in the middle, for which an iterator of the stream's buffer would throw.
inline std::string readText(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

} // namespace msleaks::analysis
