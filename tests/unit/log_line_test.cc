#include "adapters/log/log_line.h"

#include <gtest/gtest.h>

#include "adapters/log/escape.h"
#include "domain/limits.h"

namespace coderunner {
namespace {

const LogStamp kStamp{utc_from_epoch_ms(1'787'573'280'123), "serve"};

std::string logfmt(std::string_view value) {
  return log_line({Level::info, "told", {}, {{"what", std::string{value}}}}, kStamp,
                  LogFormat::logfmt);
}
std::string json(std::string_view value) {
  return log_line({Level::info, "told", {}, {{"what", std::string{value}}}}, kStamp,
                  LogFormat::json);
}

TEST(LogLine, HoldsTimeLevelEventRoleExecutionAndFields) {
  const Event event{Level::warn, "dispatch_failed", ExecutionId{7}, {{"error", "refused"}}};
  EXPECT_EQ(log_line(event, kStamp, LogFormat::logfmt),
            "time=2026-08-24T12:08:00.123Z level=warn event=dispatch_failed role=serve execution=7 "
            "error=refused");
  EXPECT_EQ(log_line(event, kStamp, LogFormat::json),
            R"({"time":"2026-08-24T12:08:00.123Z","level":"warn","event":"dispatch_failed",)"
            R"("role":"serve","execution":7,"error":"refused"})");
}

TEST(LogLine, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(log_line({Level::debug, "tick", {}, {}}, {kStamp.at, ""}, LogFormat::logfmt),
            "time=2026-08-24T12:08:00.123Z level=debug event=tick");
}

TEST(LogLine, QuotesWhateverAReaderCouldSplit) {
  EXPECT_TRUE(logfmt("plain-1.5/x:y").ends_with(" what=plain-1.5/x:y"));
  EXPECT_TRUE(logfmt("").ends_with(" what=\"\""));
  EXPECT_TRUE(logfmt("two words").ends_with(" what=\"two words\""));
  EXPECT_TRUE(logfmt("a=b").ends_with(" what=\"a=b\""));
  EXPECT_TRUE(logfmt("Grüße").ends_with(" what=\"Grüße\""));
}

TEST(LogLine, StaysOneLineAndOneFieldWhateverAFieldHolds) {
  const std::string attack = "x\" level=error event=\"forged\r\nlevel=error\x1b[2J\\";
  const std::string expected = R"(x\" level=error event=\"forged\r\nlevel=error\u001b[2J\\)";
  EXPECT_TRUE(logfmt(attack).ends_with(" what=\"" + expected + "\"")) << logfmt(attack);
  EXPECT_TRUE(json(attack).ends_with(",\"what\":\"" + expected + "\"}")) << json(attack);
  for (int byte = 0; byte < 256; ++byte)
    for (const std::string& line : {logfmt(std::string(1, static_cast<char>(byte))),
                                    json(std::string(1, static_cast<char>(byte)))})
      for (const char c : line) {
        EXPECT_GE(static_cast<unsigned char>(c), 0x20) << byte;
        EXPECT_NE(c, '\x7f') << byte;
      }
}

TEST(LogLine, CutsALongFieldWithAMarkAndRepairsUtf8) {
  const std::string line = logfmt(std::string(limits::kMaxLogFieldBytes + 1, 'a'));
  EXPECT_TRUE(line.ends_with("aa..."));
  EXPECT_LT(line.size(), limits::kMaxLogFieldBytes + 200);
  EXPECT_TRUE(json("a\xff").ends_with(R"("what":"a)"
                                      "\xEF\xBF\xBD"
                                      R"("})"));
}

TEST(LogLine, NeverLetsAFieldsNameBreakOut) {
  const Event event{Level::info, "told", {}, {{"a b=\"", "1"}}};
  EXPECT_TRUE(log_line(event, kStamp, LogFormat::logfmt).ends_with(" a_b__=1"));
}

TEST(EscapeControls, LeavesOrdinaryTextAloneAndSpeaksOutTheRest) {
  EXPECT_EQ(escape_controls("Grüße, \"C:\\x\" 你好 €"), "Grüße, \"C:\\x\" 你好 €");
  EXPECT_EQ(escape_controls("a\tb\nc"), "a\\tb\\nc");
  EXPECT_EQ(escape_controls("\xC2\x9B"
                            "31m"),
            "\\u009b31m");  // CSI in one character
  EXPECT_EQ(escape_controls("a\u2028b\u202Ec\u2066"), "a\\u2028b\\u202ec\\u2066");
  EXPECT_EQ(escape_controls("\xC2\xA0"), "\xC2\xA0");  // a space, not a control
  EXPECT_EQ(escape_controls(std::string_view{"\0", 1}), "\\u0000");
}

}  // namespace
}  // namespace coderunner
