// A folder of a test's own, gone with it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace coderunner {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "coderunner-XXXXXX").string();
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
    EXPECT_FALSE(path_.empty());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{*this / name, std::ios::binary} << text;
    return *this / name;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream{*this / name, std::ios::binary}.rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

}  // namespace coderunner
