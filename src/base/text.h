// Text as it comes from strangers: UTF-8 checks, cuts on a character, hex. No locale, no allocation
// surprises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coderunner {

// True for well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF).
bool is_valid_utf8(std::string_view text);

// Every malformed byte becomes U+FFFD; well-formed text comes back unchanged.
std::string replace_invalid_utf8(std::string_view text);

// At most max_bytes of `text`, cut on a character; `mark` (counted in max_bytes) is appended where
// something was cut. `text` must be valid UTF-8.
std::string clamp_utf8(std::string_view text, std::size_t max_bytes, std::string_view mark = {});

// Number of code points of valid UTF-8.
std::size_t count_characters(std::string_view text);

std::string to_hex(std::span<const std::uint8_t> bytes);
// nullopt unless `hex` is an even number of hex digits.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view hex);

// "64MiB", "16KiB", "1GiB" or a plain number of bytes; nullopt on anything else (contract section
// 5).
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace coderunner
