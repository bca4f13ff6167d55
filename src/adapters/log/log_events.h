// The log: every event one structured line on standard error, written before record() returns.
// Built by app/ in each process. Is told facts and never asked; never throws.
#pragma once

#include <memory>
#include <string>

#include "adapters/log/log_line.h"
#include "seams/clock.h"
#include "seams/events.h"

namespace coderunner {

struct LogOptions {
  LogFormat format = LogFormat::logfmt;
  Level level = Level::info;  // what is below is dropped
  std::string role;           // stamped on every line; empty: left out
};

class LogEvents final : public Events {
 public:
  // `clock` stamps the lines and must outlive this.
  LogEvents(LogOptions options, const Clock& clock);
  ~LogEvents() override;
  void record(const Event& event) override;

 private:
  struct Sink;
  LogOptions options_;
  const Clock& clock_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace coderunner
