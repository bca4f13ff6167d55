-- expect: failed 301 "own code ran longer than"
while true do math.random(0) end
