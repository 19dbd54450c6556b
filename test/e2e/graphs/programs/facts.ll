; Functions for file_test.py, which states the instructions and counts of their blocks. At -O0 no pass changes the blocks.
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%big = type { [6 x i32] }
@values = internal global [8 x double] zeroinitializer
@from = internal global %big zeroinitializer
@to = internal global %big zeroinitializer
@total = internal global i32 0

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare float @llvm.sqrt.f32(float)

define internal i32 @callee(i32 %x) nounwind willreturn noinline noprofile {
  ret i32 %x
}

define internal i32 @facts(i32 %rounds, i32 %way) nounwind noinline {
entry:                                                      ; block 1
  br label %outer
outer:                                                      ; block 2
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer.end ]
  %root = call float @llvm.sqrt.f32(float 2.0)
  br label %inner
inner:                                                      ; block 3
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %place = getelementptr double, ptr @values, i32 %j
  %value = load double, ptr %place
  %twice = fmul double %value, 2.0
  store double %twice, ptr %place
  %j.next = add i32 %j, 1
  %j.more = icmp ult i32 %j.next, 4
  br i1 %j.more, label %inner, label %outer.end
outer.end:                                                  ; block 4
  call void @llvm.memcpy.p0.p0.i64(ptr @to, ptr @from, i64 24, i1 false)
  call void @llvm.memset.p0.i64(ptr @from, i8 0, i64 15, i1 false)
  %before = atomicrmw add ptr @total, i32 1 seq_cst
  %pair = cmpxchg ptr @total, i32 7, i32 8 seq_cst seq_cst
  %same = call i32 @callee(i32 %before)
  %vector = load <4 x float>, ptr @values
  %i.next = add i32 %i, 1
  %i.more = icmp ult i32 %i.next, %rounds
  br i1 %i.more, label %outer, label %choose
choose:                                                     ; block 5
  switch i32 %way, label %end [
    i32 1, label %end
    i32 -2, label %end
    i32 3, label %third
  ]
third:                                                      ; block 6
  fence seq_cst
  br label %end
end:                                                        ; block 7
  ret i32 %way
}

; Two computed gotos with the same two targets. Their edges have no counters, and other counts do not determine theirs.
define internal i32 @jumps(i1 %from, i1 %to) nounwind noinline {
entry:                                                      ; block 1
  %end = select i1 %to, ptr blockaddress(@jumps, %left), ptr blockaddress(@jumps, %right)
  br i1 %from, label %one, label %other
one:
  indirectbr ptr %end, [ label %left, label %right ]
other:
  indirectbr ptr %end, [ label %left, label %right ]
left:
  ret i32 1
right:
  ret i32 2
}

define i32 @main() noprofile {
  %a = call i32 @facts(i32 3, i32 1)
  %b = call i32 @facts(i32 5, i32 -2)
  %c = call i32 @facts(i32 1, i32 3)
  %d = call i32 @facts(i32 1, i32 1)
  %e = call i32 @facts(i32 1, i32 0)
  %f = call i32 @jumps(i1 true, i1 true)
  %g = call i32 @jumps(i1 true, i1 false)
  %h = call i32 @jumps(i1 false, i1 false)
  ret i32 0
}
