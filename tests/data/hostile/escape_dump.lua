-- expect: failed 301 "nil value"
string.dump(function() end)
