-- expect: succeeded
tostring = function() while true do end end
log({}, print, nil, 1.5)
