#include "adapters/sql/waiters.h"

#include <fcntl.h>
#include <unistd.h>

namespace coderunner::sql {
namespace {

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Waiters::Waiters(const std::string& store_path)
    : descriptor_(::open((store_path + "-waiters").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}

Waiters::~Waiters() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// Locks of the open file, not of the process: several stores of one process see one another.
void Waiters::arrive() {
  struct flock lock = whole_file(F_RDLCK);
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);
}

void Waiters::leave() {
  struct flock lock = whole_file(F_UNLCK);
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);
}

bool Waiters::others() const {
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(descriptor_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace coderunner::sql
