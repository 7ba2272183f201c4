// Chooses the traces that go without an artifact, so that what it does can be measured: the same in every process and at each replay.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'

/** Of the first traces that an artifact is eligible for, so that its effect is soon known; of those after them. */
const first_share = 0.5
const later_share = 0.1
const first_traces = 64

/** `eligible`: traces that the artifact was eligible for before this one. */
export function shareHeldOut(eligible: number): number {
  return eligible < first_traces ? first_share : later_share
}

/** By the digest of trace and artifact: neither callers nor curators choose it, and artifacts are held out independently. */
export function isHeldOut(trace_id: string, artifact_id: string, share: number): boolean {
  const digest = sha256(JSON.stringify([trace_id, artifact_id]))
  return Number.parseInt(digest.slice(0, 12), 16) / 2 ** 48 < share
}
