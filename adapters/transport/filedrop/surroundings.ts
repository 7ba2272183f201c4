// What the carrier is given by whoever starts it: nothing here is made, found or guessed by the carrier itself.
import type { AuditEvent } from '../../../daemon/kernel/audit.ts'
import type { Log } from '../../../daemon/kernel/call.ts'
import type { Journal } from '../../../daemon/kernel/journal.ts'
import type { Signatures } from '../../../daemon/kernel/keys.ts'
import type { LabelPolicy } from '../../../daemon/kernel/label.ts'
import type { Metrics } from '../../../daemon/kernel/metrics.ts'
import type { Peers } from '../../../daemon/kernel/peer.ts'
import type { FiledropSettings, GivenSettings } from './settings.ts'

export type FiledropOptions = {
  /** This site's name. */
  readonly site: string
  readonly tenant_id: string
  /** What this site counts as for releasability, besides its tenant (its nationality, say). */
  readonly releasable_names?: readonly string[]
  /** The folder with one folder per peer. */
  readonly root: string
  readonly peers: Peers
  readonly signatures: Signatures
  readonly journal: Journal
  readonly label_policy: LabelPolicy
  readonly clock: {
    /** Epoch milliseconds. */
    now(): number
    /** Milliseconds of a clock that never jumps. */
    monotonic(): number
  }
  /** `bytes` random bytes as lower-case hexadecimal. */
  readonly random: (bytes: number) => string
  readonly log: Log
  /** Events of the audit chain that go with no entry of the journal; durable when it resolves. */
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly metrics: Pick<Metrics, 'count' | 'set'>
  readonly settings?: GivenSettings
}

export type Surroundings = Omit<FiledropOptions, 'settings' | 'releasable_names'> & {
  readonly settings: FiledropSettings
  readonly releasable_names: readonly string[]
}
