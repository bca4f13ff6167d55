-- expect: failed 302 or killed 303
return string.match(('('):rep(300000), '%b()%b()')
