# One target per folder of src/; its link lines are the floors of ARCHITECTURE.md.

add_library(coderunner_options INTERFACE)
target_compile_features(coderunner_options INTERFACE cxx_std_20)
target_include_directories(coderunner_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(coderunner_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wnull-dereference -Wno-missing-field-initializers -Werror -fno-omit-frame-pointer)
if(CODERUNNER_SANITIZE)
  target_compile_options(coderunner_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(coderunner_options INTERFACE -fsanitize=address,undefined)
endif()
if(CODERUNNER_THREAD_SANITIZE)
  target_compile_options(coderunner_options INTERFACE -fsanitize=thread)
  target_link_options(coderunner_options INTERFACE -fsanitize=thread)
endif()
if(CODERUNNER_FUZZ)
  # Kept by the linker for the programs' own option: -fsanitize=fuzzer.
  target_compile_options(coderunner_options INTERFACE
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(coderunner_options INTERFACE -fsanitize=address,undefined)
endif()
if(CODERUNNER_COVERAGE)
  target_compile_options(coderunner_options INTERFACE --coverage)
  target_link_options(coderunner_options INTERFACE --coverage)
endif()

find_program(CODERUNNER_CCACHE ccache)
if(CODERUNNER_CCACHE AND NOT CODERUNNER_COVERAGE)  # an object names the folder its counts go to
  # Compiled once for every build tree and every clone: paths are hashed relative to the source.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=true ${CODERUNNER_CCACHE})
endif()
find_program(CODERUNNER_MOLD mold)
if(CODERUNNER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# coderunner_folder(NAME SOURCES a.cc b.cc [LINK targets])
function(coderunner_folder name)
  cmake_parse_arguments(FOLDER "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${FOLDER_SOURCES})
  target_link_libraries(${name} PUBLIC coderunner_options ${FOLDER_LINK})
endfunction()

# Where the programs go: `./dev build` points it at build/bin.
set(CODERUNNER_BIN_DIR ${CMAKE_BINARY_DIR}/bin CACHE PATH "Folder of the built programs")

add_custom_target(programs)

# coderunner_program(NAME SOURCES main.cc [LINK targets])
function(coderunner_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE coderunner_options ${PROGRAM_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CODERUNNER_BIN_DIR})
  add_dependencies(programs ${name})
endfunction()
