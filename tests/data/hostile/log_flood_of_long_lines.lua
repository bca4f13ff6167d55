-- expect: succeeded
local s = ('\u{e4}'):rep(20000)
for _ = 1, 1000 do log(s) end
