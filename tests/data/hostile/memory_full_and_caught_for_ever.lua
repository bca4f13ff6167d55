-- expect: failed 301 "own code ran longer than"
local t = {}
while true do
  pcall(function() while true do t[#t + 1] = ('x'):rep(10000) .. #t end end)
end
