// The values that one scan of a channel works with, and the trace that begins with each message.
import type { Waiver } from '../../../../daemon/kernel/messaging/journal.ts'
import { newTrace, type Trace } from '../../../../daemon/kernel/telemetry/trace.ts'
import type { MessageDestination, SenderTrust } from '../checks/message-checks.ts'
import type { MessageExamination } from '../checks/message-examination.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'
import type { SilenceAlarm } from './gaps/silence-alarm.ts'

/** Everything that one scan of a channel works with, as it stands for one batch. */
export type ScanContext = {
  readonly link: FiledropLink
  readonly filedrop: FiledropContext
  readonly trust: SenderTrust
  readonly destination: MessageDestination
  /** The channel's. */
  readonly epoch: number
  /** Ordered messages that wait in `work` behind a gap, by stem. */
  readonly held: Set<string>
  /** Messages that wait in `work` for the announcement of their epoch, by stem. */
  readonly early: Set<string>
  /** In `work` for no fault of their own since this process began: their being there counts as no attempt. */
  readonly deferred: Set<string>
  /** What people let pass, by stem. */
  readonly waivers: ReadonlyMap<string, Waiver>
  readonly isStopped: () => boolean
  readonly freeze: (detail: string, examination: MessageExamination, trace: Trace) => Promise<void>
  /** Told of each item added to the quarantine. */
  readonly noteQuarantined: (bytes: number) => void
  /** Told of each batch whose fates are decided. */
  readonly noteActivity: SilenceAlarm['noteActivity']
  /** Told of each accident. */
  readonly noteFailure: () => void
}

/** The same for one message, or one stray file, that the scan takes up: a trace begins with each. */
export type ReceiveContext = ScanContext & { readonly trace: Trace }

/** What is needed to tell of something that is put away. */
export type QuarantineReportContext = Pick<ReceiveContext, 'link' | 'filedrop' | 'trace'>

export function withTrace(context: ScanContext): ReceiveContext {
  return { ...context, trace: newTrace(context.filedrop.random) }
}
