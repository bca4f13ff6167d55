-- What scripts find on `api` beside the five calls: docs/scripting.md says what each one does.
-- Runs once at the start of every script, before any line of it, and takes all it needs then: a
-- script that replaces `pairs` or `api.get` changes nothing in here. No method calls on strings:
-- their metatable is the script's to change.
--   call(method, path, body?)  an API call; answers and errors as api.get has them
--   fail(message)              raises it with the script's own place in front
--   wrap(f, name?)             f as a script may have it: its frame keeps the script's place; with
--                              a name it refuses `api:name(...)`
local api, call, fail, wrap = ...
local module = {}
local type, pairs, ipairs, next, tostring, rawget = type, pairs, ipairs, next, tostring, rawget
local byte, format, gsub, sub = string.byte, string.format, string.gsub, string.sub
local concat, sort = table.concat, table.sort
local to_integer, is_array, null = math.tointeger, json.array, json.null

-- ---- Arguments

-- A value that was refused, for the message.
local function shown(value)
  if value == null then return "json.null" end
  local kind = type(value)
  if kind == "string" then return '"' .. sub(value, 1, 40) .. '"' end
  return kind == "number" and tostring(value) or kind
end

local function need_table(value, name, what)
  if type(value) ~= "table" then fail(format("%s: %s must be a table, not %s", name, what, shown(value))) end
  return value
end

local function need_list(value, name)
  if #need_table(value, name, "the list") == 0 and next(value) ~= nil then
    fail(format("%s: the argument must be a list of cards: did you forget the outer braces?", name))
  end
  return value
end

-- A number, a text of digits (a rule's payload has such), or a table that carries it (a card); `at`
-- is its place in a list.
local function id_of(value, name, field, at)
  local given = value
  if type(value) == "table" then given = rawget(value, field) end
  local id = to_integer(given)
  if id and id >= 0 then return id end
  if given == nil and value ~= nil then
    fail(format("%s: %s has no %s", name, at and format("item %d", at) or "the table", field))
  end
  if at then name = format("%s: item %d", name, at) end
  fail(format("%s: %s must be a whole number or a table that has it, not %s", name, field, shown(given)))
end

local function card_path(card, name)
  return "/cards/" .. id_of(card, name, "card_id")
end

-- ---- Queries

local function percent(character)
  return format("%%%02X", byte(character))
end

local function query_text(value, name)
  local kind = type(value)
  if kind == "boolean" then return value and "1" or "0" end
  if kind == "number" then return tostring(to_integer(value) or value) end
  if kind ~= "string" then fail(format("the parameter %s can not be a %s", name, shown(value))) end
  return (gsub(value, "[^%w%-._~]", percent))
end

local function query_list(values, name)
  local texts = {}
  for at, value in ipairs(values) do texts[at] = query_text(value, name) end
  -- The API takes a filter without a value as none at all: every card instead of no card.
  if #texts == 0 then fail(format("the parameter %s is an empty list", name)) end
  return concat(texts, ",")
end

local function query(parameters)
  if parameters == nil then return "" end
  local parts = {}
  for name, value in pairs(need_table(parameters, "api.query", "the parameters")) do
    if type(name) ~= "string" then fail("the parameters must have names") end
    local text = type(value) == "table" and query_list(value, name) or query_text(value, name)
    parts[#parts + 1] = query_text(name, name) .. "=" .. text
  end
  if #parts == 0 then return "" end
  sort(parts)
  return "?" .. concat(parts, "&")
end

-- ---- Answers

local function data_of(body)
  return type(body) == "table" and body.data or nil
end

-- One thing is answered as an object, or as an array that holds it alone.
local function one(body)
  local data = data_of(body)
  if type(data) ~= "table" then return data end
  return data[1] or (next(data) ~= nil and data or nil)
end

-- Many are answered as an array; of cards the array is one level further down.
local function many(body)
  local data = data_of(body)
  if type(data) == "table" and type(data.data) == "table" then data = data.data end
  return type(data) == "table" and data or is_array{}
end

local function pages_of(body)
  local data = data_of(body)
  local pagination = type(data) == "table" and (data.pagination or body.pagination)
  return type(pagination) == "table" and to_integer(pagination.all_pages) or 1
end

local function list(path, parameters)
  return many((call("GET", path .. query(parameters))))
end

-- ---- Cards

function module.cards(filters)
  local asked = {}
  for name, value in pairs(need_table(filters or {}, "api.cards", "the filters")) do asked[name] = value end
  local page = to_integer(asked.page or 1) or fail("api.cards: page must be a whole number")
  local cards, at, pages = {}, 0, page
  return wrap(function()
    at = at + 1
    while cards[at] == nil do
      if page > pages then return nil end
      asked.page = page
      local body = call("GET", "/cards" .. query(asked))
      cards, at, pages, page = many(body), 1, pages_of(body), page + 1
      if cards[1] == nil then pages = 0 end
    end
    return cards[at]
  end)
end

function module.card(card)
  return one((call("GET", card_path(card, "api.card"))))
end

function module.create_card(fields)
  return one((call("POST", "/cards", need_table(fields, "api.create_card", "the card"))))
end

function module.update_card(card, changes)
  need_table(changes, "api.update_card", "the changes")
  return one((call("PATCH", card_path(card, "api.update_card"), changes)))
end

function module.move_card(card, to)
  need_table(to, "api.move_card", "the place")
  if not (to.column_id or to.lane_id or to.position or to.track) then
    fail("api.move_card: the place needs a column_id, a lane_id, a position or a track")
  end
  return one((call("PATCH", card_path(card, "api.move_card"), to)))
end

function module.delete_card(card)
  call("DELETE", card_path(card, "api.delete_card"))
end

-- One call for all of them, whatever their number; none for none.
local function bulk(name, path, field, items, options)
  if #need_list(items, name) == 0 then return is_array{} end
  local body = {}
  for key, value in pairs(need_table(options or {}, name, "the options")) do body[key] = value end
  body[field] = items
  return many((call("POST", path, body)))
end

function module.create_cards(cards, options)
  return bulk("api.create_cards", "/cards/createMany", "cards", cards, options)
end

function module.update_cards(cards, options)
  for at, card in ipairs(need_list(cards, "api.update_cards")) do
    if type(card) ~= "table" then
      fail(format("api.update_cards: item %d must be a table with a card_id, not %s", at, shown(card)))
    end
    id_of(card, "api.update_cards", "card_id", at)
  end
  return bulk("api.update_cards", "/cards/updateMany", "cards", cards, options)
end

function module.delete_cards(cards, options)
  local ids = {}
  for at, card in ipairs(need_list(cards, "api.delete_cards")) do
    ids[at] = id_of(card, "api.delete_cards", "card_id", at)
  end
  bulk("api.delete_cards", "/cards/deleteMany", "card_ids", ids, options)
end

-- ---- What hangs on a card

function module.comments(card)
  return list(card_path(card, "api.comments") .. "/comments")
end

function module.add_comment(card, text)
  local body = type(text) == "table" and text or {text = text}
  if body.text == nil then fail("api.add_comment: the text is missing") end
  return one((call("POST", card_path(card, "api.add_comment") .. "/comments", body)))
end

function module.subtasks(card)
  return list(card_path(card, "api.subtasks") .. "/subtasks")
end

function module.add_subtask(card, subtask)
  local body = type(subtask) == "table" and subtask or {description = subtask}
  if body.description == nil then fail("api.add_subtask: the description is missing") end
  return one((call("POST", card_path(card, "api.add_subtask") .. "/subtasks", body)))
end

-- ---- Custom fields, by id or by name

local field_ids  -- by name; asked for once, when the first name is met

local function field_id(field, name)
  if type(field) ~= "string" or to_integer(field) then return id_of(field, name, "field_id") end
  if not field_ids then
    field_ids = {}
    for _, known in ipairs(list("/customFields")) do field_ids[known.name] = known.field_id end
  end
  return field_ids[field] or fail(format("%s: there is no custom field named %s", name, field))
end

-- A table is the whole body: selected_values_to_add_or_update and so on.
local function field_value(value, name)
  local kind = type(value)
  if kind == "table" then return value end
  if kind == "nil" or kind == "function" then fail(format("%s: the value can not be a %s", name, kind)) end
  return {value = value}
end

function module.custom_fields(filters)
  return list("/customFields", filters)
end

function module.custom_field(card, field)
  local id = field_id(field, "api.custom_field")
  local values = type(card) == "table" and rawget(card, "custom_fields")
  if type(values) ~= "table" then
    values = list(card_path(card, "api.custom_field") .. "/customFields")
  end
  for _, value in ipairs(values) do
    if value.field_id == id then return value.value end
  end
  return nil
end

function module.set_custom_field(card, field, value)
  local path = card_path(card, "api.set_custom_field")
  local body = field_value(value, "api.set_custom_field")
  call("PUT", path .. "/customFields/" .. field_id(field, "api.set_custom_field"), body)
end

function module.set_custom_fields(card, values)
  local fields = is_array{}
  for field, value in pairs(need_table(values, "api.set_custom_fields", "the values")) do
    local entry = {field_id = field_id(field, "api.set_custom_fields")}
    for key, part in pairs(field_value(value, "api.set_custom_fields")) do entry[key] = part end
    fields[#fields + 1] = entry
  end
  sort(fields, function(a, b) return a.field_id < b.field_id end)
  local path = card_path(card, "api.set_custom_fields")
  return one((call("PATCH", path, {custom_fields_to_add_or_update = fields})))
end

-- ---- Boards and people

function module.me()
  return one((call("GET", "/me")))
end

function module.boards(filters)
  return list("/boards", filters)
end

function module.board(board)
  return one((call("GET", "/boards/" .. id_of(board, "api.board", "board_id"))))
end

for name, resource in pairs{columns = "/columns", lanes = "/lanes", workflows = "/workflows"} do
  module[name] = function(board)
    return list("/boards/" .. id_of(board, "api." .. name, "board_id") .. resource)
  end
end

function module.workspaces(filters)
  return list("/workspaces", filters)
end

function module.users(filters)
  return list("/users", filters)
end

module.query = query

for name, value in pairs(module) do api[name] = wrap(value, name) end
