/* Head of every .def: rows that the expansion does not want vanish. No guard on purpose. */
#ifndef ENUMERATION
#define ENUMERATION(...)
#endif
#ifndef GROUP
#define GROUP(...)
#endif
#ifndef ENTITY
#define ENTITY(...)
#endif
#ifndef EXAMPLE
#define EXAMPLE(...)
#endif
#ifndef OPERATION
#define OPERATION(...)
#endif
#ifndef RULE
#define RULE(...)
#endif
