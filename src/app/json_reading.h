// Members of a server's JSON, read without trust: what is missing or of another type is empty, and
// no text can move a terminal's cursor. Called by the commands' views. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace coderunner::app {

using Json = nlohmann::ordered_json;

Json parse(std::string_view body);
Json member(const Json& object, const char* name);
// A text or a whole number.
std::string text_at(const Json& object, const char* name);
std::optional<std::int64_t> number_at(const Json& object, const char* name);
// 0 where there is none.
std::string count_at(const Json& object, const char* name);
// Milliseconds as people read them.
std::string age_at(const Json& object, const char* name);
std::optional<UtcTime> time_at(const Json& object, const char* name);

}  // namespace coderunner::app
