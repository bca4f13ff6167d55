# Turns sql/sqlite/NNNN_name.sql into one C++ source: cmake -DFOLDER=... -DOUTPUT=... -P this file.
file(GLOB steps ${FOLDER}/*.sql)
list(SORT steps)
set(entries "")
foreach(step IN LISTS steps)
  get_filename_component(name ${step} NAME_WE)
  if(NOT name MATCHES "^0*([1-9][0-9]*)_[a-z0-9_]+$")
    message(FATAL_ERROR "${step}: a migration is named NNNN_name.sql")
  endif()
  set(version ${CMAKE_MATCH_1})
  file(READ ${step} text)
  string(APPEND entries "    {${version}, \"${name}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"adapters/sql/migrations.h\"

#include <array>

namespace coderunner::sql {
namespace {

constexpr auto kMigrations = std::to_array<Migration>({
${entries}});

}  // namespace

std::span<const Migration> sqlite_migrations() { return kMigrations; }

}  // namespace coderunner::sql
")
