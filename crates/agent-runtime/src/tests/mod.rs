//! The machine by tables of what goes in and what comes out, and by its invariants.

mod decisions;
mod invariants;
mod rules;
mod sim;
mod stops;
mod stored;
mod turns;
