// %arg0: x
// %arg1: f
"builtin.module"() <{sym_name = "kinds"}> ({
  "func.func"() <{function_type = (tensor<1x6x6x4xi32>, tensor<3x2xf64>, tensor<2x3x3x4xi8>, tensor<4x2x2x1xi32>, tensor<5x4xi8>) -> (tensor<1x3x5x2xi64>, tensor<1x5x5x4xi32>, tensor<2x6xi32>, tensor<3x2xf64>, tensor<3x2xi1>, tensor<0x2xi8>), sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x6x6x4xi32>, %arg1: tensor<3x2xf64>, %w0: tensor<2x3x3x4xi8>, %w1: tensor<4x2x2x1xi32>, %w2: tensor<5x4xi8>):
    // a.onnx: conv
    %0 = "stablehlo.convert"(%arg0) : (tensor<1x6x6x4xi32>) -> tensor<1x6x6x4xf64>
    %1 = "stablehlo.convert"(%w0) : (tensor<2x3x3x4xi8>) -> tensor<2x3x3x4xf64>
    %2 = "stablehlo.convolution"(%0, %1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}> : (tensor<1x6x6x4xf64>, tensor<2x3x3x4xf64>) -> tensor<1x3x5x2xf64>
    %3 = "stablehlo.convert"(%2) : (tensor<1x3x5x2xf64>) -> tensor<1x3x5x2xi64>
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.pad"(%arg0, %4) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<1x6x6x4xi32>, tensor<i32>) -> tensor<1x6x6x4xi32>
    %6 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1x5x5x4xi32>
    %7 = "stablehlo.slice"(%w1) <{limit_indices = array<i64: 4, 1, 1, 1>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<4x2x2x1xi32>) -> tensor<4x1x1x1xi32>
    %8 = "stablehlo.reshape"(%7) : (tensor<4x1x1x1xi32>) -> tensor<4xi32>
    %9 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 1, 5, 5, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x6x6x4xi32>) -> tensor<1x5x5x4xi32>
    %10 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xi32>) -> tensor<1x5x5x4xi32>
    %11 = "stablehlo.multiply"(%9, %10) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    %12 = "stablehlo.add"(%6, %11) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    %13 = "stablehlo.slice"(%w1) <{limit_indices = array<i64: 4, 1, 2, 1>, start_indices = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<4x2x2x1xi32>) -> tensor<4x1x1x1xi32>
    %14 = "stablehlo.reshape"(%13) : (tensor<4x1x1x1xi32>) -> tensor<4xi32>
    %15 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 1, 5, 6, 4>, start_indices = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x6x6x4xi32>) -> tensor<1x5x5x4xi32>
    %16 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xi32>) -> tensor<1x5x5x4xi32>
    %17 = "stablehlo.multiply"(%15, %16) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    %18 = "stablehlo.add"(%12, %17) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    %19 = "stablehlo.slice"(%w1) <{limit_indices = array<i64: 4, 2, 1, 1>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<4x2x2x1xi32>) -> tensor<4x1x1x1xi32>
    %20 = "stablehlo.reshape"(%19) : (tensor<4x1x1x1xi32>) -> tensor<4xi32>
    %21 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 1, 6, 5, 4>, start_indices = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x6x6x4xi32>) -> tensor<1x5x5x4xi32>
    %22 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xi32>) -> tensor<1x5x5x4xi32>
    %23 = "stablehlo.multiply"(%21, %22) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    %24 = "stablehlo.add"(%18, %23) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    %25 = "stablehlo.slice"(%w1) <{limit_indices = array<i64: 4, 2, 2, 1>, start_indices = array<i64: 0, 1, 1, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<4x2x2x1xi32>) -> tensor<4x1x1x1xi32>
    %26 = "stablehlo.reshape"(%25) : (tensor<4x1x1x1xi32>) -> tensor<4xi32>
    %27 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 1, 6, 6, 4>, start_indices = array<i64: 0, 1, 1, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x6x6x4xi32>) -> tensor<1x5x5x4xi32>
    %28 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xi32>) -> tensor<1x5x5x4xi32>
    %29 = "stablehlo.multiply"(%27, %28) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    %30 = "stablehlo.add"(%24, %29) : (tensor<1x5x5x4xi32>, tensor<1x5x5x4xi32>) -> tensor<1x5x5x4xi32>
    // a.onnx: nothing
    // a.onnx: rest
    %31 = "stablehlo.convert"(%arg0) : (tensor<1x6x6x4xi32>) -> tensor<1x6x6x4xf32>
    %32 = "stablehlo.convert"(%w2) : (tensor<5x4xi8>) -> tensor<5x4xf32>
    %33 = "stablehlo.dot_general"(%31, %32) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>}> : (tensor<1x6x6x4xf32>, tensor<5x4xf32>) -> tensor<1x6x6x5xf32>
    %34 = "stablehlo.convert"(%33) : (tensor<1x6x6x5xf32>) -> tensor<1x6x6x5xi32>
    %35 = "stablehlo.transpose"(%34) <{permutation = array<i64: 3, 0, 2, 1>}> : (tensor<1x6x6x5xi32>) -> tensor<5x1x6x6xi32>
    %36 = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
    %37 = "stablehlo.pad"(%35, %36) <{edge_padding_high = array<i64: 1, 0, 0, 0>, edge_padding_low = array<i64: 0, 0, -1, 2>, interior_padding = array<i64: 0, 0, 1, 0>}> : (tensor<5x1x6x6xi32>, tensor<i32>) -> tensor<6x1x10x8xi32>
    %38 = "stablehlo.slice"(%37) <{limit_indices = array<i64: 5, 1, 9, 8>, start_indices = array<i64: 1, 0, 0, 2>, strides = array<i64: 2, 1, 3, 1>}> : (tensor<6x1x10x8xi32>) -> tensor<2x1x3x6xi32>
    %39 = "stablehlo.reverse"(%38) <{dimensions = array<i64: 3, 0>}> : (tensor<2x1x3x6xi32>) -> tensor<2x1x3x6xi32>
    %40 = "stablehlo.constant"() <{value = dense<-2147483648> : tensor<i32>}> : () -> tensor<i32>
    %41 = "stablehlo.reduce_window"(%39, %40) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [1, 0], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %z = "stablehlo.maximum"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%z) : (tensor<i32>) -> ()
    }) : (tensor<2x1x3x6xi32>, tensor<i32>) -> tensor<2x1x3x5xi32>
    %42 = "stablehlo.concatenate"(%41, %41) <{dimension = 2 : i64}> : (tensor<2x1x3x5xi32>, tensor<2x1x3x5xi32>) -> tensor<2x1x6x5xi32>
    %43 = "stablehlo.constant"() <{value = dense<2147483647> : tensor<i32>}> : () -> tensor<i32>
    %44 = "stablehlo.reduce"(%42, %43) <{dimensions = array<i64: 1, 3>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %z = "stablehlo.minimum"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%z) : (tensor<i32>) -> ()
    }) : (tensor<2x1x6x5xi32>, tensor<i32>) -> tensor<2x6xi32>
    %45 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x6xi32>
    %46 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2x6xi32>
    %48 = "stablehlo.add"(%45, %47) : (tensor<2x6xi32>, tensor<2x6xi32>) -> tensor<2x6xi32>
    %49 = "stablehlo.add"(%44, %48) : (tensor<2x6xi32>, tensor<2x6xi32>) -> tensor<2x6xi32>
    %50 = "stablehlo.constant"() <{value = dense<[4, 5, 6]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %51 = "stablehlo.gather"(%50, %49) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<3xi32>, tensor<2x6xi32>) -> tensor<2x6xi32>
    %52 = "stablehlo.compare"(%49, %51) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<2x6xi32>, tensor<2x6xi32>) -> tensor<2x6xi1>
    %53 = "stablehlo.negate"(%49) : (tensor<2x6xi32>) -> tensor<2x6xi32>
    %54 = "stablehlo.select"(%52, %49, %53) : (tensor<2x6xi1>, tensor<2x6xi32>, tensor<2x6xi32>) -> tensor<2x6xi32>
    // a.onnx: loop
    %55 = "stablehlo.constant"() <{value = dense<0xBFE0000000000000> : tensor<f64>}> : () -> tensor<f64>
    %56 = "stablehlo.constant"() <{value = dense<0x0000000000000000> : tensor<f64>}> : () -> tensor<f64>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3x2xf64>
    %58:3 = "stablehlo.while"(%4, %57, %arg1) ({
    ^bb0(%r58_0: tensor<i32>, %r58_1: tensor<3x2xf64>, %r58_2: tensor<3x2xf64>):
    %59 = "stablehlo.compare"(%r58_0, %46) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%59) : (tensor<i1>) -> ()
    }, {
    ^bb0(%r58_0: tensor<i32>, %r58_1: tensor<3x2xf64>, %r58_2: tensor<3x2xf64>):
    %60 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %61 = "stablehlo.add"(%r58_0, %60) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %62 = "stablehlo.dynamic_slice"(%r58_2, %r58_0, %4) <{slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xf64>, tensor<i32>, tensor<i32>) -> tensor<1x2xf64>
    %63 = "stablehlo.reshape"(%62) : (tensor<1x2xf64>) -> tensor<2xf64>
    %64 = "stablehlo.constant"() <{value = dense<0x4008000000000000> : tensor<f64>}> : () -> tensor<f64>
    %65 = "stablehlo.add"(%55, %64) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
    %67 = "stablehlo.multiply"(%63, %66) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %68 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %69:2 = "stablehlo.while"(%4, %67) ({
    ^bb0(%r69_0: tensor<i32>, %r69_1: tensor<2xf64>):
    %70 = "stablehlo.compare"(%r69_0, %68) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%70) : (tensor<i1>) -> ()
    }, {
    ^bb0(%r69_0: tensor<i32>, %r69_1: tensor<2xf64>):
    %71 = "stablehlo.add"(%r69_0, %60) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %72 = "stablehlo.tanh"(%r69_1) : (tensor<2xf64>) -> tensor<2xf64>
    %73 = "chlo.erf"(%72) : (tensor<2xf64>) -> tensor<2xf64>
      "stablehlo.return"(%71, %73) : (tensor<i32>, tensor<2xf64>) -> ()
    }) : (tensor<i32>, tensor<2xf64>) -> (tensor<i32>, tensor<2xf64>)
    %74 = "stablehlo.reshape"(%69#1) : (tensor<2xf64>) -> tensor<1x2xf64>
    %75 = "stablehlo.dynamic_update_slice"(%r58_1, %74, %r58_0, %4) : (tensor<3x2xf64>, tensor<1x2xf64>, tensor<i32>, tensor<i32>) -> tensor<3x2xf64>
    %76 = "stablehlo.rsqrt"(%r58_2) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      "stablehlo.return"(%61, %75, %76) : (tensor<i32>, tensor<3x2xf64>, tensor<3x2xf64>) -> ()
    }) : (tensor<i32>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<i32>, tensor<3x2xf64>, tensor<3x2xf64>)
    %77 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x2xi64>
    %78:2 = "stablehlo.sort"(%58#2, %77) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>, %i: tensor<i64>, %j: tensor<i64>):
      %more = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %a = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %b = "stablehlo.compare"(%y, %y) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %c = "stablehlo.and"(%a, %b) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %d = "stablehlo.or"(%more, %c) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%d) : (tensor<i1>) -> ()
    }) : (tensor<3x2xf64>, tensor<3x2xi64>) -> (tensor<3x2xf64>, tensor<3x2xi64>)
    %79 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi64>
    %80:2 = "stablehlo.sort"(%50, %79) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>, %i: tensor<i64>, %j: tensor<i64>):
      %more = "stablehlo.compare"(%y, %x) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%more) : (tensor<i1>) -> ()
    }) : (tensor<3xi32>, tensor<3xi64>) -> (tensor<3xi32>, tensor<3xi64>)
    %81 = "stablehlo.scatter"(%58#1, %50, %78#0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      "stablehlo.return"(%y) : (tensor<f64>) -> ()
    }) : (tensor<3x2xf64>, tensor<3xi32>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %82 = "stablehlo.scatter"(%81, %80#0, %78#0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      %z = "stablehlo.add"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%z) : (tensor<f64>) -> ()
    }) : (tensor<3x2xf64>, tensor<3xi32>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %83 = "stablehlo.bitcast_convert"(%82) : (tensor<3x2xf64>) -> tensor<3x2xi64>
    %84 = "stablehlo.convert"(%83) : (tensor<3x2xi64>) -> tensor<3x2xui64>
    %85 = "stablehlo.convert"(%78#1) : (tensor<3x2xi64>) -> tensor<3x2xui64>
    %86 = "stablehlo.compare"(%84, %85) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<3x2xui64>, tensor<3x2xui64>) -> tensor<3x2xi1>
    %87 = "stablehlo.constant"() <{value = dense<[[true, false]]> : tensor<1x2xi1>}> : () -> tensor<1x2xi1>
    // a.onnx: end
    %88 = "stablehlo.broadcast_in_dim"(%87) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2xi1>) -> tensor<3x2xi1>
    %89 = "stablehlo.and"(%86, %88) : (tensor<3x2xi1>, tensor<3x2xi1>) -> tensor<3x2xi1>
    %90 = "stablehlo.constant"() <{value = dense<> : tensor<0x2xi8>}> : () -> tensor<0x2xi8>
    "func.return"(%3, %30, %54, %82, %89, %90) : (tensor<1x3x5x2xi64>, tensor<1x5x5x4xi32>, tensor<2x6xi32>, tensor<3x2xf64>, tensor<3x2xi1>, tensor<0x2xi8>) -> ()
  }) : () -> ()
}) : () -> ()
