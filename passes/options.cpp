#include "options.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

#include <cstdlib>

using namespace llvm;

namespace msleaks::passes {
namespace {

void readRows(StringRef path, Options &options) {
  if (!options.rows_file.empty()) {
    options.error =
        ("rows= is given twice, '" + options.rows_file + "' and '" + path + "': put the rows into one file").str();
    return;
  }
  options.rows_file = path.str();
  auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    options.error = ("cannot read rows file '" + path + "': " + file.getError().message()).str();
    return;
  }
  RowsResult result = parseRows(std::string_view((*file)->getBuffer()), std::string_view(path));
  options.rows = std::move(result.rows);
  options.error = std::move(result.error);
}

void readFunctions(StringRef expression, Options &options) {
  options.counts = true;
  options.cfg = expression.str();
  std::string mistake;
  if (!Regex(expression).isValid(mistake))
    options.error = ("cfg=" + expression + " is no regular expression: " + mistake).str();
}

} // namespace

std::shared_ptr<const Options> parseOptions(StringRef text, StringRef origin) {
  auto options = std::make_shared<Options>();
  SmallVector<StringRef> words;
  text.split(words, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    word = word.trim();
    if (word == "off")
      options->off = true;
    else if (word == "link")
      options->link = true;
    else if (word.consume_front("rows="))
      readRows(word, *options);
    else if (word == "cfg")
      options->counts = true;
    else if (word.consume_front("cfg="))
      readFunctions(word, *options);
    else if (word == "counters=all" || word == "counters=few" || word == "counters=calls") {
      options->all_counters = word != "counters=few";
      options->edge_calls = word == "counters=calls";
    } else if (word == "in-kernel")
      options->in_kernel = true;
    else if (word == "ir")
      options->ir = true;
    else if (!word.empty())
      options->error = ("unknown option '" + word + "' in " + origin +
                        "; known are 'off', 'link', 'rows=<file>', 'cfg', 'cfg=<regular expression>', "
                        "'counters=all|few|calls', 'in-kernel' and 'ir'")
                           .str();
    if (!options->error.empty())
      break;
  }
  return options;
}

std::shared_ptr<const Options> optionsFromEnvironment() {
  const char *text = std::getenv(kOptionsVariable), *link = std::getenv(kLinkVariable);
  return parseOptions((Twine(text ? text : "") + (link && *link ? ";link" : "")).str(), kOptionsVariable);
}

bool reportMistakes(const Options &options, LLVMContext &context) {
  if (options.error.empty())
    return true;
  context.emitError("msleaks: " + options.error);
  return false;
}

} // namespace msleaks::passes
