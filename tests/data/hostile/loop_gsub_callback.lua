-- expect: failed 301 "own code ran longer than"
string.gsub('aaa', 'a', function() while true do end end)
