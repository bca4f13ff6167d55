#include "tests/integration/executor/pool_fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "adapters/system/pause.h"

namespace coderunner::executor_test {

bool eventually(const std::function<bool()>& holds, Millis limit) {
  const SystemClock clock;
  const MonoTime until = clock.mono_now() + limit;
  while (!holds()) {
    if (clock.mono_now() >= until) return false;
    pause(Millis{5});
  }
  return true;
}

void PoolTest::SetUp() {
  std::string folder = (std::filesystem::temp_directory_path() / "executor-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  setup_.folder = folder;
  ledger_ = std::make_unique<FileLedger>(folder);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of killed processes stay in sight
}

void PoolTest::TearDown() {
  if (launcher_ != nullptr) launcher_->stop(Millis{3'000});
  launcher_.reset();
  if (serve_pid_ > 0) ::kill(serve_pid_, SIGKILL);
  if (!all_gone(Millis{3'000}))
    for (const ProcessEntry& process : processes()) ::kill(process.pid, SIGKILL);
  EXPECT_TRUE(all_gone());
  std::filesystem::remove_all(setup_.folder);
}

void PoolTest::listen() {
  listener_ = executor::Descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener_.get(), generic, length), 0);
  ASSERT_EQ(::listen(listener_.get(), 64), 0);
  ASSERT_EQ(::getsockname(listener_.get(), generic, &length), 0);
  port_ = ntohs(address.sin_port);
}

void PoolTest::start_pool() {
  listen();
  launcher_ = std::make_unique<executor::Launcher>(
      executor::LauncherOptions{to_text(setup_), listener_.get(), setup_.max_children}, clock_,
      told_);
  ASSERT_TRUE(launcher_->start());
}

namespace {

bool become_lone_root() {
  const std::string uid = std::to_string(::getuid()), gid = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  const auto put = [](const char* file, const std::string& text) {
    std::ofstream stream{file};
    stream << text << std::flush;
    return stream.good();
  };
  return put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", "0 " + uid + " 1") &&
         put("/proc/self/gid_map", "0 " + gid + " 1");
}

}  // namespace

void PoolTest::start_pool_under_another_process(Parent parent) {
  listen();
  std::string program = "/proc/self/exe", role = kServeArgument, settings = to_text(setup_);
  std::string listener = std::to_string(listener_.get());
  char* const argv[] = {program.data(), role.data(), listener.data(), settings.data(), nullptr};
  serve_pid_ = ::fork();
  if (serve_pid_ == 0) {
    if (parent == Parent::lone_root && !become_lone_root()) ::_exit(126);
    ::fcntl(listener_.get(), F_SETFD, 0);
    ::execv(program.c_str(), argv);
    ::_exit(127);
  }
  ASSERT_GT(serve_pid_, 0);
}

executor::Descriptor PoolTest::connect() const {
  executor::Descriptor client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return client;
}

executor::Descriptor PoolTest::post(int job, const std::string& nonce) const {
  executor::Descriptor client = connect();
  const std::string form = "jobId=" + std::to_string(job) +
                           "&asyncNonce=" + (nonce.empty() ? "n" + std::to_string(job) : nonce);
  const std::string request =
      "POST /codeRunner/runAsync HTTP/1.1\r\nContent-Length: " + std::to_string(form.size()) +
      "\r\n\r\n" + form;
  EXPECT_EQ(::send(client.get(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  return client;
}

std::optional<Reply> PoolTest::read_reply(const executor::Descriptor& socket, Millis limit) {
  std::string text;
  char bytes[4096];
  const SystemClock clock;
  const MonoTime until = clock.mono_now() + limit;
  for (;;) {
    pollfd readable{socket.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<Millis>(until - clock.mono_now()).count();
    if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) == 0) return std::nullopt;
    const ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (got <= 0) break;
    text.append(bytes, static_cast<std::size_t>(got));
  }
  if (!text.starts_with("HTTP/1.1 ")) return Reply{};
  const std::size_t head = text.find("\r\n\r\n");
  return Reply{to_number(std::string_view{text}.substr(9)),
               text.substr(std::min(head + 4, text.size()))};
}

std::vector<ProcessEntry> PoolTest::processes(const std::string& name) const {
  std::map<int, ProcessEntry> all;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const int pid = to_number(entry.path().filename().string());
    if (pid <= 0) continue;
    const std::string stat = read_text(entry.path() / "stat");
    const std::size_t open = stat.find('('), close = stat.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    ProcessEntry process;
    process.pid = pid;
    process.name = stat.substr(open + 1, close - open - 1);
    std::istringstream{stat.substr(close + 2)} >> process.state >> process.parent;
    all.emplace(pid, process);
  }
  const auto is_ours = [&all](int pid) {
    for (int steps = 0; steps < 8; ++steps) {
      const auto found = all.find(pid);
      if (found == all.end()) return false;
      if (found->second.parent == ::getpid()) return true;
      pid = found->second.parent;
    }
    return false;
  };
  std::vector<ProcessEntry> ours;
  for (const auto& [pid, process] : all) {
    if (!is_ours(pid)) continue;
    const bool is_the_launchers = launcher_ != nullptr && process.name == "cr-master";
    // An orphan that has ended: this process is its reaper now, as init would be.
    if (process.state == 'Z' && process.parent == ::getpid() && !is_the_launchers) {
      ::waitpid(pid, nullptr, WNOHANG);
      continue;
    }
    if (name.empty() || process.name == name) ours.push_back(process);
  }
  return ours;
}

int PoolTest::only(const std::string& name) const {
  EXPECT_TRUE(eventually([&] { return processes(name).size() == 1; })) << "not one " << name;
  const auto found = processes(name);
  return found.empty() ? 0 : found.front().pid;
}

}  // namespace coderunner::executor_test
