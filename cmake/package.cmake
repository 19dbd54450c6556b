# The installed package: find_package(msleaks), msleaks_instrument(target).
