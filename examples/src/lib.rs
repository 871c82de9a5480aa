//! A course in five short programs: see the folder `examples` and its README.
