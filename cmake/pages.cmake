# The manual pages of the commands and the completions of shells, which the command prints from its
# tables. A cross build without an emulator has only the page enhope(1).
set(pages_dir ${PROJECT_BINARY_DIR}/pages)
if(NOT ENHOPE_SANITIZE AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  add_custom_command(OUTPUT ${pages_dir}/enhope
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/pages ${pages_dir} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:enhope_command>
    DEPENDS enhope_command ${PROJECT_SOURCE_DIR}/cmake/pages ${PROJECT_SOURCE_DIR}/man/enhope.1
    COMMENT "Writing manual pages and completions"
    VERBATIM)
  add_custom_target(enhope_pages ALL DEPENDS ${pages_dir}/enhope)
  install(DIRECTORY ${pages_dir}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages_dir}/enhope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${pages_dir}/_enhope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${pages_dir}/enhope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
