// Reading sessions of a process, opened when first needed. Called by the faces from any thread;
// each read is one snapshot and is closed before it answers. Must never write.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "adapters/sql/busy_wait.h"
#include "adapters/sql/session.h"

namespace coderunner::sql {

class ReaderPool {
 public:
  using Make = std::function<std::unique_ptr<Session>()>;
  ReaderPool(Make make, BusyWait wait, int sessions);

  // Closes the sessions that nobody uses.
  void close_idle();

  // Waits for a free session. `body` may run more than once, each time on a new snapshot.
  template <class T>
  Result<T> read(const std::function<Result<T>(Session&)>& body) {
    const Lease lease{*this};
    return wait_.until_free(lease.session(), [&]() -> Result<T> {
      Session& session = lease.session();
      if (const auto usable = session.ensure_usable(); !usable) return usable.error();
      if (const auto begun = session.execute("BEGIN"); !begun) return begun.error();
      auto answer = body(session);
      const auto closed = session.execute("COMMIT");
      if (!closed && answer) return closed.error();
      return answer;
    });
  }

 private:
  class Lease {
   public:
    explicit Lease(ReaderPool& pool) : pool_(pool), session_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(session_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Session& session() const { return *session_; }

   private:
    ReaderPool& pool_;
    std::unique_ptr<Session> session_;
  };

  std::unique_ptr<Session> take();
  void give_back(std::unique_ptr<Session> session);

  Make make_;
  BusyWait wait_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Session>> free_;
  int not_made_;
};

}  // namespace coderunner::sql
