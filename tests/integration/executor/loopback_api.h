// An API of a few lines: answers each request with what the test has prepared, on a thread of its
// own, and remembers what came in over which connection.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "executor/descriptor.h"

namespace coderunner::executor_test {

struct SeenRequest {
  int connection = 0;  // counts from 1
  std::string text;    // head and body
};

class LoopbackApi {
 public:
  // What goes onto the wire for a request; empty: close without an answer; kSilence: never answer.
  using Answer = std::function<std::string(const SeenRequest&)>;
  static const std::string kSilence;

  explicit LoopbackApi(Answer answer);
  LoopbackApi(const LoopbackApi&) = delete;
  LoopbackApi& operator=(const LoopbackApi&) = delete;
  ~LoopbackApi();

  std::string base() const;  // "http://127.0.0.1:PORT"
  std::vector<SeenRequest> seen() const;

 private:
  void serve();
  bool serve_connection(int socket, int number);  // false: told to end

  Answer answer_;
  executor::Descriptor listener_;
  executor::Descriptor end_read_, end_write_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  std::vector<std::thread> connections_;  // the accepting thread's until it has ended
  std::thread acceptor_;
};

std::string http_answer(int status, const std::string& body, const std::string& headers = {});

}  // namespace coderunner::executor_test
