-- expect: failed 301
error(('\u{e4}'):rep(2000000), 0)
