#include "executor/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "executor/descriptor.h"

namespace coderunner::executor {
namespace {

constexpr const char* kNobody = "65534";  // as whom a script of a service without root sees itself
constexpr const char* kMountPoint = "/proc";  // a folder every machine has; hidden, then gone

WhyNot failed(const std::string& step) { return step + ": " + std::strerror(errno); }

WhyNot enter(int kind, const char* step) { return ::unshare(kind) == 0 ? WhyNot{} : failed(step); }

bool write_to(const char* path, const std::string& text) {
  const Descriptor file{::open(path, O_WRONLY | O_CLOEXEC)};
  return file.is_open() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

WhyNot enter_user_namespace() {
  const std::string uid = std::to_string(::geteuid()), gid = std::to_string(::getegid());
  if (auto why = enter(CLONE_NEWUSER, "unshare")) return why;
  // The kernel wants setgroups denied before it takes a group map from a user without rights.
  if (!write_to("/proc/self/setgroups", "deny") ||
      !write_to("/proc/self/uid_map", std::string{kNobody} + " " + uid + " 1") ||
      !write_to("/proc/self/gid_map", std::string{kNobody} + " " + gid + " 1"))
    return failed("mapping its user");
  return {};
}

// An empty, read-only file system in the place of everything. What was loaded stays mapped.
WhyNot empty_the_root() {
  if (auto why = enter(CLONE_NEWNS, "unshare")) return why;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return failed("making mounts private");
  if (::mount("none", kMountPoint, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "size=4k,nr_inodes=1,mode=555") != 0)
    return failed("mounting an empty file system");
  if (::chdir(kMountPoint) != 0) return failed("entering the empty file system");
  // The old root is put over the new one, where it can be taken off without a folder for it.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return failed("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return failed("taking the old root off");
  if (::chdir("/") != 0) return failed("entering the new root");
  if (::mount(nullptr, "/", nullptr,
              MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return failed("making it read-only");
  return {};
}

}  // namespace

Namespaces enter_namespaces() {
  Namespaces entered;
  if (::geteuid() != 0) entered.user = enter_user_namespace();
  entered.network = enter(CLONE_NEWNET, "unshare");
  entered.ipc = enter(CLONE_NEWIPC, "unshare");
  entered.host_name = enter(CLONE_NEWUTS, "unshare");
  entered.files = empty_the_root();
  entered.processes = enter(CLONE_NEWPID, "unshare");
  return entered;
}

}  // namespace coderunner::executor
