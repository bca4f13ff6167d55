-- expect: failed 302 or killed 303
return table.move({}, 1, math.maxinteger - 1, 2)
