// HTTP routes of the api role (contract section 2): request in, answer out. Only /healthz is
// answered on the I/O thread; everything that reads the store or parses goes to the work pool, and
// a test run to threads of its own.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "adapters/http_server/http.h"
#include "app/json_views.h"
#include "app/operator_routes.h"
#include "app/readiness.h"
#include "app/script_routes.h"
#include "app/work_pool.h"
#include "seams/secrets.h"
#include "seams/store.h"
#include "services/admission.h"
#include "services/observatory.h"

namespace coderunner::app {

struct RoutesParts {
  Admission& admission;
  Observatory& observatory;
  OperatorRoutes& operators;
  ScriptRoutes& scripts;
  QueueView& view;
  const Secrets& secrets;
  WorkPool& pool;
  const std::atomic<bool>& stopping;
  const Readiness& readiness;
  std::function<ExecutorFigures()> executor;
};

class Routes {
 public:
  explicit Routes(RoutesParts parts) : parts_(std::move(parts)) {}

  // An HttpHandler: called on an I/O thread, never blocks.
  void handle(HttpRequest request, HttpRespond respond);

 private:
  void dispatch(const HttpRequest& request, const HttpRespond& respond);
  void submit(const HttpRequest& request, const HttpRespond& respond);
  HttpResponse operate(const HttpRequest& request);
  HttpResponse read(const HttpRequest& request);
  HttpResponse execution(const HttpRequest& request, ExecutionId id);
  HttpResponse logs(const HttpRequest& request, ExecutionId id);
  HttpResponse executions(const HttpRequest& request);
  HttpResponse queue();
  HttpResponse ready() const;

  RoutesParts parts_;
};

// What a server answers whose store could not be opened yet, and why: it lives, it is not ready.
HttpResponse answer_without_store(const HttpRequest& request, const std::string& why);

}  // namespace coderunner::app
