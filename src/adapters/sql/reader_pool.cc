#include "adapters/sql/reader_pool.h"

namespace coderunner::sql {

ReaderPool::ReaderPool(Make make, BusyWait wait, int sessions)
    : make_(std::move(make)), wait_(std::move(wait)), not_made_(sessions) {
  ensure(sessions > 0, "a store needs a reading session");
}

std::unique_ptr<Session> ReaderPool::take() {
  std::unique_lock lock{mutex_};
  returned_.wait(lock, [this] { return !free_.empty() || not_made_ > 0; });
  if (free_.empty()) {
    --not_made_;
    return make_();
  }
  auto session = std::move(free_.back());
  free_.pop_back();
  return session;
}

void ReaderPool::close_idle() {
  std::vector<std::unique_ptr<Session>> closed;  // after the lock
  const std::lock_guard lock{mutex_};
  closed.swap(free_);
  not_made_ += static_cast<int>(closed.size());
}

void ReaderPool::give_back(std::unique_ptr<Session> session) {
  {
    const std::lock_guard lock{mutex_};
    free_.push_back(std::move(session));
  }
  returned_.notify_one();
}

}  // namespace coderunner::sql
