//! The steps that come with the engine, one file each.

mod drop_empty;
mod history_truncation;
mod media_notes;
mod merge_adjacent;
mod output_contract;
mod pair_calls;
mod request_block;
mod skill_text;
mod stage_instruction;
mod system_role;
mod today;
mod upstream_outputs;

pub use drop_empty::DropEmpty;
pub use history_truncation::HistoryTruncation;
pub use media_notes::MediaNotes;
pub use merge_adjacent::MergeAdjacent;
pub use output_contract::OutputContract;
pub use pair_calls::PairCalls;
pub use request_block::RequestBlock;
pub use skill_text::SkillText;
pub use stage_instruction::StageInstruction;
pub use system_role::SystemRole;
pub use today::Today;
pub use upstream_outputs::UpstreamOutputs;

pub use crate::fit::Fit;
