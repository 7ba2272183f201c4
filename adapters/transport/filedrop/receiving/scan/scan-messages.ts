// Scans the incoming messages in sequence order: in batches, except for those that need separate handling.
import { setImmediate as othersTurn } from 'node:timers/promises'
import type { MessageKind } from '../../../../../daemon/kernel/messaging/message-kind.ts'
import { releaseBytes } from '../../files/dropped-file.ts'
import { matchWaiver } from '../../quarantine/release.ts'
import type { IncomingMessageHandler } from '../batch/deliver-batch.ts'
import { verifyBatch } from '../batch/judge-batch.ts'
import type { MessageCandidate } from '../batch/message-candidate.ts'
import { receiveBatch } from '../batch/receive-batch.ts'
import { guardFile } from '../guard-file.ts'
import { type ReceiveContext, type ScanContext, withTrace } from '../scan-context.ts'
import { collectMessage, isWholeInWork } from './collect-message.ts'
import { holdIfBehindGap, quarantineIfPoison } from './held-messages.ts'
import type { IncomingItem } from './incoming-files.ts'
import { finishHalfMessage } from './unrecognized-files.ts'

/** Largest batch of one commit. The bytes of the files bound the memory. */
const max_batch_messages = 128
const max_batch_bytes = 8 * 1_048_576

/** Items between two turns of the event loop: some milliseconds of work. */
const items_per_turn = 64

export type MessageScanOptions = Pick<ScanContext, 'held' | 'deferred' | 'waiting' | 'roles' | 'isStopped'> & {
  readonly receiverOf: (kind: MessageKind) => string
  readonly deliver: IncomingMessageHandler
  /** The channel as it stands now; undefined when nothing may be taken in. */
  readonly currentContext: () => Promise<ScanContext | undefined>
  /** Whether it is as incomplete as before, and need not be opened; the call also marks it as seen by this scan. */
  readonly isStillIncomplete: (item: IncomingItem) => boolean
  /** Called for a message that is not complete. */
  readonly noteIncomplete: (item: IncomingItem) => void
}

/** False when it ended early, or something failed: the rest is left where it lies, for the next one. */
export async function scanMessages(items: Iterable<IncomingItem>, options: MessageScanOptions): Promise<boolean> {
  return await new MessageScan(options).run(items)
}

type VerifyingBatch = {
  readonly batch: readonly MessageCandidate[]
  readonly context: ScanContext
  readonly verified: Promise<void>
}

/** While one batch is taken in, the signatures of the next are verified by other threads. */
class MessageScan {
  readonly #options: MessageScanOptions
  #context: ScanContext | undefined
  #batch: MessageCandidate[] = []
  #bytes = 0
  #verifying: VerifyingBatch | undefined
  #mayOvertake = true
  #isOver = false

  constructor(options: MessageScanOptions) {
    this.#options = options
  }

  async run(items: Iterable<IncomingItem>): Promise<boolean> {
    const isThrough = await this.#gather(items)
    await this.#finishAll()
    return isThrough && this.#mayOvertake && !this.#isOver
  }

  async #gather(items: Iterable<IncomingItem>): Promise<boolean> {
    let looked = 0
    for (const item of items) {
      if (++looked % items_per_turn === 0) await othersTurn()
      if (this.#options.isStopped()) return false
      if (this.#options.isStillIncomplete(item)) continue
      if (this.#isBlocked(item)) {
        this.#options.deferred.add(item.stem)
        continue
      }
      if (this.#isAlone(item)) await this.#finishAll()
      else if (this.#batch.length >= max_batch_messages || this.#bytes >= max_batch_bytes) await this.#begin()
      if (this.#isOver) return false
      this.#context ??= await this.#options.currentContext()
      if (!this.#context) return false
      await this.#take(item, withTrace(this.#context))
    }
    return true
  }

  /** Halves, and what lingers in `work`, are seen to when all before them is done. */
  #isAlone(item: IncomingItem): boolean {
    return !hasBothParts(item) || this.#isNewInWork(item) || this.#isProbe(item)
  }

  /** It lay in `work` before this process began: it may have ended the one before. */
  #isNewInWork(item: IncomingItem): boolean {
    return isWholeInWork(item) && !this.#options.deferred.has(item.stem)
  }

  /** The role that a message in `work` waits for; undefined for one that waits for another message. */
  #roleOf(item: IncomingItem): string | undefined {
    if (!isWholeInWork(item)) return undefined
    const { waiting, held, receiverOf } = this.#options
    const entry = waiting.received.get(item.stem)
    return waiting.aside.get(item.stem)?.role ?? (entry && !held.has(item.stem) ? receiverOf(entry.kind) : undefined)
  }

  /** The first that waits for a role shows whether the role takes messages: it need not be tried with all of them. */
  #isProbe(item: IncomingItem): boolean {
    const role = this.#roleOf(item)
    return role !== undefined && this.#options.roles.get(role) !== 'up'
  }

  #isBlocked(item: IncomingItem): boolean {
    const state = this.#options.roles.get(this.#roleOf(item) ?? '')
    return state === 'down' || (state === 'absent' && this.#options.waiting.aside.has(item.stem))
  }

  async #take(item: IncomingItem, context: ReceiveContext): Promise<void> {
    const found = await guardFile(context, item.stem, () => this.#look(item, context))
    if (found === undefined) await this.#fail(item)
    else if (found === 'wait') this.#options.noteIncomplete(item)
    else if (found !== 'done') await this.#add(found)
  }

  async #look(item: IncomingItem, context: ReceiveContext): Promise<MessageCandidate | 'wait' | 'done'> {
    if (!hasBothParts(item)) return await finishHalfMessage(item, context)
    if (!this.#isNewInWork(item)) return collectMessage(item, context)
    const wasHeld = context.held.has(item.stem) || context.early.has(item.stem)
    if (await holdIfBehindGap(item, context)) return 'done'
    if (!wasHeld && (await quarantineIfPoison(item, context))) return 'done'
    return collectMessage(item, context, !wasHeld)
  }

  async #add(candidate: MessageCandidate): Promise<void> {
    const { item, context, examination } = candidate
    const waiver = matchWaiver(examination, context.waivers.get(item.stem))
    if (waiver) examination.waiver = waiver
    if (changesTrust(candidate)) return await this.#addAlone(candidate)
    const { envelope, body } = examination
    for (const file of [envelope, body]) if ('bytes' in file) this.#bytes += file.bytes.length
    this.#batch.push(candidate)
    // In a batch of its own, what it brings about is laid to no other.
    if (candidate.isSuspect || this.#isProbe(item)) await this.#finishAll()
  }

  /** Its content affects the messages behind it, and is affected by those before. */
  async #addAlone(candidate: MessageCandidate): Promise<void> {
    await this.#finishAll()
    this.#context = this.#isOver ? undefined : await this.#options.currentContext()
    if (!this.#context) return void candidate.context.deferred.add(candidate.item.stem)
    this.#batch.push({ ...candidate, context: withTrace(this.#context) })
    await this.#finishAll()
  }

  /** Begins the batch that was gathered, and finishes the one that was begun before. */
  async #begin(): Promise<void> {
    const [batch, context, before] = [this.#batch, this.#context, this.#verifying]
    this.#batch = []
    this.#bytes = 0
    this.#context = undefined
    this.#verifying = context && batch.length > 0 ? { batch, context, verified: verifyBatch(batch) } : undefined
    if (before) await this.#finish(before)
  }

  async #finishAll(): Promise<void> {
    await this.#begin()
    await this.#begin()
  }

  async #finish({ batch, context, verified }: VerifyingBatch): Promise<void> {
    const [first] = batch
    await verified
    if (!first || this.#isOver) return deferBatch(batch)
    const { deliver } = this.#options
    const take = () => receiveBatch(batch, context, deliver, this.#mayOvertake)
    const taken = await guardFile(first.context, first.item.stem, take, () => deferBatch(batch))
    for (const { examination } of batch) releaseBytes(examination.body)
    if (!taken || taken.hasFailed) this.#mayOvertake = false
    if (taken?.end) this.#isOver = true
  }

  /**
   * It is tried again with the next scan. Ordered messages behind it must not overtake it: one that the ledger lacks is
   * missing anyway, and one that it has ended holds nothing up.
   */
  async #fail({ stem }: IncomingItem): Promise<void> {
    await this.#finishAll()
    const { received, aside } = this.#options.waiting
    if (received.has(stem) || aside.has(stem)) this.#mayOvertake = false
  }
}

/** Unverified: a false claim is refused, and delays only its own message. */
function changesTrust({ examination }: MessageCandidate): boolean {
  return examination.claims?.kind === 'keys'
}

function deferBatch(batch: readonly MessageCandidate[]): void {
  for (const { item, context } of batch) context.deferred.add(item.stem)
}

function hasBothParts({ env, body }: IncomingItem): boolean {
  return env !== undefined && body !== undefined
}
