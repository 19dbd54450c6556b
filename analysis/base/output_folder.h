// Writes a folder completely or not at all: under a temporary name beside it, which commit() renames.
#pragma once

#include "analysis/base/output.h"

#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <ostream>
#include <string_view>

namespace msleaks::analysis::inline base {

class OutputFolder {
public:
  // Checks the path (path_check.h) and makes the temporary folder with mode 0750. Refuses a folder that exists and is
  // not empty. The folder above must exist.
  static Result<std::unique_ptr<OutputFolder>> create(const std::filesystem::path &path);
  ~OutputFolder(); // removes the temporary folder if commit() was not called
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;

  // Makes a file of the folder. A name with slashes is in folders inside, which are made, too. The stream is valid
  // until commit(). If the file cannot be made, the stream is bad.
  std::ostream &file(std::string_view name);
  // The same for a file that another library writes. Makes an empty file, and returns its path until commit().
  std::filesystem::path place(std::string_view name);
  // Takes an error of such a file.
  void refuse(Error);
  // The first error of any file.
  Result<void> written() const;
  Result<void> commit();

private:
  OutputFolder(std::filesystem::path path, std::filesystem::path temporary, FileDescriptor folder)
      : path_(std::move(path)), temporary_(std::move(temporary)), folder_(std::move(folder)) {}

  // Returns the folder that contains the file, and makes it first.
  Result<int> folderOf(const std::filesystem::path &name);

  std::filesystem::path path_, temporary_; // temporary_ is empty after commit()
  FileDescriptor folder_;
  std::map<std::filesystem::path, FileDescriptor> inside_; // folders in it, by their names
  std::list<OutputStream> files_;
  std::ostream bad_{nullptr};
  Result<void> made_; // the first file that could not be made
};

} // namespace msleaks::analysis::inline base
