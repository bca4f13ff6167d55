// The running server as the commands see it: found, asked, its refusals turned into sentences with
// an exit status. Called by cli_*.cc; the only way a command reaches the queue.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/http_client/http_client.h"
#include "app/command_line.h"
#include "app/settings.h"
#include "base/result.h"

namespace coderunner::app {

struct ServerPlace {
  std::string url;
  std::string token;
  friend bool operator==(const ServerPlace&, const ServerPlace&) = default;
};

struct ServerHints {  // CODERUNNER_URL and CODERUNNER_TOKEN; empty where unset
  std::string url;
  std::string token;
};

// --url, else CODERUNNER_URL, else client.url, else http.listen; the token likewise (contract
// section 1). invalid_input: none of them names a server that can be found, or the token file
// cannot be read.
Result<ServerPlace> find_server(const ServerOptions& options, const ServerHints& hints,
                                const Settings& settings);

class ServerClient {
 public:
  explicit ServerClient(ServerPlace place);

  // The body of a 2xx answer. Any other answer is a Failure whose message is for people: what the
  // server said, or that it is not there and what to do. `refusal`, where given, gets the body of
  // an answer that was not 2xx.
  Result<std::string> get(const std::string& path, std::string* refusal = nullptr);
  Result<std::string> post(const std::string& path, const std::string& json,
                           std::string* refusal = nullptr);
  Result<std::string> send(const ClientRequest& request, std::string* refusal = nullptr);

 private:
  ServerPlace place_;
  HttpClient http_;
};

// "the account is not a subdomain (field account)" of an error body; a plain word on a body that is
// none.
std::string refusal_text(int status, std::string_view body);

}  // namespace coderunner::app
