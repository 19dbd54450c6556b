#include "analysis/run/output_stream.h"

namespace msleaks::analysis {

std::streamsize OutputStream::Buffer::xsputn(const char *text, std::streamsize size) {
  if (written)
    written = file.write({text, static_cast<size_t>(size)});
  return written ? size : 0;
}

OutputStream::Buffer::int_type OutputStream::Buffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  const char text = traits_type::to_char_type(character);
  return xsputn(&text, 1) == 1 ? character : traits_type::eof();
}

Result<void> OutputStream::commit() { return buffer_.written ? buffer_.file.commit() : buffer_.written; }

} // namespace msleaks::analysis
