// One attack of an insider as data, and the stage that it finds.
import { noon } from '../../support/clock/simulated-clock.ts'
import type { AttackedSite } from './attacked-site.ts'
import type { InsiderForgery, InsiderPeer } from './insider-peer.ts'

export type InsiderStage = {
  readonly world: AttackedSite
  readonly peer: InsiderPeer
  /** Hosted by the honest site; the peer is invited and has contributed .9 in its first message. */
  readonly session: string
  /** An honest peer that the attack must not touch. */
  readonly bystander: InsiderPeer
  /** Hosted by the honest site; the bystander alone is invited. */
  readonly bystander_session: string
  /** Hosted by the bystander, which has invited the honest site. */
  readonly followed_session: string
}

export type InsiderAttack = {
  readonly name: string
  readonly act: (stage: InsiderStage) => Promise<unknown>
  /** What lies in the quarantine of the peer’s channel afterwards, as the reason and the code of a refused command. */
  readonly quarantined?: readonly string[]
  /** The channel takes nothing more of this peer. */
  readonly isFrozen?: true
  /** Actions of audit records that name the peer, besides those of the quarantine: `role action`. */
  readonly alarms?: readonly string[]
  /** What must hold besides. */
  readonly holds?: (stage: InsiderStage) => Promise<void>
}

/** The data of a contribution by the peer. */
export function buildOpinion({ peer }: Pick<InsiderStage, 'peer'>, session_id: string, pair_score = 0.9) {
  return { session_id, pair_score, accuracy: 1, credibility: 1, classification: peer.label }
}

/** RFC 3339, this many days from the time of all tests. */
export const formatDays = (days: number) => new Date(noon + days * 86_400_000).toISOString()

/** One more vote in its session, honest in all but this. */
export const contributeWith =
  (change: InsiderForgery, more: Readonly<Record<string, unknown>> = {}) =>
  (stage: InsiderStage) =>
    stage.peer.send('contribution', { ...buildOpinion(stage, stage.session), ...more }, change)

export const sessionPolicy = {
  ...{ m: 2, n: 3, combination_method: 'weighted_average' as const },
  ...{ ratify_threshold: 0.8, conflict_threshold: 0.5 },
}

/** The data of an invitation by the peer. */
export function buildInvitation({ label }: InsiderPeer, session_id: string) {
  const lens = { lens_id: 'lens-1', lens_version: '1' }
  return { session_id, ...lens, policy: sessionPolicy, classification: label }
}

let sessionCount = 0

/** An id in the form that this product makes. */
export function nextSessionId(): string {
  sessionCount += 1
  return `ses_${String(sessionCount).padStart(32, '0')}`
}
