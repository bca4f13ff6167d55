// Columns for people: aligned, and safe to print whatever a stranger's text holds. Called by the
// commands' views. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"

namespace coderunner::app {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads);
  // As many cells as heads; an empty one is shown as a dash.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.size() == 1; }
  // Columns two spaces apart, each as wide as its widest cell in characters; no trailing spaces.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the first holds the heads
};

// "0ms", "250ms", "3.2s", "2m05s", "3h07m", "12d04h": rounded down, for people.
std::string human_duration(Millis duration);

}  // namespace coderunner::app
