#include "fake/ledger.h"

#include <utility>

#include "domain/limits.h"

namespace coderunner::fake {

void Ledger::record(Effect effect, std::size_t bytes) {
  if (effects_.size() >= limits::kMaxFakeEffects || bytes_ + bytes > limits::kMaxFakeEffectBytes) {
    ++dropped_;
    return;
  }
  bytes_ += bytes;
  effects_.push_back(std::move(effect));
}

std::string Ledger::to_json() const {
  nlohmann::ordered_json effects = nlohmann::ordered_json::array();
  for (const Effect& effect : effects_)
    effects.push_back({{"at", to_rfc3339(effect.at)},
                       {"account", effect.account},
                       {"method", effect.method},
                       {"path", effect.path},
                       {"body", effect.body}});
  nlohmann::ordered_json json{{"calls", calls_}, {"limited", limited_}};
  json["effects"] = std::move(effects);
  if (dropped_ > 0) json["dropped"] = dropped_;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace coderunner::fake
