#include "base/http_date.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>

namespace coderunner {
namespace {

using std::chrono::year_month_day;

std::optional<UtcTime> assemble(const tm& fields, int year) {
  const year_month_day date{std::chrono::year{year},
                            std::chrono::month{static_cast<unsigned>(fields.tm_mon + 1)},
                            std::chrono::day{static_cast<unsigned>(fields.tm_mday)}};
  if (!date.ok()) return std::nullopt;
  const int second = std::min(fields.tm_sec, 59);  // a leap second
  return std::chrono::sys_days{date} + std::chrono::hours{fields.tm_hour} +
         std::chrono::minutes{fields.tm_min} + std::chrono::seconds{second};
}

int whole_year(int two_digits, UtcTime now) {
  constexpr int kYearsAhead = 50;
  const int this_year =
      static_cast<int>(year_month_day{std::chrono::floor<std::chrono::days>(now)}.year());
  const int year = this_year - this_year % 100 + two_digits;
  return year > this_year + kYearsAhead ? year - 100 : year;
}

}  // namespace

Result<UtcTime> from_http_date(std::string_view text, UtcTime now) {
  constexpr const char* kTwoDigitYear = "%A, %d-%b-%y %H:%M:%S GMT";
  constexpr std::array<const char*, 3> kForms{"%a, %d %b %Y %H:%M:%S GMT", kTwoDigitYear,
                                              "%a %b %d %H:%M:%S %Y"};
  const std::string bounded{text};
  for (const char* form : kForms) {
    tm fields{};
    const char* end = ::strptime(bounded.c_str(), form, &fields);
    if (end == nullptr || end != bounded.c_str() + bounded.size()) continue;
    const int year = fields.tm_year + 1900;
    const auto at = assemble(fields, form == kTwoDigitYear ? whole_year(year % 100, now) : year);
    if (at) return *at;
  }
  return fail(Failure::invalid_input, "not an HTTP-date");
}

}  // namespace coderunner
