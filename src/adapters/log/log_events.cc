#include "adapters/log/log_events.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <utility>

namespace coderunner {

struct LogEvents::Sink {
  Sink() : logger("coderunner", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger.set_pattern("%v");
    logger.set_level(spdlog::level::trace);
    // A log that cannot be written (a closed pipe) must not become text on the same closed pipe.
    logger.set_error_handler([](const std::string&) {});
  }
  spdlog::logger logger;
};

LogEvents::LogEvents(LogOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), sink_(std::make_unique<Sink>()) {}

LogEvents::~LogEvents() = default;

void LogEvents::record(const Event& event) {
  if (event.level < options_.level) return;
  const std::string line = log_line(event, {clock_.utc_now(), options_.role}, options_.format);
  sink_->logger.log(spdlog::level::info, spdlog::string_view_t{line.data(), line.size()});
}

}  // namespace coderunner
