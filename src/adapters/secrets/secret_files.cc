#include "adapters/secrets/secret_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"

namespace coderunner {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Error system_failure(std::string_view what, const std::string& path) {
  return fail(Failure::unavailable,
              fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

struct SecretText {
  std::string text;
  bool open_to_others = false;
};

// nullopt where there is no such file.
Result<std::optional<SecretText>> read_secret(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.get() < 0 && errno == ENOENT) return std::optional<SecretText>{};
  if (file.get() < 0) return system_failure("read", path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_failure("read", path);
  if (!S_ISREG(status.st_mode))
    return fail(Failure::invalid_input, fmt::format("{} is no ordinary file", path));
  char text[limits::kMaxSecretFileBytes + 1];
  const ssize_t length = read(file.get(), text, sizeof text);
  if (length < 0) return system_failure("read", path);
  if (static_cast<std::size_t>(length) > limits::kMaxSecretFileBytes)
    return fail(Failure::invalid_input,
                fmt::format("{} holds more than {} bytes: is it the right file?", path,
                            limits::kMaxSecretFileBytes));
  SecretText secret{std::string(text, static_cast<std::size_t>(length)),
                    (status.st_mode & (S_IRWXG | S_IRWXO)) != 0};
  sodium_memzero(text, sizeof text);
  if (!secret.text.empty() && secret.text.back() == '\n') secret.text.pop_back();
  return std::optional<SecretText>{std::move(secret)};
}

bool write_durably(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(fd) == 0;
}

// Whole and durable under its own name before it gets the real one, which link() gives only if
// nobody else's file has it.
Result<Done> make_secret(const std::string& path, const std::string& text, Entropy& entropy) {
  const std::filesystem::path folder = std::filesystem::path{path}.parent_path();
  std::error_code error;
  if (!folder.empty() && std::filesystem::create_directories(folder, error))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  if (error)
    return fail(Failure::unavailable,
                fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));

  const std::string draft = fmt::format("{}.{}.draft", path, random_hex_128(entropy));
  {
    const Descriptor file{open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (file.get() < 0) return system_failure("make", draft);
    if (!write_durably(file.get(), text)) {
      const Error failure = system_failure("write", draft);
      unlink(draft.c_str());
      return failure;
    }
  }
  // Crash window secret-drafted: a draft nobody reads; the next start makes its own.
  const bool linked = link(draft.c_str(), path.c_str()) == 0;
  const bool lost_race = !linked && errno == EEXIST;
  const Error failure = system_failure("make", path);
  unlink(draft.c_str());
  if (!linked && !lost_race) return failure;
  // Crash window secret-undurable: a power cut can lose the name, before anything was sealed.
  const Descriptor durable{open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC)};
  if (durable.get() < 0 || fsync(durable.get()) != 0) return system_failure("make durable", path);
  return Done{};
}

struct SecretRequest {
  std::string path;
  std::string setting;  // "secrets.salt_file"
  bool create = false;
};

Result<std::string> read_or_make(const SecretRequest& request, Entropy& entropy,
                                 LoadedSecrets& loaded) {
  auto secret = read_secret(request.path);
  if (!secret) return secret.error();
  if (!*secret && request.create) {
    std::uint8_t bytes[SodiumSecrets::kKeyBytes];
    entropy.fill(bytes);
    if (auto made = make_secret(request.path, to_hex(bytes) + "\n", entropy); !made)
      return made.error();
    sodium_memzero(bytes, sizeof bytes);
    loaded.made.push_back(request.path);
    // Read back, not taken from memory: another process may have been first.
    secret = read_secret(request.path);
    if (!secret) return secret.error();
  }
  if (!*secret)
    return fail(Failure::invalid_input,
                fmt::format("{} does not exist, and a new one would not fit the executions the "
                            "store has: put it back from the backup, or point {} at it",
                            request.path, request.setting));
  if ((**secret).open_to_others)
    loaded.warnings.push_back(
        fmt::format("{} can be read by other users: `chmod 600 {}`", request.path, request.path));
  return std::move((**secret).text);
}

std::optional<SodiumSecrets::Key> parse_key(std::string_view text) {
  auto bytes = from_hex(text);
  SodiumSecrets::Key key{};
  if (!bytes || bytes->size() != key.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), key.begin());
  sodium_memzero(bytes->data(), bytes->size());
  return key;
}

}  // namespace

Result<LoadedSecrets> load_secrets(const SecretFiles& files, Entropy& entropy) {
  LoadedSecrets loaded;
  const auto salt =
      read_or_make({files.salt_file, "secrets.salt_file", files.create}, entropy, loaded);
  if (!salt) return salt.error();
  // Without a salt the hashes of short names can be guessed, and would match nobody's old rows.
  if (salt->find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(Failure::invalid_input,
                fmt::format("the salt in {} is empty: write the salt of the existing data into it, "
                            "or remove the file to have one made",
                            files.salt_file));
  const auto key_text =
      read_or_make({files.key_file, "secrets.key_file", files.create}, entropy, loaded);
  if (!key_text) return key_text.error();
  const auto key = parse_key(*key_text);
  if (!key)
    return fail(Failure::invalid_input,
                fmt::format("the key in {} is not 64 hex digits: restore the file from a backup; "
                            "API keys sealed with another key cannot be opened",
                            files.key_file));
  loaded.secrets = std::make_unique<SodiumSecrets>(*salt, *key, entropy);
  return loaded;
}

}  // namespace coderunner
