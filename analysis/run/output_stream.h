// An OutputFile for what writes to a std::ostream.
#pragma once

#include "analysis/run/output_file.h"

#include <ostream>
#include <streambuf>
#include <utility>

namespace msleaks::analysis {

// Bad from the first write on that failed; then written() says why. Not committed: as if it had never been.
class OutputStream final : public std::ostream {
public:
  explicit OutputStream(OutputFile file) : std::ostream(nullptr), buffer_(std::move(file)) { rdbuf(&buffer_); }
  Result<void> written() const { return buffer_.written; }
  Result<void> commit();

private:
  struct Buffer final : std::streambuf {
    explicit Buffer(OutputFile to) : file(std::move(to)) {}
    std::streamsize xsputn(const char *text, std::streamsize size) override;
    int_type overflow(int_type character) override;

    OutputFile file;
    Result<void> written;
  };
  Buffer buffer_;
};

} // namespace msleaks::analysis
