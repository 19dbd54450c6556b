# Embeds text files in a program. Writes <folder>.inc with one std::string_view for each file, for example kPageCss for
# page/page.css.
#
# embed_texts(TARGET FOLDER FILES...)    if one of the files changes, <folder>.inc is written again
function(embed_texts target folder)
  set(constants "")
  foreach(name IN LISTS ARGN)
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(FIND "${text}" ")embedded\"" ends_early)
    string(LENGTH "${text}" length)
    # A raw string literal ends at its delimiter, so the text must not contain it. With -Wpedantic, clang warns about
    # string literals of more than 65,536 characters.
    if(NOT ends_early EQUAL -1 OR length GREATER 65000)
      message(FATAL_ERROR "${file} cannot be embedded: it is too long, or has the mark that ends a literal")
    endif()
    set(constant k)
    string(REGEX MATCHALL "[A-Za-z0-9]+" words ${name})
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND constant ${first}${rest})
    endforeach()
    string(APPEND constants "inline constexpr std::string_view ${constant} = R\"embedded(${text})embedded\";\n")
  endforeach()
  cmake_path(GET folder FILENAME stem)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${stem}.inc CONTENT "@constants@" @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
