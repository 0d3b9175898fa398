#include "report/compare_report.h"

#include <gtest/gtest.h>

namespace weft::report {
namespace {

ComparedRun took(const char* name, std::int64_t us) {
  ComparedRun run;
  run.name = name;
  run.completion = Duration::microseconds(us);
  return run;
}

TEST(Compare, TheSentenceNamesTheFastestFirst) {
  const std::vector<ComparedRun> runs = {took("tcp", 420), took("rocev2", 100), took("ib", 131)};
  EXPECT_EQ(comparison_sentence(runs),
            "rocev2 is 1.31 times as fast as ib and 4.20 times as fast as tcp");
  EXPECT_EQ(comparison_sentence(std::vector{took("a", 1000), took("b", 1001)}),
            "a is as fast as b");  // 1.001: less than what two decimals show
  EXPECT_EQ(comparison_sentence(std::vector{took("a", 5)}), "");
}

TEST(Compare, TheTableKeepsTheOrderAndShowsPacketsOnlyWhereThereAreAny) {
  std::vector<ComparedRun> runs = {took("tcp", 200), took("rocev2", 100)};
  std::string text = compare_text(runs);
  EXPECT_LT(text.find("\ntcp"), text.find("\nrocev2"));
  EXPECT_NE(text.find("200 us     2.00"), std::string::npos) << text;
  EXPECT_EQ(text.find("pauses"), std::string::npos);
  runs[1].packets.sent = 10;
  EXPECT_NE(compare_text(runs).find("pauses"), std::string::npos);
}

TEST(Compare, JsonNamesTheFastest) {
  const std::vector<ComparedRun> runs = {took("tcp", 200), took("rocev2", 100)};
  const std::string json = compare_json(runs);
  EXPECT_NE(json.find("\"fastest\": \"rocev2\""), std::string::npos);
  EXPECT_NE(json.find("\"completion_us\": 200"), std::string::npos);
}

}  // namespace
}  // namespace weft::report
