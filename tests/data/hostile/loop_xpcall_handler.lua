-- expect: failed 301 "own code ran longer than"
xpcall(error, function() while true do end end)
