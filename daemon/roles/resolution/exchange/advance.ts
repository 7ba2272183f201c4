// Takes an exchange as far as it goes now: says what is due, waits for what is not here, and settles what was learnt.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { runWork } from '../parts.ts'
import { settings } from '../settings.ts'
import { agreeTo } from './agreeing.ts'
import { sitesOf } from './agreement.ts'
import { changeExchange } from './change.ts'
import { endedEarly, type Failure } from './ending.ts'
import { expiryOf } from './expiry.ts'
import { exchanges, isOver, runOf, type StoredExchange } from './model.ts'
import { tooManyOpen } from './open-exchanges.ts'
import { dropPieces } from './pieces.ts'
import { endRun } from './run-of-exchange.ts'
import { sayEnded, sayProposal } from './saying.ts'
import { standingFor } from './standing.ts'
import { changed, type Moved, oneStep } from './step.ts'
import { whileWanted } from './wanted.ts'

/** Ends when nothing more can be done before something is heard. Throws what may pass, and the exchange is taken up again. */
export async function advance(call: Call, id: string): Promise<void> {
  for (;;) {
    const doc = await call.store(exchanges).find(id)
    if (!doc || doc.value.owes === 0 || call.signal.aborted) return
    if (await expire(call, doc)) continue
    const moved = await outcome(call, doc)
    if (isRefused(moved)) await fail(call, doc, moved)
    else if (moved === 'waits') await rest(call, doc)
  }
}

/** Whether the exchange has had its time; then it has failed, and its secret is gone. */
export async function expire(call: Call, { id, value }: Doc<StoredExchange>): Promise<boolean> {
  const failure = isOver(value) ? undefined : expiryOf(value, call.settings(settings), call.now())
  if (!failure) return false
  await end(call, id, 'failed', failure)
  return true
}

/** A refusal that no repeat would change is how the exchange ends; so is work that takes too long. */
async function outcome(call: Call, doc: Doc<StoredExchange>): Promise<Moved | Refused> {
  try {
    if (isOver(doc.value)) return await cleanUp(call, doc)
    const step = doc.value.state === 'proposed' ? negotiate : oneStep
    return await whileWanted(call, doc.id, (signal) => step(call, doc, signal))
  } catch (error) {
    if (isRefused(error) && (!error.row.retryable || error.code === 'timeout')) return error
    throw error
  }
}

/** The linker first: a party must find it ready. */
async function negotiate(call: Call, doc: Doc<StoredExchange>, signal: AbortSignal): Promise<Moved | Refused> {
  const { agreement, part, agreed, keys } = doc.value
  if (part !== 'proposer') return await byProfile(call, doc, signal)
  const [, other] = agreement.parties
  const linker = sitesOf(agreement).find((site) => !agreement.parties.includes(site))
  if (linker !== undefined && !agreed.includes(linker)) return await offer(call, doc, linker)
  if (!agreed.includes(other)) return await offer(call, doc, other)
  const isKeyed = agreement.privacy !== 'clk' || keys[other] !== undefined
  if (!isKeyed) return refuse('invalid', `${other} gave no public key`)
  return await changed(call, doc, 'agreed', (current) =>
    current.state === 'proposed' ? { ...current, state: 'running', owes: 1, updated_at: call.nowIso() } : current,
  )
}

/** Whom it was offered to is known before: who is told of an exchange is told of its end. */
async function offer(call: Call, doc: Doc<StoredExchange>, to: string): Promise<Moved | Refused> {
  const { told = [], tenant_id, peer } = doc.value
  if (told.includes(to)) {
    await sayProposal(call, doc, to)
    return 'waits'
  }
  const refused = told.length === 0 ? await tooManyOpen(call, tenant_id, peer, 1) : undefined
  if (refused) return refused
  return await changed(call, doc, 'offered', (current) => ({ ...current, told: [...told, to] }))
}

/** What the profile agrees to needs nobody; the rest waits for a person. */
async function byProfile(call: Call, doc: Doc<StoredExchange>, signal: AbortSignal): Promise<Moved> {
  const standing = standingFor(call.settings(settings).agreements, doc.value)
  if (!standing) return 'waits'
  const done = await agreeTo(call, doc, standing.file === undefined ? undefined : { file: standing.file }, signal)
  if (!isRefused(done)) return 'moved'
  const { trace_id } = call.trace
  call.log.warn('resolution.exchange.not-agreed', { trace_id, exchange: doc.id, code: done.code, detail: done.message })
  return 'waits'
}

/** What was kept goes before anybody is told: a site that cannot be told must not keep it here. */
async function cleanUp(call: Call, doc: Doc<StoredExchange>): Promise<Moved | Refused> {
  if (doc.value.state !== 'completed') await endRun(call, doc)
  await dropPieces(call, doc.id)
  if (doc.value.state !== 'completed' || doc.value.part === 'linker') await call.part(runWork).drop(runOf(doc.id))
  for (const site of doc.value.to_tell) await sayEnded(call, doc, site)
  return await changed(call, doc, 'over', (current) => ({ ...current, to_tell: [], owes: 0 }))
}

/** A run that a person has ended ends the exchange; it is no failure. */
async function fail(call: Call, { id }: Doc<StoredExchange>, { code, message: reason }: Refused): Promise<void> {
  const isCancelled = code === 'wrong_state'
  await end(call, id, isCancelled ? 'cancelled' : 'failed', { code: isCancelled ? 'cancelled' : code, reason })
}

async function end(call: Call, id: string, state: 'failed' | 'cancelled', failure: Failure): Promise<void> {
  const self = call.site.name
  const at = call.nowIso()
  const { trace_id } = call.trace
  const { code, reason: detail } = failure
  call.log.warn('resolution.exchange.ended', { trace_id, exchange: id, code, detail })
  await changeExchange(call, id, 'resolution.exchange.failed', (current) =>
    isOver(current) ? { ...current, owes: 0 } : endedEarly(current, state, failure, { self, by: self, at }),
  )
}

/** Unless something was heard meanwhile. */
async function rest(call: Call, { id, value }: Doc<StoredExchange>): Promise<void> {
  await changeExchange(call, id, 'resolution.exchange.waits', (current) =>
    current.heard === value.heard && current.state === value.state ? { ...current, owes: 0 } : current,
  )
}
