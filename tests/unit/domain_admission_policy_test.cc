#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "domain/admission_policy.h"
#include "domain/limits.h"

namespace coderunner {
namespace {

SubmissionFields good() {
  return {
      .account = "acme", .apikey = "k3y", .source = "return 1", .identifier = {}, .payload = {}};
}

std::string blamed(SubmissionFields fields) {
  const auto checked = check_submission(std::move(fields));
  const auto* error = std::get_if<FieldError>(&checked);
  return error == nullptr ? "" : error->field;
}

TEST(Submission, IsAdmittedWithTheAccountInLowerCase) {
  SubmissionFields fields = good();
  fields.account = "ACME-2";
  const auto checked = check_submission(fields);
  EXPECT_EQ(std::get<Submission>(checked).account, "acme-2");
}

TEST(Submission, NamesTheFirstMissingOrEmptyField) {
  for (auto [field, member] : {std::pair{"account", &SubmissionFields::account},
                               std::pair{"apikey", &SubmissionFields::apikey},
                               std::pair{"source", &SubmissionFields::source}}) {
    SubmissionFields missing = good(), empty = good();
    (missing.*member).reset();
    empty.*member = "";
    EXPECT_EQ(blamed(missing), field);
    EXPECT_EQ(blamed(empty), field);
  }
}

TEST(Submission, RefusesAccountsThatCouldLeaveTheirHostName) {
  for (const char* account :
       {"x.evil/", "a.b", "-a", "a-", "a b", "a@b", "a\n", "\xC3\xA9", "a_b", "..", "a/b"})
    EXPECT_FALSE(normal_account(account).has_value()) << account;
  EXPECT_FALSE(normal_account(std::string(64, 'a')).has_value());
  EXPECT_TRUE(normal_account(std::string(63, 'a')).has_value());
  EXPECT_TRUE(normal_account("a").has_value());
}

TEST(Submission, RefusesKeysThatCouldEndAHeaderLine) {
  for (const std::string key : {"a b", "a\r\nX: y", "caf\xC3\xA9", "tab\t"}) {
    SubmissionFields fields = good();
    fields.apikey = key;
    EXPECT_EQ(blamed(fields), "apikey") << key;
  }
}

TEST(Submission, RefusesInvalidUtf8AndNul) {
  SubmissionFields source = good(), nul = good(), identifier = good(), payload = good();
  source.source = "return '\xFF'";
  nul.source = std::string{"a\0b", 3};
  identifier.identifier = "\xC0";
  payload.payload = "\"\xE2\x82\"";
  EXPECT_EQ(blamed(source), "source");
  EXPECT_EQ(blamed(nul), "source");
  EXPECT_EQ(blamed(identifier), "identifier");
  EXPECT_EQ(blamed(payload), "payload");
}

TEST(Submission, CountsIdentifiersInCharactersAndPayloadsInBytes) {
  SubmissionFields fits = good(), long_name = good(), big = good();
  fits.identifier.emplace();
  for (int i = 0; i < 255; ++i) *fits.identifier += "\xC3\xA9";
  fits.payload = std::string(limits::kMaxPayloadBytes, '1');
  long_name.identifier = *fits.identifier + "x";
  big.payload = *fits.payload + "1";
  EXPECT_EQ(blamed(fits), "");
  EXPECT_EQ(blamed(long_name), "identifier");
  EXPECT_EQ(blamed(big), "payload");
}

TEST(Submission, AnIdempotencyKeyIsPrintableAsciiOf1To255) {
  for (const auto& key : {std::string{"k"}, std::string{"a b~"}, std::string(255, 'k')}) {
    SubmissionFields fields = good();
    fields.idempotency_key = key;
    EXPECT_EQ(blamed(fields), "") << key;
    const auto checked = check_submission(fields);
    EXPECT_EQ(std::get<Submission>(checked).idempotency_key, key);
  }
  for (const auto& key : {std::string{}, std::string(256, 'k'), std::string{"a\tb"},
                          std::string{"Gr\xC3\xBC"}, std::string{"a\x7f"}}) {
    SubmissionFields fields = good();
    fields.idempotency_key = key;
    EXPECT_EQ(blamed(fields), "Idempotency-Key") << key;
  }
}

TEST(Submission, RequestsDifferInTheirTextWhereverTheyDifferAtAll) {
  const Submission base{
      .account = "acme", .apikey = "k", .source = "s", .identifier = {}, .payload = {}};
  std::vector<Submission> others(8, base);
  others[0].account = "acm";
  others[1].apikey = "j";
  others[2].source = "s1";
  others[3].identifier = "";
  others[4].payload = "{}";
  others[5].debug = true;
  others[6].identifier = "s";
  others[7].source = "s;1:s";  // looks like the one before
  std::set<std::string> texts{request_text(base)};
  for (const Submission& other : others) texts.insert(request_text(other));
  EXPECT_EQ(texts.size(), 9U);
  Submission same = base;
  same.idempotency_key = "another header, the same request";
  EXPECT_EQ(request_text(same), request_text(base));
}

}  // namespace
}  // namespace coderunner
