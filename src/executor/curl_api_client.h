// The API over libcurl. Made for one run with the account's base address and its opened key; the
// only room in the executor with curl headers. Follows no redirect, uses no proxy, and keeps the
// key out of every text it answers.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "executor/api_client.h"
#include "executor/settings.h"
#include "seams/clock.h"

namespace coderunner::executor {

// Once per process, before the first client.
void prepare_curl();

// base_url with {account} replaced. invalid_input where the account is no DNS label (a row another
// program wrote) or the address is not http(s)://HOST...
Result<std::string> base_address(const std::string& base_url, const std::string& account);

struct CurlApiOptions {
  std::string base_address;
  std::string api_key;
};

class CurlApiClient final : public ApiClient {
 public:
  CurlApiClient(CurlApiOptions options, const Clock& clock);
  ~CurlApiClient() override;
  // GET may reuse a connection; everything else goes out on a fresh one, because on a reused one
  // libcurl re-sends by itself (contract section 7).
  ApiAnswer perform(const ApiRequest& request, RunWatch& watch) override;

 private:
  struct Handles;
  CurlApiOptions options_;
  const Clock& clock_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace coderunner::executor
