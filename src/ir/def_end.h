/* Tail of every .def. No guard on purpose. */
#undef ENUMERATION
#undef GROUP
#undef ENTITY
#undef EXAMPLE
#undef OPERATION
#undef RULE
