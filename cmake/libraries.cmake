# Debian's packages. SOCI ships neither a CMake config nor a .pc file.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4-c++)  # the build whose errors are C++ exceptions
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
find_package(Boost 1.81 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)

find_library(SOCI_CORE soci_core REQUIRED)
find_library(SOCI_SQLITE3 soci_sqlite3 REQUIRED)
