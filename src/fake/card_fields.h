// A card's own fields: what POST and PATCH may set, how moving, archiving and discarding show in
// them. Fields a body names beyond these are the API's to ignore (facts 1.5). Used by the endpoints
// only. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "fake/reply.h"

namespace coderunner::fake {

// In the first column of the first board, revision 1.
Json new_card_fields(UtcTime now);

// All of the body or, with the refusal of its first bad field, none of it.
std::optional<Reply> set_card_fields(Json& fields, const Json& body, UtcTime now);

// Taken with "#" and in any case, shown as bare lower-case hex (facts 1.5).
std::string bare_colour(std::string colour);

// What a body may hold under a name: nullopt where it is right or not there.
std::optional<Reply> refuse_unless_id(const Json& body, const std::string& name,
                                      bool (*known)(std::int64_t id));
std::optional<Reply> refuse_unless_flag(const Json& body, const std::string& name);

}  // namespace coderunner::fake
