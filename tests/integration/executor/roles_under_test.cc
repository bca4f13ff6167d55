#include "tests/integration/executor/roles_under_test.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "adapters/system/process_identity.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/system_entropy.h"
#include "executor/launcher.h"
#include "executor/master.h"
#include "executor/roles.h"
#include "executor/worker.h"
#include "executor/zygote.h"
#include "tests/integration/executor/file_ledger.h"
#include "tests/support/fakes.h"

namespace coderunner::executor_test {
namespace {

using executor::Role;

class FileEvents final : public Events {
 public:
  explicit FileEvents(std::filesystem::path folder) : file_(folder / "events") {}
  void record(const Event& event) override {
    std::ostringstream line;
    line << event.name;
    for (const auto& [name, value] : event.fields) line << " " << name << "=" << value;
    std::ofstream{file_, std::ios::app} << line.str() << "\n";
  }

 private:
  std::filesystem::path file_;
};

// As much HTTP as a drainer's request needs: POST, Content-Length, a form of two plain fields.
std::string read_request_body(int socket) {
  std::string text;
  char bytes[4096];
  for (;;) {
    const std::size_t head = text.find("\r\n\r\n");
    if (head != std::string::npos) {
      const std::size_t at = text.find("Content-Length: ");
      const std::size_t length =
          at == std::string::npos
              ? 0
              : static_cast<std::size_t>(to_number(std::string_view{text}.substr(at + 16)));
      if (text.size() >= head + 4 + length) return text.substr(head + 4, length);
    }
    const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
    if (got <= 0) return {};
    text.append(bytes, static_cast<std::size_t>(got));
  }
}

std::optional<std::string> field(const std::string& form, const std::string& name) {
  const std::size_t at = ("&" + form).find("&" + name + "=");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + name.size() + 1;
  return form.substr(begin, std::min(form.find('&', begin), form.size()) - begin);
}

void serve_one(int socket, const executor::RunHandler& handler) {
  const std::string form = read_request_body(socket);
  const auto answer = handler({field(form, "jobId"), field(form, "asyncNonce")});
  const std::string text = "HTTP/1.1 " + std::to_string(answer.http_status) +
                           " X\r\nContent-Length: " + std::to_string(answer.body.size()) +
                           "\r\n\r\n" + answer.body;
  ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  ::close(socket);
}

int run_worker_role(const PoolSetup& setup) {
  const SystemClock clock;
  SystemEntropy entropy;
  FileLedger ledger{setup.folder};
  NoGates gates;
  FileEvents events{setup.folder};
  const fakes::PlainSecrets secrets;
  executor::RunSettings settings;
  settings.wall = setup.wall;
  settings.script.loop_budget = setup.loop_budget;
  settings.api.base_url = setup.api;
  return executor::run_worker(settings, {ledger, gates, secrets, clock, entropy, events,
                                         to_executor_id(*own_identity()), serve_one});
}

int run_serve(int listener, const std::string& settings) {
  const SystemClock clock;
  const PoolSetup setup = setup_from_text(settings);
  FileEvents events{setup.folder};
  executor::Launcher launcher{{settings, listener, setup.max_children}, clock, events};
  if (!launcher.start()) return 1;
  pollfd exit{launcher.exit_descriptor(), POLLIN, 0};
  ::poll(&exit, 1, 60'000);  // the test kills this process long before
  return 0;
}

}  // namespace

int to_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string to_text(const PoolSetup& setup) {
  std::ostringstream text;
  text << setup.folder.string() << "\n"
       << setup.max_children << "\n"
       << setup.wall.count() << "\n"
       << setup.finish_attempt.count() << "\n"
       << setup.loop_budget.count() << "\n"
       << setup.api << "\n";
  return text.str();
}

PoolSetup setup_from_text(const std::string& text) {
  std::istringstream lines{text};
  PoolSetup setup;
  std::string folder;
  std::getline(lines, folder);
  setup.folder = folder;
  std::int64_t wall = 0, attempt = 0, budget = 0;
  lines >> setup.max_children >> wall >> attempt >> budget >> setup.api;
  setup.finish_attempt = Millis{attempt};
  setup.wall = Millis{wall};
  setup.loop_budget = Millis{budget};
  return setup;
}

std::optional<int> run_role(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : "";
  if (argument == kServeArgument && argc > 3) return run_serve(to_number(argv[2]), argv[3]);
  const auto role = executor::role_from_argument(argument);
  if (!role) return std::nullopt;
  const SystemClock clock;
  if (*role == Role::zygote) return executor::run_zygote(clock);
  const PoolSetup setup = setup_from_text(*executor::inherited_settings(*role));
  if (*role == Role::worker) return run_worker_role(setup);
  FileEvents events{setup.folder};
  return executor::run_master({setup.max_children, setup.wall, setup.finish_attempt},
                              {clock, events});
}

}  // namespace coderunner::executor_test
