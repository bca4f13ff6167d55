-- expect: failed 301 "own code ran longer than"
::again::
goto again
