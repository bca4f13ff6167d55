-- expect: failed 302 or killed 303
return string.find(('a'):rep(40), ('a?'):rep(40) .. ('a'):rep(40))
