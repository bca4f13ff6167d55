-- expect: failed 301 "nested deeper than 100"
return json.decode(('['):rep(100000))
