#include "executor/curl_api_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/ensure.h"
#include "domain/admission_policy.h"
#include "domain/limits.h"

namespace coderunner::executor {
namespace {

constexpr std::string_view kAccountPlace = "{account}";
constexpr std::size_t kMaxRetryAfterHeaders = 8;  // more say nothing new

struct EasyCloser {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiCloser {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListCloser {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyCloser>;
using HeaderList = std::unique_ptr<curl_slist, ListCloser>;

std::string lower(std::string_view text) {
  std::string lowered{text};
  for (char& c : lowered)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lowered;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* context) {
  auto& answer = *static_cast<ApiAnswer*>(context);
  if (answer.body.size() + count > limits::kMaxApiAnswerBytes) {
    answer.is_too_large = true;
    return 0;  // ends the transfer
  }
  answer.body.append(bytes, count);
  return count;
}

std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* context) {
  auto& answer = *static_cast<ApiAnswer*>(context);
  const std::string_view line{bytes, count};
  if (line.starts_with("HTTP/")) {  // also after a 100 Continue
    answer.retry_after.clear();
    answer.date.reset();
    answer.remaining.reset();
    return count;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return count;
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "retry-after" && answer.retry_after.size() < kMaxRetryAfterHeaders)
    answer.retry_after.emplace_back(value);
  if (name == "date") answer.date = std::string{value};
  int remaining = 0;
  const char* end = value.data() + value.size();
  if (name == "x-ratelimit-perminute-remaining") {
    const auto read = std::from_chars(value.data(), end, remaining);
    if (read.ec == std::errc{} && read.ptr == end) answer.remaining = remaining;
  }
  return count;
}

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  ensure(curl_easy_setopt(easy, option, value) == CURLE_OK, "curl_easy_setopt");
}

HeaderList headers_for(const ApiRequest& request, const std::string& api_key) {
  curl_slist* list = nullptr;
  const auto add = [&](const std::string& line) { list = curl_slist_append(list, line.c_str()); };
  add("apikey: " + api_key);
  add("Accept: application/json");
  add("Expect:");  // no 100 Continue: it would double the round trips
  if (request.body) add("Content-Type: application/json");
  return HeaderList{list};
}

void set_method(CURL* easy, const ApiRequest& request) {
  if (request.method == "GET") return set(easy, CURLOPT_HTTPGET, 1L);
  const std::string_view body = request.body ? std::string_view{*request.body} : std::string_view{};
  if (request.body || request.method != "DELETE") {
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    set(easy, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  }
  set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  set(easy, CURLOPT_FRESH_CONNECT, 1L);
  set(easy, CURLOPT_FORBID_REUSE, 1L);
}

}  // namespace

struct CurlApiClient::Handles {
  std::unique_ptr<CURLM, MultiCloser> multi{curl_multi_init()};
};

void prepare_curl() {
  ensure(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK, "curl_global_init");
}

Result<std::string> base_address(const std::string& base_url, const std::string& account) {
  if (normal_account(account) != account)
    return fail(Failure::invalid_input, "the account's name can not be part of a host name");
  std::string address = base_url;
  if (const std::size_t at = address.find(kAccountPlace); at != std::string::npos)
    address.replace(at, kAccountPlace.size(), account);
  if (!address.starts_with("http://") && !address.starts_with("https://"))
    return fail(Failure::invalid_input, "api.base_url must start with http:// or https://");
  while (address.ends_with('/')) address.pop_back();
  return address;
}

CurlApiClient::CurlApiClient(CurlApiOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), handles_(std::make_unique<Handles>()) {}

CurlApiClient::~CurlApiClient() = default;

namespace {

struct Transfer {  // added to the multi handle for exactly this scope
  CURLM* multi;
  CURL* easy;
  Transfer(CURLM* multi_handle, CURL* easy_handle) : multi(multi_handle), easy(easy_handle) {
    ensure(curl_multi_add_handle(multi, easy) == CURLM_OK, "curl_multi_add_handle");
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() { curl_multi_remove_handle(multi, easy); }
};

// Drives the transfer to its end or the run's. nullopt: dropped, answer.ended says why.
std::optional<CURLcode> drive(CURLM* multi, RunWatch& watch, ApiAnswer& answer) {
  constexpr int kLongestPollMs = 1000;
  for (;;) {
    int running = 0;
    curl_multi_perform(multi, &running);
    int left = 0;
    for (CURLMsg* message = curl_multi_info_read(multi, &left); message != nullptr;
         message = curl_multi_info_read(multi, &left))
      if (message->msg == CURLMSG_DONE) return message->data.result;
    if ((answer.ended = watch.look())) return std::nullopt;
    std::vector<curl_waitfd> extra;
    for (const int fd : watch.descriptors()) extra.push_back({fd, CURL_WAIT_POLLIN, 0});
    curl_multi_poll(multi, extra.data(), static_cast<unsigned>(extra.size()), kLongestPollMs,
                    nullptr);
  }
}

}  // namespace

ApiAnswer CurlApiClient::perform(const ApiRequest& request, RunWatch& watch) {
  ApiAnswer answer;
  const auto time_left = std::chrono::ceil<Millis>(request.until - clock_.mono_now());
  if (time_left <= Millis{0}) {
    answer.problem = "no time left";
    answer.never_sent = true;
    return answer;
  }
  const bool key_fits_a_header = std::all_of(options_.api_key.begin(), options_.api_key.end(),
                                             [](char c) { return c >= ' ' && c < 0x7F; });
  if (options_.api_key.empty() || !key_fits_a_header) {
    answer.problem = "the API key can not be sent";
    answer.never_sent = true;
    return answer;
  }
  const Easy easy{curl_easy_init()};
  ensure(easy != nullptr, "curl_easy_init");
  const HeaderList headers = headers_for(request, options_.api_key);
  const std::string url = options_.base_address + request.path;
  set(easy.get(), CURLOPT_URL, url.c_str());
  set(easy.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy.get(), CURLOPT_PROXY, "");  // the environment has no say in where a key is sent
  set(easy.get(), CURLOPT_PATH_AS_IS, 1L);
  set(easy.get(), CURLOPT_NOSIGNAL, 1L);
  set(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  set(easy.get(), CURLOPT_USERAGENT, "CodeRunner");
  set(easy.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(time_left.count()));
  set(easy.get(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(time_left.count()));
  set(easy.get(), CURLOPT_WRITEFUNCTION, take_body);
  set(easy.get(), CURLOPT_WRITEDATA, &answer);
  set(easy.get(), CURLOPT_HEADERFUNCTION, take_header);
  set(easy.get(), CURLOPT_HEADERDATA, &answer);
  set_method(easy.get(), request);

  const Transfer transfer{handles_->multi.get(), easy.get()};
  const auto result = drive(handles_->multi.get(), watch, answer);
  if (!result) return answer;
  if (*result != CURLE_OK && !answer.is_too_large) {
    answer.problem = curl_easy_strerror(*result);
    answer.never_sent = *result == CURLE_COULDNT_CONNECT || *result == CURLE_COULDNT_RESOLVE_HOST;
    answer.body.clear();
    return answer;
  }
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  if (answer.is_too_large) answer.body.clear();
  return answer;
}

}  // namespace coderunner::executor
