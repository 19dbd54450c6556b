! Allocates four arrays. The first is freed, the second is freed when train returns, the other two are never freed.
module model
  real, allocatable :: weights(:)
  real, pointer :: lost(:)
end module

subroutine train(count)
  use model
  implicit none
  integer, intent(in) :: count
  real, allocatable :: given_back(:), local(:)
  allocate(given_back(count))
  given_back = 1.0
  allocate(local(2 * count))
  local = 2.0
  allocate(weights(3 * count))
  weights = given_back(1) + local(1)
  allocate(lost(4 * count))
  lost = weights(1)
  deallocate(given_back)
end subroutine

program main
  use model
  implicit none
  call train(1000)
  print '(f8.1, f8.1)', sum(weights), sum(lost)
end program
