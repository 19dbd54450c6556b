#include "analysis/report/read_progress.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {

void ReadProgress::tell(uint64_t more) {
  done_ += more;
  until_next_ = kEventsBetween;
  if (progress_)
    progress_(fmt::format("reading {:.0f}%",
                          100.0 * static_cast<double>(done_) / static_cast<double>(std::max(done_, events_))));
}

} // namespace msleaks::analysis
