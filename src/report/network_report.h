// The survey of a network (fabric/network_survey.h) as text and as JSON.
#pragma once

#include <string>

#include "fabric/network_survey.h"

namespace weft::report {

std::string network_text(const fabric::NetworkSurvey& survey);
// Schema weft/network/1.
std::string network_json(const fabric::NetworkSurvey& survey, const fabric::Fabric& fabric,
                         const std::string& source);

}  // namespace weft::report
