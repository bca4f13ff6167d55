// The salt and the key on disk: read, checked and, on a first start, made (contract section 5).
// Called by app/. Never overwrites an existing file: a new salt or key would make every stored hash
// and every sealed API key useless.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/secrets/sodium_secrets.h"
#include "base/result.h"

namespace coderunner {

struct SecretFiles {
  std::string salt_file;  // the salt is its text without one trailing newline
  std::string key_file;   // 64 hex digits
  bool create = false;    // make what is missing, with its folder
};

struct LoadedSecrets {
  std::unique_ptr<SodiumSecrets> secrets;
  std::vector<std::string> warnings;  // readable by others: for the start-up log
  std::vector<std::string> made;      // the files made just now
};

// invalid_input: a missing (without create), empty or malformed file; unavailable: one that cannot
// be read or made. The message names the file and what to do. Several processes may start at once:
// all end with the same secrets.
Result<LoadedSecrets> load_secrets(const SecretFiles& files, Entropy& entropy);

}  // namespace coderunner
