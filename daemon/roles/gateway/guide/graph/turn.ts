// The turn of a process at the graphs: it finishes work that was begun, catches up, and begins work of its own.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { observations } from '../observation/model.ts'
import type { GraphBook } from './graph-book.ts'
import { type GraphHead, type GraphWork, graphHeads, head_id } from './head-model.ts'
import { restoreGraph } from './restore-graph.ts'

export type TurnCall = Pick<Call, 'store' | 'now' | 'pause' | 'wait' | 'signal' | 'site'>

/** Of another process, which is then taken to have crashed: its work is done once more, which harms nothing. */
const patience_ms = 1_000
const look_ms = 50
const bulk_size = 100

type HeadDoc = Doc<GraphHead & { readonly attempt: string; readonly opened_ts: number }>

export type GraphTurnTerms = {
  readonly book: GraphBook
  /** Of this process. */
  readonly attempt: string
  /** Bulk writes of observations at once. */
  readonly concurrency: number
}

/** The head, whose work is done; the graphs in memory are those of the store then. Throws what the store throws. */
export async function openTurn(call: TurnCall, terms: GraphTurnTerms): Promise<HeadDoc> {
  let waited_ms = 0
  let version = 0
  for (;;) {
    const head = await loadHead(call)
    if (head.value.state === 'done') {
      await terms.book.catchUp(call, head.value.seq)
      return head
    }
    if (head.version !== version) waited_ms = 0
    version = head.version
    if (head.value.attempt !== terms.attempt && waited_ms < patience_ms && !call.signal.aborted) {
      await call.wait(look_ms, call.signal)
      waited_ms += look_ms
      continue
    }
    await finishWork(call, terms, head)
    // Its observations may belong to traces that this process remembers.
    if (head.value.attempt !== terms.attempt) terms.book.forgetTraces(call.now())
  }
}

/** Begins and finishes the work in the next turn. False: another process was faster, and the work must be planned again. */
export async function performWork(
  call: TurnCall,
  terms: GraphTurnTerms,
  head: HeadDoc,
  work: GraphWork,
): Promise<boolean> {
  const { doc, answer } = await call.store(graphHeads).update(head_id, ({ version, value }) =>
    version === head.version
      ? {
          next: {
            ...value,
            ...{ seq: head.value.seq + 1, state: 'open', attempt: terms.attempt, opened_ts: call.now(), work },
          },
          answer: true,
        }
      : { answer: false },
  )
  if (!answer) return false
  await finishWork(call, terms, doc)
  return true
}

/** The head as it is stored, which is made where it is missing. */
export async function loadHead(call: Pick<Call, 'store' | 'now' | 'site'>): Promise<HeadDoc> {
  const store = call.store(graphHeads)
  const found = await store.find(head_id)
  if (found) return found
  const { tenant_id } = call.site
  await store.create(head_id, { tenant_id, seq: 0, state: 'done', attempt: '', opened_ts: call.now(), work: null })
  return store.get(head_id)
}

/** Does open work, which may have been done in part: every step finds what it has done before. */
async function finishWork(call: TurnCall, terms: GraphTurnTerms, { value: head }: HeadDoc): Promise<void> {
  const { book } = terms
  const { seq, work } = head
  await book.catchUp(call, seq - 1)
  if (work?.kind === 'observations') {
    // In any order, since all of it is written ahead: what waits together shares a commit. None may go on after a failure.
    const done = await Promise.allSettled([storeObservations(call, terms, work), book.apply(call, work, seq)])
    for (const each of done) if (each.status === 'rejected') throw each.reason
  } else if (work?.kind === 'rollback') await restoreGraph(call, book, work, seq)
  await closeWork(call, seq)
  book.seq = seq
}

/** The work with this number is done, or given up. */
export async function closeWork(call: Pick<Call, 'store'>, seq: number): Promise<void> {
  await call
    .store(graphHeads)
    .update(head_id, ({ value }) =>
      value.seq === seq && value.state === 'open'
        ? { next: { ...value, state: 'done', work: null }, answer: undefined }
        : { answer: undefined },
    )
}

async function storeObservations(
  call: TurnCall,
  { concurrency }: GraphTurnTerms,
  { observations: all }: Extract<GraphWork, { kind: 'observations' }>,
): Promise<void> {
  const store = call.store(observations)
  let next = 0
  const writeChunks = async () => {
    while (next < all.length) {
      const chunk = all.slice(next, next + bulk_size)
      next += bulk_size
      // `exists`: it was stored before a crash.
      await store.bulk(chunk.map(({ id, value }) => ({ do: 'create', id, value })))
      await call.pause()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, writeChunks))
}
