// The receiving half of a link: one scan at a time over the incoming files, in sequence order.
import { describeFailure } from '../failure-text.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { isTemporaryName } from '../files/message-name.ts'
import { checkChannelState, type FiledropLink } from '../link/filedrop-link.ts'
import { restoreReleased } from '../quarantine/release.ts'
import { fault } from '../quarantine-reasons.ts'
import { type WorkLoop, workLoop } from '../serial-work.ts'
import type { IncomingMessageHandler } from './batch/deliver-batch.ts'
import { noReportedGaps, reportGaps } from './gaps/report-gaps.ts'
import { silenceAlarm } from './gaps/silence-alarm.ts'
import { addToSize, buildScanContext, type IntakeState, quarantineSize } from './intake-state.ts'
import { reportPaused } from './report-paused.ts'
import { quarantineExpired, quarantineItem } from './scan/expired-messages.ts'
import { type IncomingFiles, listIncoming, type UnrecognizedFile } from './scan/incoming-files.ts'
import { IncompleteMessages } from './scan/incomplete-messages.ts'
import { recordLostMessages } from './scan/lost-messages.ts'
import { scanMessages } from './scan/scan-messages.ts'
import { type ScanContext, withTrace } from './scan-context.ts'
import { type Decision, decisionQueue } from './waiting/decision-queue.ts'
import { expireWaiting, listPending, type PendingMessage } from './waiting/end-waiting.ts'
import { findHeld, noWaitingMessages, readWaitingMessages } from './waiting/waiting-messages.ts'

export type Intake = {
  readonly scanLoop: WorkLoop
  /** Lies in quarantine now. */
  quarantined(): { items: number; bytes: number }
  /** Messages that wait now for what was sent before them. */
  held(): number
  /** Messages that wait for missing ones, for an epoch, or for a role, lowest first. */
  pending(): PendingMessage[]
  /** Nothing more is taken in before the quarantine is emptied. */
  isFull(): boolean
  /** Carries a person's decision out before the next scan. Refuses `conflict` while nothing may be taken in. */
  decide<T>(decision: Decision<T>): Promise<T>
  /** Refuses the decisions that no scan will carry out any more. */
  close(): Promise<void>
  /** Something else than a scan has put an item into quarantine. */
  noteQuarantined(bytes: number): void
  /** Something else than a scan has changed what lies there. */
  recount(): void
}

export function intake(link: FiledropLink, filedrop: FiledropContext, deliver: IncomingMessageHandler): Intake {
  const memory: IntakeState = {
    held: new Set(),
    early: new Map(),
    deferred: new Set(),
    waiting: noWaitingMessages(),
    roles: new Map(),
    decisions: decisionQueue(),
    waivers: new Map(),
    quarantine_size: undefined,
    reported_gaps: noReportedGaps(),
    silence: silenceAlarm(link),
    incomplete: new IncompleteMessages(link.folders),
    waitingSince: undefined,
    isStopped: () => false,
    hasFailed: false,
  }
  const scanner = workLoop(
    (isStopped) => {
      memory.isStopped = isStopped
      return scanChannel(link, filedrop, deliver, memory)
    },
    (error) => {
      const detail = describeFailure(error)
      link.trouble.set('in', `a scan failed, and is tried again: ${detail}`)
      filedrop.log.error('filedrop.scan.failed', { peer: link.peer, detail })
    },
  )
  return {
    scanLoop: scanner,
    quarantined: () => quarantineSize(link, memory),
    held: () => memory.held.size + memory.early.size,
    pending: () => listPending(memory),
    decide(decision) {
      const outcome = memory.decisions.add(decision)
      scanner.trigger()
      return outcome
    },
    async close() {
      await memory.decisions.run(undefined)
    },
    isFull: () => isQuarantineFull(link, filedrop, memory),
    noteQuarantined: (bytes) => addToSize(link, memory, bytes),
    recount() {
      memory.quarantine_size = undefined
    },
  }
}

async function scanChannel(
  link: FiledropLink,
  filedrop: FiledropContext,
  deliver: IncomingMessageHandler,
  state: IntakeState,
): Promise<void> {
  state.hasFailed = false
  state.roles.clear()
  await restoreWaived(link, filedrop, state)
  const currentContext = async () => {
    if (state.isStopped() || isQuarantineFull(link, filedrop, state)) return undefined
    const { peer, epoch } = await checkChannelState(link, 'in', filedrop)
    return peer && buildScanContext(link, filedrop, state, peer, epoch)
  }
  const context = await currentContext()
  if (context) await readWaiting(context, state)
  if ((await state.decisions.run(context)) && context) await readWaiting(context, state)
  if (!context || (await pausesForScanner(context))) return
  const incoming = await listIncoming(link.folders)
  const { incomplete } = state
  await recordLostMessages(incoming.items, incomplete, context)
  incomplete.beginScan()
  await sortUnrecognized(incoming.unrecognized, context, state)
  const { held, deferred, waiting, roles, isStopped } = state
  const isThrough = await scanMessages(incoming.items, {
    ...{ held, deferred, waiting, roles, isStopped, deliver, currentContext, receiverOf: filedrop.receiverOf },
    isStillIncomplete: (item) => incomplete.isStillWaiting(item),
    noteIncomplete: (item) => incomplete.enter(item, filedrop.clock.monotonic()),
  })
  await reportGaps(context, state.reported_gaps)
  if (isThrough) await state.silence.check(context)
  if (!isThrough || !(await currentContext())) return
  await expireWaiting(context)
  await recordIncomplete(incoming, context, state)
  if (!state.hasFailed) link.trouble.delete('in')
}

/** Before anything is taken in: a scanner that cannot work shows at the start, and not with the first message. */
async function pausesForScanner(context: ScanContext): Promise<boolean> {
  const fault = await context.filedrop.scanner?.findFault()
  if (fault !== undefined) reportPaused(withTrace(context), fault)
  return fault !== undefined
}

/** From the journal, so that a restart, a restore or a person's decision counts. */
async function readWaiting({ filedrop, destination }: ScanContext, { waiting, held }: IntakeState): Promise<void> {
  Object.assign(waiting, await readWaitingMessages(filedrop.journal, destination.channel))
  held.clear()
  for (const stem of await findHeld(waiting, filedrop, destination.channel)) held.add(stem)
}

/** Before the look at what lies there, and also when the quarantine is full: this is how it is emptied. */
async function restoreWaived(link: FiledropLink, filedrop: FiledropContext, state: IntakeState): Promise<void> {
  if (state.isStopped() || !(await checkChannelState(link, 'in', filedrop)).peer) return
  const { waivers, restored } = await restoreReleased(link, filedrop)
  state.waivers = waivers
  for (const stem of restored) state.deferred.add(stem)
  if (restored.length > 0) state.quarantine_size = undefined
}

/** Records changes in the journal, and gives up messages that have waited too long. */
async function recordIncomplete(
  { items, unrecognized }: IncomingFiles,
  context: ScanContext,
  state: IntakeState,
): Promise<void> {
  const { incomplete } = state
  const { clock, settings } = context.filedrop
  incomplete.endScan()
  const isDue = state.waitingSince !== undefined && clock.now() - state.waitingSince >= settings.truncated_after_ms
  if (!incomplete.hasChanged && !isDue) return
  state.waitingSince = await quarantineExpired(function* () {
    for (const each of unrecognized) if (incomplete.isWaiting(each)) yield each
    for (const each of items) if (incomplete.isWaiting(each)) yield each
  }, context)
  incomplete.hasChanged = context.isStopped()
}

async function sortUnrecognized(
  unrecognized: readonly UnrecognizedFile[],
  context: ScanContext,
  state: IntakeState,
): Promise<void> {
  for (const file of unrecognized) {
    if (state.isStopped() || isQuarantineFull(context.link, context.filedrop, state)) return
    if (isTemporaryName(file.raw_name)) state.incomplete.enterUnrecognized(file)
    else await quarantineItem(file, fault('NAME', 'the file name is not that of a message'), context)
  }
}

/** Back-pressure: rather no intake than a quarantine that fills the disk, or loses what it holds. */
function isQuarantineFull(link: FiledropLink, { settings, log }: FiledropContext, state: IntakeState): boolean {
  const isFullNow = quarantineSize(link, state).bytes >= settings.quarantine_max_bytes
  if (isFullNow && link.trouble.get('in') !== quarantine_full)
    log.error('filedrop.quarantine.full', { peer: link.peer })
  if (isFullNow) link.trouble.set('in', quarantine_full)
  return isFullNow
}

const quarantine_full = 'the quarantine is full; intake stops until it is emptied'
