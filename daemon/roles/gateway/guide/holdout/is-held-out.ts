// Chooses the traces that go without an artifact, so that what it does can be measured: the same in every process of the site.
import { hmacSha256 } from '../../../../kernel/cryptography/hmac-sha256.ts'

/** Traces of the first share, so that the effect of a new artifact is soon known. */
const first_traces = 64

export type HoldoutShares = {
  /** Of the first traces that an artifact is eligible for. */
  readonly first: number
  /** Of those after them. */
  readonly later: number
}

/** `eligible`: traces that the artifact was eligible for before this one. */
export function shareHeldOut(eligible: number, { first, later }: HoldoutShares): number {
  return eligible < first_traces ? first : later
}

/**
 * By a keyed digest of trace and artifact, so that artifacts are held out independently. Callers choose the ids of their traces:
 * without the key they cannot find one that has the artifact, or goes without it.
 */
export function isHeldOut(key: Uint8Array, trace_id: string, artifact_id: string, share: number): boolean {
  const digest = hmacSha256(key, JSON.stringify([trace_id, artifact_id]))
  return Buffer.from(digest.buffer, digest.byteOffset, 6).readUIntBE(0, 6) / 2 ** 48 < share
}
