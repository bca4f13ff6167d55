-- expect: succeeded
for _, name in ipairs{"io", "os", "require", "package", "load", "loadstring", "loadfile", "dofile", "debug",
                      "coroutine", "collectgarbage", "sleep", "warn", "newproxy", "setfenv", "getfenv", "module"} do
  assert(_G[name] == nil, name)
end
assert(string.dump == nil)
