// Where gates live (contract section 5, gate.backend). Thread-safe. A gate is only ever extended,
// except by clear(). It knows gate.max: closed is what domain is_closed() says.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/rate_gate.h"

namespace coderunner {

class GateStore {
 public:
  virtual ~GateStore() = default;
  // Keeps the later of what stands and `seen` (domain extend()); answers what stands afterwards.
  virtual Result<Gate> close(const Gate& seen, UtcTime now) = 0;
  // The gates closed at `now`.
  virtual Result<std::vector<Gate>> closed(UtcTime now) = 0;
  virtual Result<std::optional<Gate>> closed(const ApiKeyHash& key, UtcTime now) = 0;
  // The latest record of the key, open or closed; nothing after a clear().
  virtual Result<std::optional<Gate>> last(const ApiKeyHash& key) = 0;
  // Forgets the gate and its record; harmless where there is none.
  virtual Result<Done> clear(const ApiKeyHash& key) = 0;
};

}  // namespace coderunner
