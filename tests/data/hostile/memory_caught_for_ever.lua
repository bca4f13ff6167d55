-- expect: failed 301 "own code ran longer than"
while true do pcall(string.rep, 'x', 1e9) end
