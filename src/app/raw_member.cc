#include "app/raw_member.h"

#include <nlohmann/json.hpp>

namespace coderunner::app {
namespace {

// Walks a text that is known to be valid JSON: no errors to find, only extents.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  char peek() const { return text_[at_]; }
  void step() { ++at_; }

  void space() {
    while (at_ < text_.size() &&
           std::string_view{" \t\r\n"}.find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  std::string_view string() {
    const std::size_t start = at_;
    for (++at_; text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
    return text_.substr(start, at_ - start);
  }

  std::string_view value() {
    const std::size_t start = at_;
    int depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
      if (depth == 0 && c != '}' && c != ']') scalar();
    } while (depth > 0);
    return text_.substr(start, at_ - start);
  }

 private:
  void scalar() {
    while (at_ < text_.size() &&
           std::string_view{",}] \t\r\n"}.find(text_[at_]) == std::string_view::npos)
      ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_name(std::string_view quoted, std::string_view name) {
  if (quoted.substr(1, quoted.size() - 2) == name) return true;
  if (quoted.find('\\') == std::string_view::npos) return false;
  return nlohmann::json::parse(quoted).get<std::string>() == name;
}

}  // namespace

std::optional<std::string_view> raw_member(std::string_view object, std::string_view name) {
  Walk walk{object};
  walk.space();
  walk.step();  // {
  std::optional<std::string_view> found;
  for (walk.space(); walk.peek() != '}';) {
    const std::string_view key = walk.string();
    walk.space();
    walk.step();  // :
    walk.space();
    const std::string_view value = walk.value();
    if (is_name(key, name)) found = value;
    walk.space();
    if (walk.peek() == ',') walk.step();
    walk.space();
  }
  return found;
}

}  // namespace coderunner::app
