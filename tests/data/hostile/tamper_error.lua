-- expect: failed 301 "own code ran longer than"
error = function() while true do end end
error('x')
