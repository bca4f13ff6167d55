-- expect: failed 301 "global 'coroutine'"
coroutine.wrap(function() while true do end end)()
