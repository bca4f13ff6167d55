// HTTP routes of operators' acts (contract section 2): cancel, pause and resume, one account, the
// gates. Called by Routes on the work pool. A bad request changes nothing.
#pragma once

#include <string_view>

#include "adapters/http_server/http.h"
#include "services/control.h"
#include "services/observatory.h"

namespace coderunner::app {

// What may be done at a path, as an Allow header says it; empty: it is no path of an operator.
std::string_view operator_methods(std::string_view path);

struct OperatorRoutesParts {
  Control& control;
  Observatory& observatory;
};

class OperatorRoutes {
 public:
  explicit OperatorRoutes(OperatorRoutesParts parts) : parts_(parts) {}

  // Of a path and a method that operator_methods() knows.
  HttpResponse answer(const HttpRequest& request);

 private:
  HttpResponse cancel(ExecutionId id);
  HttpResponse cancel_queued(const HttpRequest& request);
  HttpResponse pause(const HttpRequest& request);
  HttpResponse account(const HttpRequest& request);
  HttpResponse gates();
  HttpResponse gate(const HttpRequest& request);

  OperatorRoutesParts parts_;
};

}  // namespace coderunner::app
