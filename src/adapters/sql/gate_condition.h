// The one condition by which every statement reads a gate `g` as closed: domain is_closed(), with
// the time and its latest_gate() bound in this order. Included by the statements only.
#pragma once

// A macro: texts are joined where they are compiled.
#define CODERUNNER_GATE_CLOSED "g.until_at > :now AND g.until_at <= :latest"
