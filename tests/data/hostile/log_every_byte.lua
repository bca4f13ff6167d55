-- expect: succeeded
for byte = 0, 255 do log(string.char(byte), string.char(byte, 0x80), string.char(0xF0, byte)) end
log("\u{1F600}\u{10FFFF}", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC0\x80", "\0\0")
