# SPDX-License-Identifier: Apache-2.0
# Reads the sources and memory images that files.f lists. Paths in it are relative to this folder, so that the design may
# be moved and the scripts started from anywhere.
proc read_sources {folder} {
  set list [open [file join $folder files.f]]
  set names [split [string trim [read $list]] \n]
  close $list
  foreach name $names {
    set path [file normalize [file join $folder $name]]
    if {![file exists $path]} {
      error "$path is missing: the folder of the design is incomplete"
    }
    switch -- [file extension $path] {
      .sv { read_verilog -sv $path }
      .v { read_verilog $path }
      .mem { read_mem $path }
      default { error "$path: not a kind of file that Vivado is given" }
    }
  }
}

# Ends Vivado with status 1 after critical warnings, such as a memory image that was not found.
proc stop_if_critical {step} {
  set count [get_msg_config -count -severity {CRITICAL WARNING}]
  if {$count > 0} {
    puts stderr "$step: $count critical warnings"
    exit 1
  }
}

# Marks a folder as one whose content can be made again at any time.
proc make_build_folder {folder} {
  file mkdir $folder
  set tag [open [file join $folder CACHEDIR.TAG] w]
  puts $tag "Signature: 8a477f597d28d172789f06886806bc55"
  close $tag
}
