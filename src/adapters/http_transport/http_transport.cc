#include "adapters/http_transport/http_transport.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace coderunner {
namespace {

struct EasyCleanup {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyCleanup>;

struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using Multi = std::unique_ptr<CURLM, MultiCleanup>;

struct ListFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListFree>;

class CurlLibrary {
 public:
  CurlLibrary() {
    ensure(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK, "libcurl does not start");
  }
  CurlLibrary(const CurlLibrary&) = delete;
  CurlLibrary& operator=(const CurlLibrary&) = delete;
  ~CurlLibrary() { curl_global_cleanup(); }
};

// The steps libcurl takes to connect and send when the other end answers at once; one per call.
constexpr int kStartSteps = 3;

struct Call {
  ExecutionId execution;
  Easy easy;
  bool header_complete = false;
  std::size_t answer_bytes = 0;
  std::string answer_start;  // kept for the error text only
  char error[CURL_ERROR_SIZE] = "";
};

// libcurl calls this per line of the header. It takes a header that breaks off for a whole one, so
// the empty line is looked for here; a 100 has one of its own, then the real status follows.
std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* call_pointer) {
  const std::string_view line{bytes, size * count};
  auto& call = *static_cast<Call*>(call_pointer);
  if (line.starts_with("HTTP/")) call.header_complete = false;
  if (line == "\r\n" || line == "\n") call.header_complete = true;
  return line.size();
}

// Returning less than it was given ends the call.
std::size_t take_answer(char* bytes, std::size_t size, std::size_t count, void* call_pointer) {
  auto& call = *static_cast<Call*>(call_pointer);
  const std::size_t length = size * count;
  call.answer_bytes += length;
  if (call.answer_bytes > limits::kMaxDispatchAnswerBytes) return 0;
  const std::size_t room = limits::kMaxDispatchErrorBytes - call.answer_start.size();
  call.answer_start.append(bytes, std::min(length, room));
  return length;
}

std::string form_of(const Dispatch& dispatch) {
  // Both are digits and hex: nothing to escape.
  return fmt::format("jobId={}&asyncNonce={}", dispatch.job.value, dispatch.nonce.value);
}

std::string error_text(const Call& call, CURLcode code, long status) {
  std::string text;
  if (code != CURLE_OK)
    text = call.error[0] != '\0' ? std::string{call.error} : std::string{curl_easy_strerror(code)};
  else if (!call.header_complete)
    text = "the answer broke off in its header";
  else if (status < 200 || status > 299)
    text = fmt::format("HTTP {}: {}", status, call.answer_start);
  return clamp_utf8(replace_invalid_utf8(text), limits::kMaxDispatchErrorBytes);
}

// Facts about the call, read before its handle goes.
DispatchAnswer answer_of(const Call& call, CURLcode code) {
  long status = 0, sent_bytes = 0;
  curl_easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(call.easy.get(), CURLINFO_REQUEST_SIZE, &sent_bytes);
  DispatchAnswer answer;
  answer.execution = call.execution;
  // A status whose body was cut, or took too long, says nothing about the run.
  if (code == CURLE_OK && call.header_complete) answer.http_status = static_cast<int>(status);
  answer.never_sent = code != CURLE_OK && sent_bytes == 0;
  answer.error = error_text(call, code, status);
  return answer;
}

}  // namespace

class HttpTransport::Calls {
 public:
  explicit Calls(HttpTransportOptions options) : options_(std::move(options)) {
    ensure(options_.timeout > Millis{0}, "a dispatch has a time limit");
    ensure(multi_ != nullptr && headers_ != nullptr, "libcurl does not start");
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() {
    for (const auto& entry : running_) curl_multi_remove_handle(multi_.get(), entry.first);
  }

  void start(const Dispatch& dispatch) {
    auto call = std::make_unique<Call>();
    call->execution = dispatch.execution;
    call->easy.reset(curl_easy_init());
    CURL* easy = call->easy.get();
    if (easy == nullptr || !prepare(*call, dispatch) ||
        curl_multi_add_handle(multi_.get(), easy) != CURLM_OK) {
      ended_.push_back({dispatch.execution, std::nullopt, true, "libcurl is out of memory"});
      return;
    }
    running_.emplace(easy, std::move(call));
    for (int step = 0; step < kStartSteps; ++step) advance();
  }

  std::vector<DispatchAnswer> poll() {
    advance();
    return std::exchange(ended_, {});
  }

  void wait(Millis at_most) {
    if (!ended_.empty()) return;
    const auto milliseconds = std::clamp<Millis::rep>(at_most.count(), 0, 3'600'000);
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(milliseconds), nullptr);
  }

  void wake() { curl_multi_wakeup(multi_.get()); }

  void cancel_all() {
    advance();
    for (const auto& [easy, call] : running_) {
      curl_multi_remove_handle(multi_.get(), easy);
      DispatchAnswer answer = answer_of(*call, CURLE_ABORTED_BY_CALLBACK);
      answer.error = "given up";
      ended_.push_back(std::move(answer));
    }
    running_.clear();
  }

 private:
  bool prepare(Call& call, const Dispatch& dispatch) {
    CURL* easy = call.easy.get();
    const std::string form = form_of(dispatch);
    bool fine = true;
    const auto set = [&](CURLoption option, auto value) {
      fine = fine && curl_easy_setopt(easy, option, value) == CURLE_OK;
    };
    set(CURLOPT_URL, options_.url.c_str());
    if (!options_.unix_socket.empty()) set(CURLOPT_UNIX_SOCKET_PATH, options_.unix_socket.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_COPYPOSTFIELDS, form.c_str());
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NOPROXY, "*");  // also what the environment says
    // A reused connection makes libcurl re-send by itself when the server closes it under the
    // request: the nonce makes that harmless, but the answer would be the second one's.
    set(CURLOPT_FRESH_CONNECT, 1L);
    set(CURLOPT_FORBID_REUSE, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    set(CURLOPT_HEADERFUNCTION, &take_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&call));
    set(CURLOPT_WRITEFUNCTION, &take_answer);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&call));
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(call.error));
    return fine;
  }

  void advance() {
    int still_running = 0;
    curl_multi_perform(multi_.get(), &still_running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* easy = message->easy_handle;
      const CURLcode code = message->data.result;  // the message goes with the handle
      const auto found = running_.find(easy);
      ensure(found != running_.end(), "libcurl ended a call that was not running");
      ended_.push_back(answer_of(*found->second, code));
      curl_multi_remove_handle(multi_.get(), easy);
      running_.erase(found);
    }
  }

  const HttpTransportOptions options_;
  const CurlLibrary library_;  // before every handle
  const Multi multi_{curl_multi_init()};
  // Our body is tiny: asking first would cost a round trip, or a second of waiting.
  const HeaderList headers_{curl_slist_append(nullptr, "Expect:")};
  std::unordered_map<CURL*, std::unique_ptr<Call>> running_;
  std::vector<DispatchAnswer> ended_;
};

HttpTransport::HttpTransport(HttpTransportOptions options)
    : calls_(std::make_unique<Calls>(std::move(options))) {}
HttpTransport::~HttpTransport() = default;

void HttpTransport::start(const Dispatch& dispatch) { calls_->start(dispatch); }
std::vector<DispatchAnswer> HttpTransport::poll() { return calls_->poll(); }
void HttpTransport::wait(Millis at_most) { calls_->wait(at_most); }
void HttpTransport::wake() { calls_->wake(); }
void HttpTransport::cancel_all() { calls_->cancel_all(); }

}  // namespace coderunner
