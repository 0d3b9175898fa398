#include "import/catalogue_overlay.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "import/part_fields.h"

namespace weft::import {
namespace {

using Entries = std::vector<std::pair<YamlNode, YamlNode>>;

YamlNode* entry(Entries& entries, std::string_view key) {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [key](auto& e) { return e.first.text == key; });
  return at == entries.end() ? nullptr : &at->second;
}

void drop(Entries& entries, std::string_view key) {
  std::erase_if(entries, [key](const auto& e) { return e.first.text == key; });
}

void put(Entries& entries, const YamlNode& key, const YamlNode& value) {
  if (YamlNode* old = entry(entries, key.text)) {
    *old = value;
  } else {
    entries.emplace_back(key, value);
  }
}

bool is_figure(const PartKind& kind, std::string_view key) {
  const PartField* field = kind.field(key);
  return field != nullptr && !field->identity;
}

// Writes out `all` of a record's sources, so that each figure can change hands by itself.
void spell_out_sources(YamlNode& record, const PartKind& kind) {
  YamlNode* sources = entry(record.entries, "sources");
  if (sources == nullptr || sources->kind != YamlNode::Kind::mapping) return;
  const auto all = std::find_if(sources->entries.begin(), sources->entries.end(),
                                [](const auto& e) { return e.first.text == "all"; });
  if (all == sources->entries.end()) return;
  const auto [all_key, all_value] = *all;
  drop(sources->entries, "all");
  for (const auto& [key, value] : record.entries) {
    if (!is_figure(kind, key.text) || entry(sources->entries, key.text) != nullptr) continue;
    if (value.kind == YamlNode::Kind::null) continue;  // taken away
    YamlNode name = all_key;
    name.text = key.text;
    sources->entries.emplace_back(name, all_value);
  }
}

// A mapping inside the record (sources, notes); made when it has none.
Entries& inner(YamlNode& record, const YamlNode& key, const YamlNode& like) {
  if (YamlNode* found = entry(record.entries, key.text)) return found->entries;
  YamlNode empty = like;
  empty.entries.clear();
  record.entries.emplace_back(key, empty);
  return record.entries.back().second.entries;
}

void forget(YamlNode& record, std::string_view figure) {
  for (const char* part : {"sources", "notes"}) {
    if (YamlNode* inside = entry(record.entries, part)) drop(inside->entries, figure);
  }
}

void change(YamlNode& record, YamlNode over, const PartKind& kind) {
  spell_out_sources(record, kind);
  spell_out_sources(over, kind);
  for (const auto& [key, value] : over.entries) {
    if (key.text == kind.name_key || key.text == "sources" || key.text == "notes") continue;
    forget(record, key.text);
    if (value.kind == YamlNode::Kind::null) {
      drop(record.entries, key.text);
    } else {
      put(record.entries, key, value);
    }
  }
  for (const auto& [key, value] : over.entries) {
    if (key.text != "sources" && key.text != "notes") continue;
    if (value.kind != YamlNode::Kind::mapping) {
      put(record.entries, key, value);
      continue;
    }
    Entries& into = inner(record, key, value);
    for (const auto& [k, v] : value.entries) put(into, k, v);
  }
}

bool is_called(const YamlNode& record, const PartKind& kind, std::string_view name) {
  if (record.kind != YamlNode::Kind::mapping) return false;
  const YamlNode* own = record.find(kind.name_key);
  if (own != nullptr && own->text == name) return true;
  const YamlNode* aliases = record.find("aliases");
  return aliases != nullptr && std::any_of(aliases->items.begin(), aliases->items.end(),
                                           [name](const auto& a) { return a.text == name; });
}

// The record of that name in a document before the last.
YamlNode* earlier(std::vector<YamlNode>& documents, const PartKind& kind, std::string_view name) {
  for (std::size_t d = 0; d + 1 < documents.size(); ++d) {
    YamlNode* list = entry(documents[d].entries, kind.section);
    if (list == nullptr) continue;
    for (YamlNode& record : list->items) {
      if (is_called(record, kind, name)) return &record;
    }
  }
  return nullptr;
}

}  // namespace

void lay_over(std::vector<YamlNode>& documents, Diagnostics& diagnostics) {
  CHECK(!documents.empty() && documents.back().kind == YamlNode::Kind::mapping);
  for (const PartKind& kind : part_kinds()) {
    YamlNode* list = entry(documents.back().entries, kind.section);
    if (list == nullptr) continue;
    std::vector<YamlNode> added;
    std::vector<std::string> changed;
    for (YamlNode& over : list->items) {
      const YamlNode* name =
          over.kind == YamlNode::Kind::mapping ? over.find(kind.name_key) : nullptr;
      YamlNode* record = name == nullptr ? nullptr : earlier(documents, kind, name->text);
      if (record == nullptr) {
        added.push_back(std::move(over));
        continue;
      }
      if (std::find(changed.begin(), changed.end(), name->text) != changed.end()) {
        diagnostics.add(name->where, fmt::format("'{}' is changed twice in this file", name->text),
                        "put both into one record");
      }
      changed.push_back(name->text);
      change(*record, over, kind);
    }
    list->items = std::move(added);
  }
}

}  // namespace weft::import
