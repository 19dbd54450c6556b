-- Allocates in code that LuaJIT compiled: through the FFI, for strings and
-- tables, in callbacks from C into Lua, in coroutines, and around errors.
local ffi = require("ffi")
ffi.cdef [[
  void *malloc(size_t);
  void *calloc(size_t, size_t);
  void free(void *);
  void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
]]
local C = ffi.C

local function allocate(i)
  local block = C.malloc(16 + i % 100)
  C.free(block)
  local zeros = C.calloc(1, 200 + i % 50)
  C.free(zeros)
end

local function recurse(depth)
  allocate(depth)
  if depth > 0 then return 1 + recurse(depth - 1) end
  return 0
end

local sum = 0
for i = 1, 4000 do
  allocate(i)
  sum = sum + recurse(i % 6)
end
-- Strings and tables are blocks of the garbage collector. Helper functions of the compiled code allocate some of them.
local kept = {}
for i = 1, 20000 do
  kept[i % 500 + 1] = { name = string.rep("x", 100 + i % 30) .. i, sum = sum }
end
-- Lua calls qsort of C, which calls a Lua function.
local numbers = ffi.new("int[?]", 30)
local compare = ffi.cast("int (*)(const void *, const void *)", function(a, b)
  allocate(1)
  return ffi.cast("const int *", a)[0] - ffi.cast("const int *", b)[0]
end)
for round = 1, 20 do
  for i = 0, 29 do numbers[i] = (i * 7919 + round) % 31 end
  C.qsort(numbers, 30, 4, compare)
end
compare:free()
-- Allocates in coroutines, and throws errors through C code.
local function numbers_of(count)
  return coroutine.wrap(function()
    for i = 1, count do
      allocate(i)
      coroutine.yield(i)
    end
  end)
end
for round = 1, 200 do
  for i in numbers_of(round % 9) do sum = sum + i end
  pcall(function() recurse(round % 5) error({ round }) end)
end
print("done", sum)
