-- expect: failed 301 "own code ran longer than"
while true do string.gsub(('1'):rep(1000000), '1', json.decode) end
