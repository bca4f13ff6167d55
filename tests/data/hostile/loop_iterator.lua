-- expect: failed 301 "own code ran longer than"
for _ in function() return 1 end do end
