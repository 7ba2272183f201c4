// The values that one scan of a channel works with, and the trace that begins with each message.
import type { Waiver } from '../../../../daemon/kernel/messaging/journal.ts'
import { newTrace, type Trace } from '../../../../daemon/kernel/telemetry/trace.ts'
import type { MessageDestination, SenderTrust } from '../checks/message-checks.ts'
import type { MessageExamination } from '../checks/message-examination.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'
import type { SilenceAlarm } from './gaps/silence-alarm.ts'
import type { EarlyMessage, RoleState, WaitingMessages } from './waiting/waiting-messages.ts'

/** The context of one scan of a channel. It is renewed for each batch. */
export type ScanContext = {
  readonly link: FiledropLink
  readonly filedrop: FiledropContext
  readonly trust: SenderTrust
  readonly destination: MessageDestination
  /** The open epoch of the channel. */
  readonly epoch: number
  /** Messages of the ledger without an outcome, when the scan began. */
  readonly waiting: WaitingMessages
  /** What this scan has learnt of the roles that take messages. */
  readonly roles: Map<string, RoleState>
  /** Ordered messages that wait in `work` behind a gap, by stem. */
  readonly held: Set<string>
  /** Messages that wait in `work` for the announcement of their epoch, by stem. The ledger does not have them. */
  readonly early: Map<string, EarlyMessage>
  /** Put off by their handler since this process began: their presence in `work` does not count as an attempt. */
  readonly deferred: Set<string>
  /** Waivers that approvers have signed, by stem. */
  readonly waivers: ReadonlyMap<string, Waiver>
  readonly isStopped: () => boolean
  readonly freeze: (detail: string, examination: MessageExamination, trace: Trace) => Promise<void>
  /** Called for each item added to the quarantine. */
  readonly noteQuarantined: (bytes: number) => void
  /** Called for each batch whose dispositions are recorded. */
  readonly noteActivity: SilenceAlarm['noteActivity']
  /** Called for each failure. */
  readonly noteFailure: () => void
}

/** The context of one message or unrecognized file: each begins a trace. */
export type ReceiveContext = ScanContext & { readonly trace: Trace }

/** The values that a quarantine report needs. */
export type QuarantineReportContext = Pick<ReceiveContext, 'link' | 'filedrop' | 'trace'>

export function withTrace(context: ScanContext): ReceiveContext {
  return { ...context, trace: newTrace(context.filedrop.random) }
}
