#include "base/time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace coderunner {
namespace {

std::string format_utc(UtcTime at, char separator, std::string_view suffix) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{at - day};
  return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}.{:03}{}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     separator, time.hours().count(), time.minutes().count(),
                     time.seconds().count(), time.subseconds().count(), suffix);
}

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

struct Parsed {
  UtcTime at;
  std::size_t length;  // of the date, time and fraction
};

std::optional<UtcTime> assemble(int year, int month, int day, int hour, int minute, int second) {
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second};
}

// "YYYY-MM-DD?HH:MM:SS[.f{1,6}]" with `separator` for the question mark.
std::optional<Parsed> parse_date_time(std::string_view text, char separator) {
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2),
             hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || text[10] != separator || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  const auto whole = assemble(*year, *month, *day, *hour, *minute, *second);
  if (!whole) return std::nullopt;

  std::size_t at = 19;
  Millis fraction{0};
  if (at < text.size() && text[at] == '.') {
    int scale = 100;
    std::size_t count = 0;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9' && count < 6; ++at, ++count) {
      fraction += Millis{(text[at] - '0') * scale};
      scale /= 10;
    }
    if (count == 0) return std::nullopt;
  }
  return Parsed{*whole + fraction, at};
}

std::optional<Millis> parse_offset(std::string_view text) {
  if (text == "Z" || text == "z") return Millis{0};
  const auto hours = digits(text, 1, 2), minutes = digits(text, 4, 2);
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':' || !hours ||
      !minutes)
    return std::nullopt;
  const Millis size = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
  return text[0] == '-' ? -size : size;
}

struct Unit {
  std::string_view name;
  Millis size;
};
constexpr std::array<Unit, 5> kUnits{{{"d", std::chrono::hours{24}},
                                      {"h", std::chrono::hours{1}},
                                      {"m", std::chrono::minutes{1}},
                                      {"s", std::chrono::seconds{1}},
                                      {"ms", Millis{1}}}};

}  // namespace

std::string to_rfc3339(UtcTime at) { return format_utc(at, 'T', "Z"); }

std::string to_sql(UtcTime at) { return format_utc(at, ' ', ""); }

Result<UtcTime> from_sql(std::string_view text) {
  const auto parsed = parse_date_time(text, ' ');
  if (!parsed || parsed->length != text.size())
    return fail(Failure::corrupt, fmt::format("not a stored time: '{}'", text.substr(0, 40)));
  return parsed->at;
}

Result<UtcTime> from_rfc3339(std::string_view text) {
  const auto parsed = parse_date_time(text, 'T');
  const auto offset = parsed ? parse_offset(text.substr(parsed->length)) : std::nullopt;
  if (!offset)
    return fail(Failure::invalid_input,
                fmt::format("'{}' is not an RFC 3339 time such as 2026-08-24T12:08:00.000Z",
                            text.substr(0, 40)));
  return parsed->at - *offset;
}

Result<Millis> parse_duration(std::string_view text) {
  const auto bad = [&] {
    return fail(Failure::invalid_input,
                fmt::format("'{}' is not a duration: write a whole number and ms, s, m, h or d",
                            text.substr(0, 40)));
  };
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count < 0) return bad();
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    if (count > std::numeric_limits<std::int64_t>::max() / unit.size.count()) return bad();
    return count * unit.size;
  }
  return bad();
}

std::string format_duration(Millis duration) {
  for (const Unit& unit : kUnits)
    if (duration.count() != 0 && duration % unit.size == Millis{0})
      return fmt::format("{}{}", duration / unit.size, unit.name);
  return fmt::format("{}ms", duration.count());
}

}  // namespace coderunner
