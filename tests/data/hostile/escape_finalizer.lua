-- expect: failed 301 "__gc"
setmetatable({}, {__gc = function() while true do end end})
