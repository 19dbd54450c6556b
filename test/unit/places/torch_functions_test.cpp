// Tests which functions of PyTorch's library are operators, and which are parts of a backward pass.
#include "analysis/places/torch_functions.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

const TorchFunctions kFunctions({"add", "add_", "max", "max_pool2d", "sum", "__and__"});

TEST(TorchFunctions, NameTheOperatorThatTheyCall) {
  EXPECT_EQ(kFunctions.componentOf("_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE"),
            "operator@aten::add");
  EXPECT_EQ(kFunctions.componentOf("_ZN2at4_ops11add__Tensor10redispatchEN3c1014DispatchKeySetE"),
            "operator@aten::add_");
  EXPECT_EQ(kFunctions.componentOf("_ZN2at4_ops10max_pool2d4callERKNS_6TensorE"), "operator@aten::max_pool2d");
  EXPECT_EQ(kFunctions.componentOf("_ZN2at4_ops15sum_dim_IntList4callERKNS_6TensorE"), "operator@aten::sum");
  EXPECT_EQ(kFunctions.componentOf("_ZN2at4_ops14__and___Scalar4callERKNS_6TensorE"), "operator@aten::__and__");
}

TEST(TorchFunctions, KeepTheNameOfAnUnknownOperator) {
  EXPECT_EQ(kFunctions.componentOf("_ZN2at4_ops12fresh_Tensor4callERKNS_6TensorE"), "operator@aten::fresh_Tensor");
  EXPECT_EQ(kFunctions.componentOf("_ZN2at4_ops7addmore4callERKNS_6TensorE"), "operator@aten::addmore");
}

TEST(TorchFunctions, NameTheNodeOfABackwardPass) {
  EXPECT_EQ(
      kFunctions.componentOf("_ZN5torch8autograd9generated14AddmmBackward05applyEOSt6vectorIN2at6TensorESaIS4_EE"),
      "backward@AddmmBackward0");
  EXPECT_EQ(kFunctions.componentOf("_ZN5torch8autograd14AccumulateGrad5applyEOSt6vectorIN2at6TensorESaIS4_EE"),
            "backward@AccumulateGrad");
  EXPECT_EQ(kFunctions.componentOf("_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEE"),
            "backward");
}

TEST(TorchFunctions, AreNoComponentOtherwise) {
  for (const char *name :
       {"", "malloc", "_ZN2at4_ops", "_ZN2at4_ops99add4call", "_ZN2at4_ops3add6schemaEv",
        "_ZN5torch8autograd6Engine7executeEv", "_ZN5torch8autograd4NodeD2Ev", "_ZN2at6native3addERKNS_6TensorE"})
    EXPECT_EQ(kFunctions.componentOf(name), "") << name;
}

TEST(TorchFunctions, AreInOneLibrary) {
  EXPECT_TRUE(TorchFunctions::areIn("/opt/torch/lib/libtorch_cpu.so"));
  EXPECT_TRUE(TorchFunctions::areIn("/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13.0"));
  EXPECT_FALSE(TorchFunctions::areIn("/opt/libtorch_cpu/lib/libtorch_python.so"));
}

TEST(TorchFunctions, PythonStartsABackwardPass) {
  EXPECT_TRUE(startsTorchBackward("/v/site-packages/torch/autograd/__init__.py", "backward"));
  EXPECT_FALSE(startsTorchBackward("/v/site-packages/torch/autograd/__init__.py", "grad_mode"));
  EXPECT_FALSE(startsTorchBackward("/home/u/train.py", "backward"));
}

TEST(TorchFunctions, PythonBuildsModules) {
  const std::string folder = "/v/site-packages/torch/nn/modules/";
  EXPECT_TRUE(buildsTorchModule(folder + "linear.py", "Linear.__init__"));
  EXPECT_TRUE(buildsTorchModule(folder + "linear.py", "__init__")) << "until Python 3.10";
  EXPECT_TRUE(buildsTorchModule(folder + "module.py", "Module._apply"));
  EXPECT_FALSE(buildsTorchModule(folder + "linear.py", "Linear.forward"));
  EXPECT_FALSE(buildsTorchModule(folder + "module.py", "Module._call_impl"));
  EXPECT_FALSE(buildsTorchModule("/home/u/train.py", "Data.__init__"));
}

TEST(TorchFunctions, PythonLoadsOptimizers) {
  const std::string folder = "/v/site-packages/torch/optim/";
  EXPECT_TRUE(loadsOptimizer(folder + "optimizer.py", "Optimizer.load_state_dict"));
  EXPECT_TRUE(loadsOptimizer(folder + "optimizer.py", "load_state_dict")) << "until Python 3.10";
  EXPECT_FALSE(loadsOptimizer(folder + "optimizer.py", "Optimizer.step"));
  EXPECT_FALSE(loadsOptimizer(folder + "lr_scheduler.py", "LRScheduler.load_state_dict"));
}

TEST(TorchFunctions, PythonCompilesFunctions) {
  EXPECT_TRUE(compilesTorchFunction("/v/site-packages/torch/_dynamo/convert_frame.py", "_compile"));
  EXPECT_FALSE(compilesTorchFunction("/v/site-packages/torch/_dynamo/convert_frame.py", "CatchErrorsWrapper.__call__"));
  EXPECT_FALSE(compilesTorchFunction("/v/site-packages/torch/jit/_script.py", "_compile"));
}

TEST(TorchFunctions, PythonLoadsArrays) {
  const std::string packages = "/v/site-packages";
  EXPECT_TRUE(loadsArrays(packages + "/torch/serialization.py", "load"));
  EXPECT_TRUE(loadsArrays(packages + "/numpy/lib/_npyio_impl.py", "NpzFile.load"));
  EXPECT_TRUE(loadsArrays(packages + "/safetensors/torch.py", "load_file"));
  EXPECT_FALSE(loadsArrays(packages + "/torch/serialization.py", "save"));
  EXPECT_FALSE(loadsArrays(packages + "/torch/nn/modules/module.py", "Module.load_state_dict"));
  EXPECT_FALSE(loadsArrays("/home/u/serialization.py", "load"));
}

} // namespace
} // namespace msleaks::analysis
