#include "app/setting_rules.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace coderunner::app {
namespace {

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};

std::optional<int> parse_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 0 || port > 65535)
    return std::nullopt;
  return port;
}

std::optional<HostPort> split_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return std::nullopt;
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || (host.find(':') != std::string_view::npos) != bracketed) return std::nullopt;
  return HostPort{std::string{host}, *port};
}

bool is_address(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  return host == "localhost" || inet_pton(AF_INET, host.c_str(), &four) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kMaxUnixPathBytes = 107;  // sockaddr_un

std::optional<std::string> listen_problem(std::string_view listen) {
  if (listen.starts_with(kUnix)) {
    const std::string_view path = listen.substr(kUnix.size());
    if (path.empty()) return "names no path after unix:";
    if (path.size() > kMaxUnixPathBytes)
      return fmt::format("has a path of more than {} bytes", kMaxUnixPathBytes);
    return std::nullopt;
  }
  const auto parts = split_host_port(listen);
  if (!parts || !is_address(parts->host))
    return "is not an address: write \"127.0.0.1:8080\", \"[::1]:8080\" or \"unix:PATH\"";
  return std::nullopt;
}

bool is_url_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"-._~%:/[]"}.find(c) != std::string_view::npos;
}

bool has_dot_segment(std::string_view path) {
  for (std::size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
    const std::string_view rest = path.substr(at + 1);
    const std::string_view segment = rest.substr(0, rest.find('/'));
    if (segment == "." || segment == "..") return true;
  }
  return false;
}

std::optional<std::string> authority_problem(std::string_view authority) {
  const bool bracketed = authority.starts_with('[');
  const std::size_t host_end = bracketed ? authority.find(']') : authority.find(':');
  const std::string host{authority.substr(0, host_end).substr(bracketed ? 1 : 0)};
  in6_addr six{};
  if (bracketed &&
      (host_end == std::string_view::npos || inet_pton(AF_INET6, host.c_str(), &six) != 1))
    return "has a malformed address in brackets";
  if (host.empty()) return "names no host";
  if (!bracketed && host.find_first_of("[]%") != std::string::npos) return "has a malformed host";
  if (host_end == std::string_view::npos) return std::nullopt;
  const std::string_view port = authority.substr(bracketed ? host_end + 1 : host_end);
  if (!port.empty() && (port.front() != ':' || !parse_port(port.substr(1))))
    return "has a malformed port";
  return std::nullopt;
}

// A plain http(s) address: no user, query, fragment, or anything a URL parser might read otherwise.
std::optional<std::string> url_problem(std::string_view url) {
  const bool secure = url.starts_with("https://");
  if (!secure && !url.starts_with("http://")) return "must begin with http:// or https://";
  const std::string_view rest = url.substr(secure ? 8 : 7);
  if (rest.find('@') != std::string_view::npos) return "must not name a user";
  for (const char c : rest)
    if (!is_url_character(c))
      return fmt::format("must not hold the byte 0x{:02x}", static_cast<unsigned char>(c));
  if (const auto problem = authority_problem(rest.substr(0, rest.find('/')))) return problem;
  if (has_dot_segment(rest)) return "must not hold . or .. as a part of its path";
  return std::nullopt;
}

// {account} becomes a host label or a path segment: the rest is judged with one in its place.
std::optional<std::string> base_url_problem(std::string_view url) {
  constexpr std::string_view kAccount = "{account}";
  std::string example;
  for (std::size_t at = 0; at < url.size();) {
    const bool placeholder = url.substr(at).starts_with(kAccount);
    example += placeholder ? 'a' : url[at];
    at += placeholder ? kAccount.size() : 1;
  }
  if (example.find('{') != std::string::npos || example.find('}') != std::string::npos)
    return "may hold {account}, and no other { or }";
  return url_problem(example);
}

void check_store(const Settings& settings, std::vector<BrokenRule>& broken) {
  constexpr std::string_view kSqlite = "sqlite:";
  const std::string_view url = settings.store.url;
  if (url.starts_with("mysql:"))
    broken.push_back(
        {"store.url", "MariaDB is not available in this build yet: use \"sqlite:PATH\""});
  else if (!url.starts_with(kSqlite) || url.size() == kSqlite.size())
    broken.push_back(
        {"store.url", fmt::format("\"{}\" is not a store: write \"sqlite:PATH\"", url)});
  else if (url.substr(kSqlite.size()) == ":memory:")
    broken.push_back({"store.url", "a store in memory would lose the queue: name a file"});
  if (settings.gate.backend == GateBackend::memcached)
    broken.push_back(
        {"gate.backend", "memcached is not available in this build yet: use \"store\""});
}

void check_executor(const Settings& settings, std::vector<BrokenRule>& broken) {
  const ExecutorSettings& executor = settings.executor;
  if (executor.mode == ExecutorMode::http && executor.url.empty())
    broken.push_back({"executor.url", "is needed where executor.mode is \"http\""});
  if (!executor.url.empty())
    if (const auto problem = url_problem(executor.url))
      broken.push_back({"executor.url", fmt::format("\"{}\" {}", executor.url, *problem)});
  if (!executor.listen.empty())
    if (const auto problem = listen_problem(executor.listen))
      broken.push_back({"executor.listen", fmt::format("\"{}\" {}", executor.listen, *problem)});
  if (const auto problem = base_url_problem(settings.api.base_url))
    broken.push_back({"api.base_url", fmt::format("\"{}\" {}", settings.api.base_url, *problem)});
}

void check_http(const Settings& settings, std::vector<BrokenRule>& broken) {
  const std::string& listen = settings.http.listen;
  if (const auto problem = listen_problem(listen))
    broken.push_back({"http.listen", fmt::format("\"{}\" {}", listen, *problem)});
  else if (!is_loopback_address(listen))
    broken.push_back(
        {"http.listen", fmt::format("\"{}\" can be reached from other machines, and without tokens "
                                    "every caller is an operator: listen on 127.0.0.1, [::1] or "
                                    "unix:PATH",
                                    listen)});
  const std::string& url = settings.client.url;
  if (url.starts_with(kUnix)) {
    if (const auto problem = listen_problem(url))
      broken.push_back({"client.url", fmt::format("\"{}\" {}", url, *problem)});
  } else if (!url.empty()) {
    if (const auto problem = url_problem(url))
      broken.push_back({"client.url", fmt::format("\"{}\" {}", url, *problem)});
  }
}

}  // namespace

bool is_loopback_address(std::string_view listen) {
  if (listen.starts_with(kUnix)) return true;
  const auto parts = split_host_port(listen);
  if (!parts) return false;
  in_addr four{};
  if (inet_pton(AF_INET, parts->host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24U == 127;
  in6_addr six{};
  if (inet_pton(AF_INET6, parts->host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return parts->host == "localhost";
}

std::vector<BrokenRule> broken_rules(const Settings& settings) {
  std::vector<BrokenRule> broken;
  check_store(settings, broken);
  check_executor(settings, broken);
  const Millis doubtful = limits::doubtful_after(settings.executor.wall, settings.reaper.margin);
  if (settings.reaper.running_after < doubtful)
    broken.push_back(
        {"reaper.running_after",
         fmt::format("{} would reap runs that may still live: executor.wall x 4/3 + reaper.margin "
                     "is {}",
                     format_duration(settings.reaper.running_after), format_duration(doubtful))});
  check_http(settings, broken);
  for (const auto& [key, path] : {std::pair<std::string_view, std::string_view>{
                                      "secrets.salt_file", settings.secrets.salt_file},
                                  {"secrets.key_file", settings.secrets.key_file}})
    if (path.empty()) broken.push_back({key, "names no file"});
  return broken;
}

}  // namespace coderunner::app
