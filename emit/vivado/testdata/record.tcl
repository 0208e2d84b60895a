# SPDX-License-Identifier: Apache-2.0
# Runs a script for Vivado without Vivado: tclsh record.tcl CRITICAL SCRIPT ARGS. Every command that Tcl does not know
# is printed as a list. get_msg_config answers CRITICAL, other commands their own name in angle brackets, but those that
# ask what is there answer nothing.
set critical [lindex $argv 0]
set script [lindex $argv 1]
set argv [lrange $argv 2 end]
set argc [llength $argv]
proc unknown {args} {
  puts $args
  switch -- [lindex $args 0] {
    get_msg_config { return $::critical }
    ipx::get_bus_interfaces - ipx::get_bus_parameters { return {} }
    default { return <[lindex $args 0]> }
  }
}
source $script
