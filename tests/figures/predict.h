// One call from a shipped cluster (or a file) to a predicted time: what `weft bench` does for one
// size.
#pragma once

#include <string>

#include "collective/tuner.h"
#include "data/embedded.h"
#include "scenario/session.h"

namespace weft::figures {

struct Question {
  std::string source;
  work::CollectiveKind kind = work::CollectiveKind::all_reduce;
  Bytes size;
  std::string algorithm = {}, protocol = {};
  std::string engine = "flow";
  std::optional<std::int64_t> nodes = {};
  std::optional<std::uint32_t> gpus = {};
  std::optional<work::MoeShape> moe = {};
};

struct Answer {
  double time_us = 0;
  double busbw = 0;  // GB/s
  std::string algorithm, protocol;
  result::Result result;
};

inline scenario::Library shipped_library() {
  std::vector<scenario::ShippedFile> files;
  for (const data::EmbeddedFile& file : data::embedded_files()) {
    files.push_back({std::string(file.path), std::string(file.text)});
  }
  return scenario::Library(std::move(files));
}

inline Answer ask(const Question& question) {
  const scenario::Library library = shipped_library();
  scenario::OpenOptions open;
  open.nodes = question.nodes;
  const scenario::Session session(library, scenario::open_cluster(library, question.source, open),
                                  {});
  work::Work work = scenario::work_on_all_gpus(session.fabric(), question.gpus);
  work::CollectiveOp op;
  op.kind = question.kind;
  op.group = work::GroupId(0);
  op.size = question.size;
  op.algorithm = question.algorithm;
  op.protocol = question.protocol;
  op.moe = question.moe;
  work.ops = {work::Op{op, Instant(), {}, ""}};
  const int ranks = static_cast<int>(work.rank_gpu.size());
  Answer answer;
  answer.result =
      scenario::find_engine({question.engine, {}}).run(session.setup(std::move(work)), nullptr);
  answer.time_us = answer.result.completion.to_microseconds();
  answer.busbw =
      question.size.to_double() / answer.time_us / 1e3 * work::busbw_factor(question.kind, ranks);
  answer.algorithm = answer.result.ops[0].algorithm;
  answer.protocol = answer.result.ops[0].protocol;
  return answer;
}

}  // namespace weft::figures
