-- expect: succeeded
log(string.format("%p", api), tostring(print), tostring({}))
for size = 1, 100 do log(string.unpack("!16 z", ("x"):rep(size) .. "\0")) end
assert(not pcall(string.unpack, "z", "no end"))
assert(not pcall(string.unpack, "s8", ("\255"):rep(8)))
