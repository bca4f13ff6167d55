# Turns a Lua source into a C++ one: cmake -DSOURCE=... -DOUTPUT=... -P this file.
file(READ ${SOURCE} text)
file(WRITE ${OUTPUT} "#include \"executor/api_module.h\"

namespace coderunner::executor {

std::string_view api_module_source() {
  return R\"lua(${text})lua\";
}

}  // namespace coderunner::executor
")
