// The dependencies and settings of the carrier. Its caller provides all of them.
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { PublicKey, Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import type { Peers } from '../../../daemon/kernel/identity/peer.ts'
import type { LabelPolicy } from '../../../daemon/kernel/label/label.ts'
import type { CarriedCheckpoint } from '../../../daemon/kernel/messaging/inventory.ts'
import type { Journal } from '../../../daemon/kernel/messaging/journal.ts'
import type { MessageKind, MessageKinds } from '../../../daemon/kernel/messaging/message-kind.ts'
import type { StatementFormat } from '../../../daemon/kernel/messaging/statement-format.ts'
import type { Sandbox } from '../../../daemon/kernel/sandbox/sandbox.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import type { ReportThrottle } from '../../../daemon/kernel/telemetry/report-throttle.ts'
import type { BodyScanner } from '../../platform/body-scanner/body-scanner.ts'
import type { FiledropFaultHook } from './fault-points.ts'
import type { PurgeOrders } from './quarantine/purge-orders.ts'
import type { ParcelClaims, PeerLock } from './sending/handover/parcel-claims.ts'
import type { FiledropSettings, FiledropSettingsInput } from './settings.ts'

export type FiledropOptions = {
  /** This site's name. */
  readonly site: string
  readonly tenant_id: string
  /** Names by which this site counts for releasability, besides its tenant (its nationality, say). */
  readonly releasable_names?: readonly string[]
  /** The folder with one folder per peer. */
  readonly root: string
  readonly peers: Peers
  readonly signatures: Signatures
  readonly journal: Journal
  readonly label_policy: LabelPolicy
  /** The kinds of messages that the site knows. */
  readonly kinds: MessageKinds
  /** Versions of the statement that are read and written (default: all, of these kinds). */
  readonly formats?: readonly StatementFormat[]
  /** The newest signed head of each audit chain of this site, for inventories to carry (default: none). */
  readonly checkpoints?: () => Promise<readonly CarriedCheckpoint[]>
  /** By peer, the interval of acknowledgements of its messages (default: never). */
  readonly acknowledgements?: AcknowledgementSchedule
  /** Whether acknowledgements may go to the peer, and come from it (default: never). */
  readonly isAccredited?: (peer: string) => boolean
  readonly clock: {
    /** Epoch milliseconds. */
    now(): number
    /** Milliseconds of a clock that never jumps. */
    monotonic(): number
  }
  /** The role that takes messages of a kind; messages for different roles do not wait for each other (default: one). */
  readonly receiverOf?: (kind: MessageKind) => string
  /** `bytes` random bytes as lower-case hexadecimal. */
  readonly random: (bytes: number) => string
  readonly log: Log
  /** Events of the audit chain that go with no entry of the journal; durable when it resolves. */
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly metrics: Pick<Metrics, 'count' | 'set'>
  readonly settings?: FiledropSettingsInput
  /** This site's root keys, as peers have pinned them, and how many must sign (default: those among `signatures`). */
  readonly roots?: () => SiteRootKeys
  /** Lock against other processes that must know of active messages (default: none). */
  readonly hold?: PeerLock
  /** Where the scanner of the settings runs (required with one). */
  readonly sandbox?: Sandbox
  /** Fault injection: called at each step that a crash may follow (default: none). */
  readonly passFaultPoint?: FiledropFaultHook
}

export type SiteRootKeys = { readonly keys: readonly PublicKey[]; readonly threshold: number }
export type AcknowledgementSchedule = Readonly<Record<string, { readonly every_s: number }>>

export type FiledropContext = Omit<Required<FiledropOptions>, 'settings' | 'sandbox'> & {
  readonly settings: FiledropSettings
  readonly purges: PurgeOrders
  /** Limits log lines that a file can cause at every scan. */
  readonly throttle: ReportThrottle
  readonly claims: ParcelClaims
  /** Called with a peer when a message is ready for it. */
  readonly onPublished: (peer: string) => void
  /** Absent where no command judges bodies. */
  readonly scanner: BodyScanner | undefined
}
