// What a consensus session and the match that it is about say to each other.
import type { Label } from '../../kernel/label/label.ts'
import type { QuorumPolicy } from '../quorum-policy/quorum-policy.ts'

/** A session about a match. The same id again is the same session. */
export type MatchSession = {
  readonly id: string
  readonly tenant_id: string
  readonly label: Label
  readonly lens_id: string
  readonly lens_version: string
  readonly subject: {
    readonly kind: 'entity_match'
    readonly left: string
    readonly right: string
    readonly correlation_id: string
  }
  readonly policy: QuorumPolicy
  readonly invite: readonly string[]
}

/** What such a session decided, or that it was withdrawn. `tenant_id`: of the session. `seq`: a higher one is newer. */
export type SessionRuling = {
  readonly correlation_id: string
  readonly tenant_id: string
  readonly session_id: string
  readonly seq: number
  readonly event: 'ratified' | 'retracted'
  readonly at: string
  /** None of a session that was withdrawn before it decided. */
  readonly decision?: 'match' | 'non_match' | undefined
  readonly score: number | null
  readonly attested: boolean
  readonly evidence_block_id?: string | undefined
}
