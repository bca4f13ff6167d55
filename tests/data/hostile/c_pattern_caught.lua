-- expect: failed 302 or killed 303
while true do pcall(string.find, ('x'):rep(20000), '.-.-.-.-b') end
