# SPDX-License-Identifier: Apache-2.0
# Runs a script that makes a block design without Vivado: tclsh blocks.tcl PORTS SCRIPT ARGS. PORTS lists the pins of the
# design, those of interfaces with a * behind the name. Commands are those of AMD's UG835, and take the options that it
# lists; a - behind an option says that a value follows. Cells, pins and connections are remembered: a pin that is not
# there, is connected twice or not at all is an error. Connections are printed.
array set options {
  create_project {-part- -force -in_memory -ip -rtl_kernel} current_project {} update_ip_catalog {-rebuild -repo_path-}
  create_bd_design {-dir- -cell- -mode-} create_bd_cell {-vlnv- -type- -reference-} set_property {-dict-}
  connect_bd_net {-net- -boundary_type-} connect_bd_intf_net {-intf_net- -boundary_type- -auto_interconnect}
  get_bd_pins {-regexp -hierarchical -filter- -of_objects-} get_bd_intf_pins {-regexp -hierarchical -filter- -of_objects-}
  make_bd_intf_pins_external {-name-} assign_bd_address {-target_address_space- -boundary_type- -master_boundary- \
  -external -dict- -offset- -range- -force -import_from_file- -export_to_file-} validate_bd_design {-force -design- \
  -include_pfm} save_bd_design {} make_wrapper {-top -testbench -inst_template -fileset- -import -force -files-}
  get_files {-regexp -filter- -compile_order- -used_in- -references -all -of_objects-} add_files {-fileset- \
  -of_objects- -norecurse -copy_to- -force -scan_for_includes} current_fileset {-constrset -simset -srcset -blockset}
  update_compile_order {-force_gui -fileset-} launch_runs {-jobs- -scripts_only -lsf- -sge- -dir- -to_step- -next_step \
  -host- -remote_cmd- -email_to- -pre_launch_script- -post_launch_script- -custom_script- -force} wait_on_run {-timeout- \
  -exit_condition-} get_runs {-regexp -filter-} get_property {-min -max} write_hw_platform {-fixed -force -include_bit \
  -include_sim_content -minimal -hw -hw_emu -file-} get_msg_config {-id- -severity- -rule -limit -count}
}
# Pins of blocks; a * marks those of interfaces.
array set pins {
  processing_system7 {FCLK_CLK0 FCLK_RESET0_N IRQ_F2P M_AXI_GP0* M_AXI_GP0_ACLK S_AXI_HP0* S_AXI_HP0_ACLK DDR* FIXED_IO*}
  zynq_ultra_ps_e {pl_clk0 pl_resetn0 pl_ps_irq0 M_AXI_HPM0_FPD* maxihpm0_fpd_aclk S_AXI_HP0_FPD* saxihp0_fpd_aclk}
  proc_sys_reset {slowest_sync_clk ext_reset_in peripheral_aresetn}
}
array set free {peripheral_aresetn 1 FCLK_CLK0 1 pl_clk0 1}
set critical 0
set ports [lindex $argv 0]
set script [lindex $argv 1]
set argv [lrange $argv 2 end]
proc demand {what words} { if {!$what} { error "blocks.tcl: $words" } }

# The values of options, and what is left of the arguments.
proc parse {command words} {
  demand [info exists ::options($command)] "no command $command"
  set given {}
  set rest {}
  while {[llength $words] > 0} {
    set words [lassign $words word]
    if {[string match {-[a-z]*} $word]} {
      if {$word in $::options($command)} { dict set given $word 1; continue }
      demand [expr {"$word-" in $::options($command)}] "$command has no option $word"
      demand [expr {[llength $words] > 0}] "$command $word needs a value"
      set words [lassign $words value]
      dict set given $word $value
    } else { lappend rest $word }
  }
  return [list $given $rest]
}

# Pins that appear with settings of a block.
proc configure {cell key value} {
  lassign [list $::kind($cell) [string range $key 7 end]] kind name
  demand [string match CONFIG.* $key] "$key is no setting"
  if {$kind eq "smartconnect" && $name in {NUM_SI NUM_MI}} {
    for {set i 0} {$i < $value} {incr i} { lappend ::has($cell) [format "%s%02d_AXI*" [string index $name 4] $i] }
  } elseif {$kind eq "axi_dma" && $name eq "c_include_mm2s" && $value} {
    lappend ::has($cell) M_AXIS_MM2S* M_AXI_MM2S* m_axi_mm2s_aclk
  } elseif {$kind eq "axi_dma" && $name eq "c_include_s2mm" && $value} {
    lappend ::has($cell) S_AXIS_S2MM* M_AXI_S2MM* m_axi_s2mm_aclk
  } elseif {$kind eq "axi_dma" && [string match *_width $name]} {
    demand [expr {$name in {c_sg_length_width c_addr_width} || $value in {32 64 128 256 512 1024}}] "$name is $value"
  } else {
    demand [expr {[string match PCW_* $name] || [string match PSU__* $name] || [string match c_include_* $name]}] "$kind: $name"
  }
}

proc make {cell vlnv} {
  lassign [split $vlnv :] vendor library kind version
  set ::kind($cell) $kind
  switch -- $kind {
    smartconnect { set ::has($cell) {aclk aresetn} }
    axi_dma { set ::has($cell) {S_AXI_LITE* s_axi_lite_aclk axi_resetn} }
    default {
      set ::has($cell) [expr {[info exists ::pins($kind)] ? $::pins($kind) : $::ports}]
      demand [expr {[info exists ::pins($kind)] || "$vendor:$library:$version" eq "user.org:lathe:1.0"}] "no block $vlnv"
    }
  }
}

proc pin {path mark} {
  lassign [split $path /] cell name
  demand [expr {[info exists ::has($cell)] && "$name$mark" in $::has($cell)}] "no pin $path"
  return $path
}

proc connect {paths} {
  foreach path $paths {
    set name [lindex [split $path /] 1]
    demand [expr {![info exists ::used($path)] || [info exists ::free($name)]}] "$path is connected twice"
    set ::used($path) 1
  }
  puts "connect [join $paths { }]"
}

proc complete {} {
  foreach cell [lsort [array names ::has]] {
    foreach name $::has($cell) {
      set path $cell/[string trimright $name *]
      demand [info exists ::used($path)] "$path is not connected"
    }
  }
}

proc unknown {command args} {
  lassign [parse $command $args] given rest
  switch -- $command {
    create_bd_cell { make [lindex $rest 0] [dict get $given -vlnv]; return [lindex $rest 0] }
    set_property {
      if {[dict exists $given -dict]} {
        foreach {key value} [dict get $given -dict] { configure [lindex $rest 0] $key $value }
      } else { demand [expr {[llength $rest] == 3}] "set_property $rest" }
    }
    get_bd_pins { return [lmap path [lindex $rest 0] { pin $path "" }] }
    get_bd_intf_pins { return [lmap path [lindex $rest 0] { pin $path * }] }
    connect_bd_net { connect [concat {*}$rest] }
    connect_bd_intf_net { demand [expr {[llength $rest] == 2}] "connect_bd_intf_net $rest"; connect $rest }
    make_bd_intf_pins_external { connect $rest }
    validate_bd_design { complete }
    get_msg_config { return $::critical }
    get_property { return 100% }
    default { puts [list $command {*}$args]; return <$command> }
  }
}
source $script
