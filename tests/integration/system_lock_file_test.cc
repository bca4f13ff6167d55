#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "adapters/system/lock_file.h"
#include "tests/integration/temp_folder.h"

namespace coderunner {
namespace {

TEST(LockFileTest, IsHeldByOneAtATimeAndNamesTheHolder) {
  const TempFolder folder;
  std::optional<LockFile> first;
  {
    auto lock = LockFile::acquire({.path = folder / "db.lock", .keep_waiting = {}});
    ASSERT_TRUE(lock);
    first.emplace(*std::move(lock));
  }
  const auto second = LockFile::acquire({.path = folder / "db.lock", .keep_waiting = {}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Failure::conflict);
  EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos);

  first.reset();
  EXPECT_TRUE(LockFile::acquire({.path = folder / "db.lock", .keep_waiting = {}}));
}

TEST(LockFileTest, StaysOnDiskWhenItIsGivenBack) {
  const TempFolder folder;
  { ASSERT_TRUE(LockFile::acquire({.path = folder / "db.lock", .keep_waiting = {}})); }
  EXPECT_TRUE(std::filesystem::exists(folder / "db.lock"));
}

TEST(LockFileTest, MakesItsFolderAndSaysWhereItCannot) {
  const TempFolder folder;
  EXPECT_TRUE(LockFile::acquire({.path = folder / "var/deep/db.lock", .keep_waiting = {}}));
  folder.write("plain", "");
  const auto lock = LockFile::acquire({.path = folder / "plain/db.lock", .keep_waiting = {}});
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, Failure::unavailable);
  EXPECT_NE(lock.error().message.find("plain/db.lock"), std::string::npos);
}

TEST(LockFileTest, WaitsAsLongAsItIsToldTo) {
  const TempFolder folder;
  const LockOptions at_once{.path = folder / "db.lock", .keep_waiting = {}};
  auto held = LockFile::acquire(at_once);
  ASSERT_TRUE(held);
  std::optional<LockFile> first{*std::move(held)};

  int asked = 0;
  LockOptions gives_up = at_once;
  gives_up.keep_waiting = [&] { return ++asked < 3; };
  EXPECT_EQ(LockFile::acquire(gives_up).error().kind, Failure::conflict);
  EXPECT_EQ(asked, 3);

  LockOptions patient = at_once;
  patient.keep_waiting = [&] {
    first.reset();
    return true;
  };
  EXPECT_TRUE(LockFile::acquire(patient));
}

TEST(LockFileTest, EndsWithAHolderThatIsKilled) {
  const TempFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto lock = LockFile::acquire({.path = folder / "db.lock", .keep_waiting = {}});
    const char word = lock ? 'y' : 'n';
    if (write(ready[1], &word, 1) == 1)
      for (;;) ::pause();
    _exit(1);
  }
  char word = 0;
  ASSERT_EQ(read(ready[0], &word, 1), 1);
  ASSERT_EQ(word, 'y');
  EXPECT_FALSE(LockFile::acquire({.path = folder / "db.lock", .keep_waiting = {}}));
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(LockFile::acquire({.path = folder / "db.lock", .keep_waiting = {}}));
  close(ready[0]);
  close(ready[1]);
}

TEST(LockFileTest, KnowsWhetherItsNameIsStillItsOwn) {
  const TempFolder folder;
  const std::string path = folder / "a.lock";
  const auto lock = LockFile::acquire({.path = path, .keep_waiting = {}});
  ASSERT_TRUE(lock);
  EXPECT_TRUE(lock->is_named(path));
  std::filesystem::remove(path);
  EXPECT_FALSE(lock->is_named(path));
  const auto other = LockFile::acquire({.path = path, .keep_waiting = {}});
  ASSERT_TRUE(other) << "which is why its holder has to look";
  EXPECT_FALSE(lock->is_named(path));
}

}  // namespace
}  // namespace coderunner
