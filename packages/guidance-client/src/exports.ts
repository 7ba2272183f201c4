// Everything that the package offers.
export type { DropReason, GuidanceClientOptions } from './client-options.ts'
export type { AttachedArtifact, GuidanceBlock } from './guidance-block.ts'
export {
  GuidanceCache,
  type GuidanceContent,
  type IntentContext,
  type SpecText,
  type ToolOverride,
} from './guidance-cache.ts'
export { type ClientCounts, GuidanceClient, type ObservationEnvelope } from './guidance-client.ts'
export { readGuidance, type TakenGuidance, takeGuidance } from './take-guidance.ts'
