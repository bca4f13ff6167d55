-- expect: failed 302 "MiB of memory"
return json.decode('[' .. ('1,'):rep(2e6) .. '1]')
