// SPDX-License-Identifier: Apache-2.0
// A perceptron 4-32-3 with random weights, still to be trained.
module @iris {
  func.func public @main(%x: tensor<1x4xf32>) -> tensor<1x3xf32> {
    %w1 = stablehlo.constant dense<"0xaf3f0c3e08bd6bbe8505ebbeb189f7bef564a03eb354d33edc63da3d25016b3e1eb0323dd0c1de3e8fb7a13e0f99febeb1fdb63edfcdeebecc2a6b3e7710a6be96f2b93e3ed3293d53184dbe2a569ebd1680f1bef15dc0be2bb82e3ed9b8163e084fec3d763aeebd4d92fe3e0d30f63eb8fe3d3eff111a3e2ef8403e2a7de3bda2d4babed7cd623edeb3cf3cf44f42bed01268bcf36ac73ef43ade3e239e11be3b7e923ddf6736be6020c13d9afa25bedcf6ddbd0ad2c73e00b28bbe8b49fc3df1fbd4be5550aa3e8dfe923e5e7185be8bc2c03e5f03e2beeed027be920eb3bef3684bbdd1b7973e44e989be775de5be537ac3bd805c9abed188d1be4e85a43d9a224ebe6d1f303e1dd999bea65ce23e8f200abe86fcc9beed34043e00b4da3e163774bd16c0e83e9a7edab8bc2199bd7832f63d4a7dfd3ef2dbe53eb5a723bd09f5833effe728bb0e20f03c8152923eeac8aebd761c703ed735583eed36dd3e8d27c5bef0826a3e4fd7da3e0694ef3e6a78f8be092fba3e325ff63e7417ea3e34d5b3be67fcf13ea2a5c73e2f0ea53e5ef0a3bc6b0689be17909a3ef2d8d83e8c7b6fbeaf791f3d027c6abd4daedc3e2e42ebbe08936d3e853cea3d187af1be267b603eefcff7be2712843ef709513c8cb3db3e6f2adebe23c1ae3ecfdaddbe346d1fbe8abf8ebdb09fee3ed1e67e3d33ec76be154384be72b7c63ed85a8cbe"> : tensor<4x32xf32>
    %b1 = stablehlo.constant dense<"0x5e3ac0bed2bf58be4a61b03d018e5d3d69929e3ea2b5773d1ca858be6763b2bdc0e0a23ee98a013e3a0ceb3edaba05be2b7f573d555bc03d3a53b23e7e84b5be8277bfbd24e6d13e23f3e9bec239a53e224badbd11dca83e3ce7fabe57310abecebdd7beff461c3e1a9467be06844f3ef139e33ed411bfbe39c4ba3eea8de1be"> : tensor<1x32xf32>
    %w2 = stablehlo.constant dense<"0xaaa92cbd6365cbbc3f2e81bb6f7f2c3e2b9fc73ded668abdeea7a6bdac76033e460c0a3e2713783bdf7b61bde12d333e674585bda4bde5bd379c093ead27e23d3d21733da5f6253e09201a3e49c0b33d7e96023ed715b7bdf3e101be9f46763d82669b3d5614f1bdcd3f17bd4987143eebd5b13c92e2e23c4579ddbdaabc163c9abf073c3ad214be5d7b2e3ea4c8ce3cf6b232be4b6bc53d93262d3e4d25023d7f9082bdc244e2bd63d8793d0dc4dcbd1802e13ce20e143d406a273e45db1abe483321b7d6beb03d7ab6e9bdc01822bdad3f1ebe238ea33d753e15be66ec17bdca3a073e1e7420bc9662153e688bc03d045d163effe406be00631abefb8e1bbe1e8a053e7127423df8de9ebadf9ef3bdc8977b3dfdc483bd7eb1983d7fa565bc89142d3b8abdd13d207113bee71be43cae39dbbd661ddf3da83881bb36ed303ed592e5bd7ea1273e20e3d93d021ad9bbde05e33deef0143da9a3603da5c5153e90631dbeb08ef23d86262bbd0ea37cbd57db323e8a9acb3d3094a7bb9417e0bc"> : tensor<32x3xf32>
    %b2 = stablehlo.constant dense<"0x19ae083ec89615be4be9963d"> : tensor<1x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<1x32xf32>
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x32xf32>) -> tensor<1x32xf32>
    %1 = stablehlo.add %0, %b1 : tensor<1x32xf32>
    %2 = stablehlo.maximum %1, %zero : tensor<1x32xf32>
    %3 = stablehlo.dot_general %2, %w2, contracting_dims = [1] x [0] : (tensor<1x32xf32>, tensor<32x3xf32>) -> tensor<1x3xf32>
    %4 = stablehlo.add %3, %b2 : tensor<1x3xf32>
    return %4 : tensor<1x3xf32>
  }
}
