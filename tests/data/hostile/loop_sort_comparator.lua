-- expect: failed 301 "own code ran longer than"
table.sort({3, 2, 1}, function() while true do end end)
