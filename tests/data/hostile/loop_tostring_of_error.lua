-- expect: failed 301 "budget"
error(setmetatable({}, {__tostring = function() while true do end end}))
