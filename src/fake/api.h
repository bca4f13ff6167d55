// The fake Businessmap API as a function: a request and now give an answer, and what took place is
// in the ledger (contract section 1). Called by main.cc for each request, and by tests without a
// server. One thread; chance comes from its seed alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "adapters/http_server/http.h"
#include "base/time.h"
#include "fake/account.h"
#include "fake/ledger.h"
#include "fake/quota.h"
#include "fake/refusals.h"

namespace coderunner::fake {

struct ApiOptions {
  QuotaLimits quota;
  double fail_rate = 0;   // of 500s, before the effect
  double reset_rate = 0;  // of connections closed without an answer, before or after the effect
  RetryAfterForm retry_after = RetryAfterForm::both;
  std::optional<int> v1_limit;  // calls per key, method and endpoint in an hour, then the old 401
  std::uint64_t seed = 1;
};

class Api {
 public:
  explicit Api(ApiOptions options);

  HttpResponse answer(const HttpRequest& request, UtcTime now);
  const Ledger& ledger() const { return ledger_; }

 private:
  struct Address {
    std::string account;
    std::string path;  // after /api/v2
  };
  struct Luck {
    bool fails = false;
    bool resets_before = false;
    bool resets_after = false;
  };

  static std::optional<Address> address_of(const std::string& path);
  HttpResponse answer_control(const HttpRequest& request);
  HttpResponse answer_call(const HttpRequest& request, const Address& address, UtcTime now);
  HttpResponse answer_charged(const HttpRequest& request, const Address& address, UtcTime now);
  Reply run(const HttpRequest& request, const Address& address, UtcTime now);
  bool over_method_limit(const std::string& key, std::string endpoint, UtcTime now);
  void add_quota_headers(HttpResponse& response, const QuotaVerdict& verdict) const;
  Account& account(const std::string& name);
  Luck draw();

  ApiOptions options_;
  Quota quota_;
  Quota method_quota_;
  Ledger ledger_;
  std::map<std::string, Account> accounts_;
  std::mt19937_64 engine_;
};

}  // namespace coderunner::fake
