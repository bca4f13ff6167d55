#include "adapters/http_client/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/ensure.h"

namespace coderunner {
namespace {

constexpr std::string_view kUnix = "unix:";

struct Received {
  std::string body;
  std::size_t max_bytes;
};

std::size_t keep(char* bytes, std::size_t size, std::size_t count, void* into) {
  auto& received = *static_cast<Received*>(into);
  if (received.body.size() + size * count > received.max_bytes) return 0;
  received.body.append(bytes, size * count);
  return size * count;
}

// True where curl's own state proves that no byte of the request left.
bool never_connected(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
         code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION;
}

}  // namespace

struct HttpClient::Handle {
  Handle() : easy(curl_easy_init()) { ensure(easy != nullptr, "curl_easy_init failed"); }
  ~Handle() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void add_header(const std::string& line) {
    curl_slist* longer = curl_slist_append(headers, line.c_str());
    ensure(longer != nullptr, "curl_slist_append failed");
    headers = longer;
  }

  CURL* easy;
  curl_slist* headers = nullptr;
  char problem[CURL_ERROR_SIZE] = {};
};

HttpClient::HttpClient(HttpClientOptions options)
    : options_(std::move(options)), handle_(std::make_unique<Handle>()) {
  handle_->add_header("Content-Type: application/json");
  handle_->add_header("Accept: application/json");
  handle_->add_header("Expect:");  // a large script must not wait a second for a 100
  if (!options_.token.empty()) handle_->add_header("Authorization: Bearer " + options_.token);

  CURL* easy = handle_->easy;
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, handle_->headers);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, handle_->problem);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options_.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
  if (options_.url.starts_with(kUnix))
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, options_.url.substr(kUnix.size()).c_str());
}

HttpClient::~HttpClient() = default;

Result<ClientAnswer> HttpClient::send(const ClientRequest& request) {
  CURL* easy = handle_->easy;
  const bool local = options_.url.starts_with(kUnix);
  const std::string url = (local ? "http://localhost" : options_.url) + request.path;
  const bool is_get = request.method == "GET";
  Received received{{}, options_.max_answer};
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &received);
  curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, is_get ? nullptr : request.method.c_str());
  if (!is_get) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.json.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.json.c_str());
    // On a reused connection that died curl would send the request a second time by itself.
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  } else {
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 0L);
  }
  handle_->problem[0] = '\0';
  const CURLcode code = curl_easy_perform(easy);
  if (code == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return ClientAnswer{static_cast<int>(status), std::move(received.body)};
  }
  const std::string reason =
      handle_->problem[0] != '\0' ? handle_->problem : curl_easy_strerror(code);
  if (never_connected(code)) return fail(Failure::unavailable, reason);
  if (code == CURLE_WRITE_ERROR)
    return fail(Failure::internal,
                fmt::format("the answer is larger than {} bytes", options_.max_answer));
  return fail(is_get ? Failure::unavailable : Failure::unknown_outcome, reason);
}

}  // namespace coderunner
