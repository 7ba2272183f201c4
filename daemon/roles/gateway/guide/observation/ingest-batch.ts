// Stores a batch of what waited in the queue, and applies it to the graphs: with retries, and then to the dead letters.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { computeBackoff_ms, drawChance } from '../../../../kernel/network/backoff.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { memoryKey } from '../graph/plan.ts'
import { closeWork, type GraphTurnTerms, loadHead, openTurn, performWork } from '../graph/turn.ts'
import { guideSettings } from '../settings.ts'
import { ingestPostFailureTotal, ingestWorkerFailureTotal, lastDrainTs } from './metrics.ts'
import { nameService } from './observe.ts'
import { learnerPart, type ObserverParts, observerPart } from './parts.ts'
import { dropRepeats, type IngestedBatch, planBatch, readEnvelope } from './prepare-batch.ts'
import type { EntryOffer } from './queue.ts'
import type { PendingObservation } from './rules.ts'

/** Larger ones take fewer commits; a smaller one is ready sooner after a quiet time. */
export const batch_size = 1_000
/** A batch is written ahead as one document, whose JSON is made in one turn of the event loop, and which a store keeps parsed up to a megabyte. */
export const max_batch_bytes = 600_000

export async function ingestBatch(call: Call, taken: readonly EntryOffer[]): Promise<void> {
  const observer = call.part(observerPart)
  const batch = readEntries(call, observer, taken)
  const { pending } = batch
  if (pending.length === 0) return
  const { attempt } = observer
  const { ingest_worker_retry_attempts: retries } = call.settings(guideSettings)
  for (let tries = 0; ; tries += 1) {
    try {
      return await storeBatch(call, observer, batch, { attempt, isRetry: tries > 0 })
    } catch (error) {
      // The copy in memory may be ahead of the store, or behind it.
      observer.book.clear(call.now())
      if (tries < retries && !call.signal.aborted) {
        await call.wait(computeBackoff_ms(tries + 1, drawChance(call.random)), call.signal)
        continue
      }
      await giveUpWork(call, observer, error)
      return await giveUp(call, observer, pending, error)
    }
  }
}

/** Checks envelopes; those that are wrong are logged and counted, and the others go on. */
function readEntries(call: Call, observer: ObserverParts, taken: readonly EntryOffer[]): IngestedBatch {
  const begun = new Map<string, number>()
  // One line for each request and batch: a line for each observation would cost more than to store it.
  const otherTraces = new Map<string, { readonly trace_id: string; observations: number }>()
  const pending = taken.flatMap(({ entry, service }) => {
    if (entry.kind === 'observation') {
      const { observation, begun_ts } = entry
      if (begun_ts !== undefined) begun.set(memoryKey(observation, observation.trace_id), begun_ts)
      return [observation]
    }
    const read = readEnvelope(entry.envelope, observer.principals)
    if (!('message' in read)) {
      const { trace_id: of_request } = entry.envelope
      if (read.trace_id === of_request) return [read]
      const others = otherTraces.get(of_request) ?? { trace_id: read.trace_id, observations: 0 }
      others.observations += 1
      otherTraces.set(of_request, others)
      return [read]
    }
    observer.stored.invalid += 1
    call.count(ingestPostFailureTotal, { service, kind: 'invalid' })
    const { token_subject } = entry.envelope.emitter
    call.log.warn('gateway.guide.observation.invalid', { ...read, subject: token_subject })
    return []
  })
  for (const [request_trace_id, others] of otherTraces)
    call.log.info('gateway.guide.observation.other_trace', { request_trace_id, ...others })
  return { pending, begun }
}

/** At the end of the process: what still waits goes to the dead letters. */
export async function abandonQueue(call: Call): Promise<void> {
  const observer = call.part(observerPart)
  const { pending } = readEntries(call, observer, observer.queue.take(observer.queue.depth))
  if (pending.length > 0) await giveUp(call, observer, pending, call.signal.reason)
}

/** Stores observations that are durable, and in the graphs, when it resolves. Throws what the store throws. */
export async function storePending(call: Call, pending: readonly PendingObservation[]): Promise<void> {
  const observer = call.part(observerPart)
  try {
    await storeBatch(call, observer, { pending, begun: new Map() }, { attempt: observer.attempt, isRetry: false })
  } catch (error) {
    // The memory of traces and workflows has followed what may not be stored.
    observer.book.clear(call.now())
    throw error
  }
}

async function storeBatch(
  call: Call,
  observer: ObserverParts,
  { pending, begun }: IngestedBatch,
  { attempt, isRetry }: { readonly attempt: string; readonly isRetry: boolean },
): Promise<void> {
  const { ingest_dedup_window_s, ingest_worker_concurrency: concurrency } = call.settings(guideSettings)
  const terms: GraphTurnTerms = { book: observer.book, attempt, concurrency }
  for (;;) {
    const head = await openTurn(call, terms)
    const drafts = await dropRepeats(call, pending, ingest_dedup_window_s * 1_000, isRetry)
    if (drafts.length === 0) return noteStored(call, observer, pending, 0)
    const work = await planBatch(call, observer.book, { pending, begun, drafts }, head.value.seq + 1)
    if (!(await performWork(call, terms, head, work))) {
      // The plan has changed what traces remember.
      observer.book.clear(call.now())
      continue
    }
    noteStored(call, observer, pending, drafts.length)
    if (work.kind === 'observations') {
      const batch = work.observations.map((each) => ({ ...each, version: 1 }))
      call.part(learnerPart).learner?.onStored(batch)
    }
    return
  }
}

function noteStored(
  call: Call,
  { queue, stored }: ObserverParts,
  pending: readonly PendingObservation[],
  fresh: number,
): void {
  const now = call.now()
  stored.observations += fresh
  stored.repeats += pending.length - fresh
  for (const service of new Set(pending.map((each) => nameService(call, each.service)))) {
    queue.last_drain.set(service, now)
    call.set(lastDrainTs, { service }, now / 1_000)
  }
}

/** Work that fails for a reason that no later attempt can change would hold up all further work. */
async function giveUpWork(call: Call, observer: ObserverParts, error: unknown): Promise<void> {
  if (isRefusal(error) || call.signal.aborted) return
  const head = await loadHead(call).catch(() => undefined)
  if (head?.value.state !== 'open') return
  const { seq, work } = head.value
  if (work?.kind === 'observations')
    await giveUp(
      call,
      observer,
      work.observations.map(({ value }) => value),
      error,
    )
  await closeWork(call, seq).catch(() => undefined)
}

async function giveUp(
  call: Call,
  { deadLetters, stored }: ObserverParts,
  pending: readonly PendingObservation[],
  error: unknown,
): Promise<void> {
  stored.failed += pending.length
  for (const { service } of pending) call.count(ingestWorkerFailureTotal, { service: nameService(call, service) })
  const lines = pending.map((each) => JSON.stringify(each))
  const isKept = (await deadLetters?.append(lines).catch(() => false)) ?? false
  call.log.warn('gateway.guide.ingest.given_up', { observations: pending.length, isKept, error })
}
