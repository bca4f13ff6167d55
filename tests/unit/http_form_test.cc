#include <gtest/gtest.h>

#include "adapters/http_server/http.h"

namespace coderunner {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

TEST(Form, IsDecodedInOrderWithPlusAsSpace) {
  EXPECT_EQ(parse_form("jobId=7&asyncNonce=a%2Bb&name=two+words"),
            (Fields{{"jobId", "7"}, {"asyncNonce", "a+b"}, {"name", "two words"}}));
}

TEST(Form, KeepsRepeatedAndValuelessFields) {
  EXPECT_EQ(parse_form("a=1&a=2&b&c=&&d=x=y"),
            (Fields{{"a", "1"}, {"a", "2"}, {"b", ""}, {"c", ""}, {"d", "x=y"}}));
  EXPECT_EQ(parse_form(""), Fields{});
}

TEST(Form, RefusesAMalformedEscape) {
  for (const char* text : {"a=%", "a=%4", "a=%zz", "%=1", "a=1&b=%G0"})
    EXPECT_EQ(parse_form(text), std::nullopt) << text;
}

TEST(Form, CarriesEveryByteThroughPercentEncoding) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  EXPECT_EQ(parse_form("x=" + percent_encode(every)), (Fields{{"x", every}}));
  EXPECT_EQ(percent_encode("a-Z_0.~ /"), "a-Z_0.~%20%2F");
}

}  // namespace
}  // namespace coderunner
