#include "base/progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

TEST(Progress, ShowsPartAndTimeLeft) {
  // 1 of 4 in 10 s: three quarters are left, at that speed 30 s. A quarter of 20 columns is 5.
  EXPECT_EQ(progress_text("run", 1, 4, Duration::seconds(10)),
            "run   25 %  [#####---------------]  30 s left");
  EXPECT_EQ(progress_text("run", 4, 4, Duration::seconds(10), "bye"),
            "run  100 %  [####################]  bye");
  EXPECT_EQ(progress_text("run", 0, 4, Duration::seconds(10)),
            "run    0 %  [--------------------]");
  EXPECT_EQ(progress_text("read", 7, 0, Duration::seconds(2)), "read  7 done  2 s");
}

TEST(Progress, RedrawsSeldomAndLeavesACleanLine) {
  std::vector<std::string> written;
  Duration now;
  {
    ProgressLine line(
        "run", 100,
        {[&](std::string_view text) { written.emplace_back(text); }, [&] { return now; }});
    for (int ms = 0; ms < 1000; ++ms) {
      now = Duration::milliseconds(ms);
      line.update(static_cast<std::uint64_t>(ms / 10));
    }
    line.finish();
    line.update(100);  // too late: says nothing
  }
  // Draws at 0, 100, ... 900 ms, then one wipe although finish() came twice.
  ASSERT_EQ(written.size(), 11u);
  EXPECT_EQ(written.back(), "\r\x1b[K");
}

TEST(Progress, NothingDrawnNothingWiped) {
  int calls = 0;
  ProgressLine("run", 1, {[&](std::string_view) { ++calls; }, [] { return Duration(); }}).finish();
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace weft
