-- expect: succeeded
log(('\u{1F600}'):rep(1000000))
