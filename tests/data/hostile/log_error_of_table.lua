-- expect: failed 301 "an error of type table"
error({})
