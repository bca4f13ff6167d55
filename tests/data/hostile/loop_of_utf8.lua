-- expect: failed 301 "own code ran longer than"
local s = ('\u{1F600}'):rep(10000)
while true do utf8.len(s) end
