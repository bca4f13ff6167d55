-- expect: failed 301
error('\xff\0\u{1F600}\xc3', 0)
