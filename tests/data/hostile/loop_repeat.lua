-- expect: failed 301 "own code ran longer than"
repeat until false
