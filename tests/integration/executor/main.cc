// The tests of the executor's processes. The program is also those processes: spawn_role() starts
// whatever runs.
#include <gtest/gtest.h>

#include "tests/integration/executor/roles_under_test.h"

int main(int argc, char** argv) {
  if (const auto status = coderunner::executor_test::run_role(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
