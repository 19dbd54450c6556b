// Writes columns as Parquet files by Apache Arrow, whose Python package a child process imports. So msleaks does not
// link Arrow, and works with each version of it.
#pragma once

#include "analysis/base/talking_program.h"
#include "analysis/base/text.h"
#include "analysis/exporters/row_group.h"

#include "arrow_side.inc"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline exporters {

// A file with its columns.
struct ArrowFile {
  std::filesystem::path path;
  const std::vector<ArrowColumn> *columns = nullptr;
};

class ArrowProcess {
public:
  // Starts Python, and waits until it has imported Arrow. $MSLEAKS_PYTHON names the interpreter; without it, it is
  // `python3`.
  static Result<std::unique_ptr<ArrowProcess>> start() {
    const char *named = std::getenv("MSLEAKS_PYTHON");
    const std::string python = named && *named ? named : "python3";
    auto program = TalkingProgram::start({python, "-B", "-c", std::string(kWriteParquetPy)});
    if (!program)
      return fail(program.error().message + ": " + kRemedy, ExitStatus::OwnFault);
    if ((*program)->readLine() != "ready")
      return fail(fmt::format("'{}' cannot import pyarrow: {}", python, kRemedy), ExitStatus::OwnFault);
    return std::unique_ptr<ArrowProcess>(new ArrowProcess(std::move(*program)));
  }

  // Call it once, before the first group. `facts` are stored in each file.
  void open(const std::vector<ArrowFile> &files, const std::map<std::string, std::string> &facts) {
    nlohmann::json described = nlohmann::json::array();
    for (const ArrowFile &file : files) {
      nlohmann::json columns = nlohmann::json::array();
      for (const ArrowColumn &column : *file.columns)
        columns.push_back({column.name(), nameOfType(column.type())});
      described.push_back({{"path", file.path.string()}, {"columns", std::move(columns)}});
    }
    const nlohmann::json head{{"files", std::move(described)}, {"facts", facts}};
    program_->send(head.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
  }
  // Appends a group of rows to a file, and empties the columns.
  void write(uint32_t file, std::vector<ArrowColumn> &columns, uint64_t rows) {
    buffer_.clear();
    const uint64_t head[] = {file, rows};
    buffer_.append(reinterpret_cast<const char *>(head), sizeof head);
    for (ArrowColumn &column : columns)
      column.moveTo(buffer_, rows);
    program_->send(buffer_);
  }
  // Waits until all files are complete. Returns the first error of Python.
  Result<void> finish() {
    program_->endInput();
    const std::string answer = program_->readLine();
    if (answer == "done")
      return {};
    return fail(answer.empty() ? "Python ended before the files were complete" : printable(answer),
                ExitStatus::OwnFault);
  }
  // Whether Python has taken everything so far.
  bool good() const { return program_->good(); }

private:
  static constexpr char kRemedy[] =
      "install Apache Arrow by `python3 -m pip install pyarrow`, or let MSLEAKS_PYTHON name an interpreter that has it";

  explicit ArrowProcess(std::unique_ptr<TalkingProgram> program) : program_(std::move(program)) {}
  static const char *nameOfType(ArrowType type) {
    constexpr const char *kNames[] = {"uint8", "uint16", "uint32", "uint64", "text"};
    return kNames[static_cast<size_t>(type)];
  }

  std::unique_ptr<TalkingProgram> program_;
  std::string buffer_;
};

} // namespace msleaks::analysis::inline exporters
