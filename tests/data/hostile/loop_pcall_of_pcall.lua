-- expect: failed 301 "own code ran longer than"
while true do pcall(pcall, pcall, error) end
