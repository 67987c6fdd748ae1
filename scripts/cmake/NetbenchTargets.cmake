# Targets of the project: one static library a module, one shared object a transport.

# Warnings for the project's own code; errors only where a preset asks for it.
function(netbench_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(NETBENCH_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Standard and third-party headers, compiled once: parsing them is most of what a small file costs.
# Project headers stay out, so that editing one rebuilds no more than before. `owner` compiles them;
# other targets of the same flags take its copy.
set(NETBENCH_COMMON_HEADERS
    <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>)
set(NETBENCH_PRODUCT_HEADERS <fmt/format.h> <fmt/ranges.h> <tl/expected.hpp>)
function(netbench_common_headers target owner)
  if(NOT NETBENCH_PCH)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${NETBENCH_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# netbench_add_module(name DEPS a b …): static library netbench_<name> of every .cpp in this folder,
# included from the top as "bench/<name>/…" or "report/<name>/…". OWN_HEADERS: it is built with other
# flags than the modules of the program, so that it needs its own copy of the common headers.
function(netbench_add_module name)
  cmake_parse_arguments(ARG "OWN_HEADERS" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cpp")
  if(sources)
    add_library(netbench_${name} STATIC ${sources})
    netbench_warnings(netbench_${name})
    if(ARG_OWN_HEADERS)
      netbench_common_headers(netbench_${name} netbench_${name})
    else()
      netbench_common_headers(netbench_${name} netbench_core ${NETBENCH_PRODUCT_HEADERS})
    endif()
    target_include_directories(netbench_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_link_libraries(netbench_${name} PUBLIC ${ARG_DEPS})
  else()
    add_library(netbench_${name} INTERFACE)
    target_include_directories(netbench_${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(netbench_${name} INTERFACE ${ARG_DEPS})
  endif()
  add_library(netbench::${name} ALIAS netbench_${name})
endfunction()

# netbench_add_transport(name [LIBS a b …]): shared object netbench_transport_<name>.so of every .cpp
# in this folder; it exports the entry symbol alone. NETBENCH_TRANSPORT_<NAME> is AUTO, ON or OFF.
function(netbench_add_transport name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  string(TOUPPER ${name} upper)
  set(NETBENCH_TRANSPORT_${upper} AUTO CACHE STRING "Build the ${name} transport: AUTO, ON or OFF")
  if(NETBENCH_TRANSPORT_${upper} STREQUAL "OFF")
    message(STATUS "netbench: transport ${name} off: NETBENCH_TRANSPORT_${upper}=OFF")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "*.cpp")
  if(NOT sources)
    return()
  endif()
  set(target netbench_transport_${name})
  add_library(${target} MODULE ${sources})
  netbench_warnings(${target})
  set_target_properties(${target} PROPERTIES
    PREFIX "" DEFINE_SYMBOL "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/transports"
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/transports/abi/nb_transport.map")
  get_property(owner GLOBAL PROPERTY NETBENCH_TRANSPORT_HEADERS)
  if(NOT owner)
    set(owner ${target})
    set_property(GLOBAL PROPERTY NETBENCH_TRANSPORT_HEADERS ${owner})
  endif()
  netbench_common_headers(${target} ${owner})
  target_link_options(${target} PRIVATE
    "-Wl,--version-script=${PROJECT_SOURCE_DIR}/transports/abi/nb_transport.map")
  target_link_libraries(${target} PRIVATE netbench::sdk Threads::Threads ${ARG_LIBS})
  install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/netbench/transports")
  set_property(GLOBAL APPEND PROPERTY NETBENCH_TRANSPORTS ${target})
  message(STATUS "netbench: transport ${name} on")
endfunction()

# A program of tests. What is tested is optimised; the tests themselves compile twice as fast
# without, and faster again with the test library's header compiled once.
function(netbench_test_program target)
  netbench_warnings(${target})
  target_compile_options(${target} PRIVATE -O0 -g1)
  if(NOT NETBENCH_PCH)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h>)
    return()
  endif()
  get_property(owner GLOBAL PROPERTY NETBENCH_TEST_HEADERS)
  if(NOT owner)
    set(owner ${target})
    set_property(GLOBAL PROPERTY NETBENCH_TEST_HEADERS ${owner})
  endif()
  # fmt's own definitions, so that all test programs are compiled with the same ones.
  target_link_libraries(${target} PRIVATE fmt::fmt)
  netbench_common_headers(${target} ${owner} <gtest/gtest.h>)
endfunction()

# netbench_add_unit_test(name DEPS …): one GoogleTest program of every *_test.cpp in this folder.
function(netbench_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  netbench_test_program(${name}_test)
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX "unit.${name}."
                       PROPERTIES TIMEOUT 300)
endfunction()
