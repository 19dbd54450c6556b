// What most verbs include, read once for all of them.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
