-- expect: failed 301 "too complex"
return string.find(('a'):rep(300000), ('.-'):rep(300000))
