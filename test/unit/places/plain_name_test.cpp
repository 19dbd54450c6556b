// Tests that names lose only the parts that tell a reader nothing.
#include "analysis/places/function_name.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

TEST(PlainName, LosesAllocatorsAndDefaultArguments) {
  const std::pair<const char *, const char *> names[] = {
      {"std::vector<float, std::allocator<float> >", "std::vector<float>"},
      {"std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, std::allocator<int> > > >",
       "std::vector<std::vector<int>>"},
      {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
      {"std::basic_string<wchar_t>", "std::wstring"},
      {"std::__1::basic_string_view<char, std::__1::char_traits<char>>", "std::string_view"},
      {"std::map<int, Tensor, std::less<int>, std::allocator<std::pair<int const, Tensor> > >",
       "std::map<int, Tensor>"},
      {"std::unordered_map<long, Tensor, std::hash<long>, std::equal_to<long>, std::allocator<Tensor> >",
       "std::unordered_map<long, Tensor>"},
      {"std::unique_ptr<net::Layer, std::default_delete<net::Layer> >", "std::unique_ptr<net::Layer>"},
      {"std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >", "std::priority_queue<int>"},
      {"std::queue<Job, std::deque<Job, std::allocator<Job> > >", "std::queue<Job>"},
      {"net::Pool<Tensor, std::allocator<Tensor> >::grow(unsigned long)", "net::Pool<Tensor>::grow(unsigned long)"},
      {"std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >(char const*)",
       "std::ostream& std::operator<< <std::char_traits<char> >(char const*)"}};
  for (const auto &[whole, plain] : names)
    EXPECT_EQ(plainName(whole), plain) << whole;
}

TEST(PlainName, KeepsArgumentsThatAreNotTheDefault) {
  for (const char *name :
       {"std::map<int, Tensor, std::greater<int>>", "std::map<std::string, int, std::less<void>>",
        "std::unique_ptr<Layer, CudaDeleter>", "net::Sorted<int, std::less<int>>", "std::vector<float, net::Arena>",
        "std::allocator<int>::allocate(unsigned long)", "std::priority_queue<int, std::deque<int>>"})
    EXPECT_EQ(plainName(name), name);
}

TEST(PlainName, LosesInlineNamespaces) {
  const std::pair<const char *, const char *> names[] = {
      {"std::__1::mutex::lock()", "std::mutex::lock()"},
      {"std::_V2::condition_variable_any", "std::condition_variable_any"},
      {"std::filesystem::__cxx11::path", "std::filesystem::path"},
      {"(anonymous namespace)::Device::load(net::(anonymous namespace)::Samples&)", "Device::load(net::Samples&)"},
      {"kernelSource[abi:cxx11]()", "kernelSource()"},
      {"fmt::v9::format(int)", "fmt::format(int)"},
      {"absl::lts_20220623::Mutex", "absl::Mutex"},
      {"nlohmann::json_abi_v3_11_2::basic_json<std::map>", "nlohmann::basic_json<std::map>"},
      {"thrust::THRUST_200302_800_NS::device_vector<int>", "thrust::device_vector<int>"}};
  for (const auto &[whole, plain] : names)
    EXPECT_EQ(plainName(whole), plain) << whole;
  for (const char *name : {"net::v2::Layer", "__1::f()", "net::__internal::f()", "at::native::AVX2::add", "lts_1::f"})
    EXPECT_EQ(plainName(name), name) << "this namespace tells something";
}

TEST(PlainName, WordsAroundNamesStay) {
  EXPECT_EQ(plainName("Free the 3 blocks of `std::vector<int, std::allocator<int> >` before `f` returns, if a < b."),
            "Free the 3 blocks of `std::vector<int>` before `f` returns, if a < b.");
}

TEST(PlainName, WhatIsNoNameStays) {
  for (const char *odd :
       {"", "<", ">", "a<", "a<b", "a<(b>)", "::", "a::", "f(int)::{lambda(int)#1}::operator()(int) const",
        "operator->", "operator new[](unsigned long)", "a[abi:", "net::It::operator<(net::It) const",
        "operator>>=", "x<y->z>", "operator"})
    EXPECT_EQ(plainName(odd), odd);
  std::string deep(3000, 'x');
  for (size_t i = 0; i < 1000; ++i)
    deep.replace(i * 2, 2, "a<");
  EXPECT_EQ(plainName(deep), deep) << "a name that was cut";
}

} // namespace
} // namespace msleaks::analysis
