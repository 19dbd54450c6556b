// Macros that make declarations and arguments of a list of types.
#pragma once

// From (T, U, V) these macros make the parameters T a3, U a2, V a1, and the arguments a3, a2, a1.
#define MSL_HOOK_LIST(...) __VA_ARGS__
#define MSL_HOOK_COMMA(...) __VA_OPT__(, )
#define MSL_HOOK_DECLARE(number, type) std::type_identity_t<type> a##number
#define MSL_HOOK_NAME(number, type) a##number
#define MSL_HOOK_EACH(what, ...) MSL_HOOK_EACH_(what, __VA_ARGS__)
#define MSL_HOOK_EACH_(what, ...)                                                                                      \
  MSL_HOOK_PICK(__VA_ARGS__ __VA_OPT__(, ) 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(what, __VA_ARGS__)
#define MSL_HOOK_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, number, ...) MSL_HOOK_EACH_##number
#define MSL_HOOK_EACH_0(what, ...)
#define MSL_HOOK_EACH_1(what, type) what(1, type)
#define MSL_HOOK_EACH_2(what, type, ...) what(2, type), MSL_HOOK_EACH_1(what, __VA_ARGS__)
#define MSL_HOOK_EACH_3(what, type, ...) what(3, type), MSL_HOOK_EACH_2(what, __VA_ARGS__)
#define MSL_HOOK_EACH_4(what, type, ...) what(4, type), MSL_HOOK_EACH_3(what, __VA_ARGS__)
#define MSL_HOOK_EACH_5(what, type, ...) what(5, type), MSL_HOOK_EACH_4(what, __VA_ARGS__)
#define MSL_HOOK_EACH_6(what, type, ...) what(6, type), MSL_HOOK_EACH_5(what, __VA_ARGS__)
#define MSL_HOOK_EACH_7(what, type, ...) what(7, type), MSL_HOOK_EACH_6(what, __VA_ARGS__)
#define MSL_HOOK_EACH_8(what, type, ...) what(8, type), MSL_HOOK_EACH_7(what, __VA_ARGS__)
#define MSL_HOOK_EACH_9(what, type, ...) what(9, type), MSL_HOOK_EACH_8(what, __VA_ARGS__)
#define MSL_HOOK_EACH_10(what, type, ...) what(10, type), MSL_HOOK_EACH_9(what, __VA_ARGS__)
#define MSL_HOOK_EACH_11(what, type, ...) what(11, type), MSL_HOOK_EACH_10(what, __VA_ARGS__)
#define MSL_HOOK_EACH_12(what, type, ...) what(12, type), MSL_HOOK_EACH_11(what, __VA_ARGS__)
#define MSL_HOOK_EACH_13(what, type, ...) what(13, type), MSL_HOOK_EACH_12(what, __VA_ARGS__)
#define MSL_HOOK_EACH_14(what, type, ...) what(14, type), MSL_HOOK_EACH_13(what, __VA_ARGS__)
#define MSL_HOOK_EACH_15(what, type, ...) what(15, type), MSL_HOOK_EACH_14(what, __VA_ARGS__)
#define MSL_HOOK_EACH_16(what, type, ...) what(16, type), MSL_HOOK_EACH_15(what, __VA_ARGS__)
