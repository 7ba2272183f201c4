// Takes an exchange as far as it goes now: says what is due, waits for what is not here, and settles what was learnt.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { settings } from '../settings.ts'
import { agreeTo } from './agreeing.ts'
import { sitesOf } from './agreement.ts'
import { overBudget } from './budget.ts'
import { changeExchange } from './change.ts'
import { completed, endedEarly } from './ending.ts'
import { settle } from './learning.ts'
import { exchanges, isOver, type StoredExchange } from './model.ts'
import { lensOf } from './own-data.ts'
import { dropPieces, piecesOf } from './pieces.ts'
import { planOf } from './plan.ts'
import { type Material, prepare } from './preparing.ts'
import { endRun, follow, openRunOf } from './run-of-exchange.ts'
import { sayAgreed, sayEnded, sayProposal, sayRound } from './saying.ts'
import { standingFor } from './standing.ts'

/** Ends when nothing more can be done before something is heard. Throws what may pass, and the exchange is taken up again. */
export async function advance(call: Call, id: string): Promise<void> {
  for (;;) {
    const doc = await call.store(exchanges).find(id)
    if (!doc || doc.value.owes === 0 || call.signal.aborted) return
    const moved = await outcome(call, doc)
    if (isRefused(moved)) await fail(call, doc, moved)
    else if (moved === 'waits') await rest(call, doc)
  }
}

type Moved = 'moved' | 'waits'

/** A refusal that no repeat would change is how the exchange ends. */
async function outcome(call: Call, doc: Doc<StoredExchange>): Promise<Moved | Refused> {
  try {
    if (isOver(doc.value)) return await cleanUp(call, doc)
    return doc.value.state === 'proposed' ? await negotiate(call, doc) : await oneStep(call, doc)
  } catch (error) {
    if (isRefused(error) && !error.row.retryable) return error
    throw error
  }
}

/** The linker first: a party must find it ready. */
async function negotiate(call: Call, doc: Doc<StoredExchange>): Promise<Moved | Refused> {
  const { agreement, part, agreed, keys } = doc.value
  if (part !== 'proposer') return await byProfile(call, doc)
  const [, other] = agreement.parties
  const linker = sitesOf(agreement).find((site) => !agreement.parties.includes(site))
  if (linker !== undefined && !agreed.includes(linker)) {
    await sayProposal(call, doc, linker)
    return 'waits'
  }
  if (!agreed.includes(other)) {
    await sayProposal(call, doc, other)
    return 'waits'
  }
  const isKeyed = agreement.privacy !== 'clk' || keys[other] !== undefined
  if (!isKeyed) return refuse('invalid', `${other} gave no public key`)
  return await changed(call, doc.id, 'agreed', (current) =>
    current.state === 'proposed' ? { ...current, state: 'running', owes: 1, updated_at: call.nowIso() } : current,
  )
}

/** What the profile agrees to needs nobody; the rest waits for a person. */
async function byProfile(call: Call, doc: Doc<StoredExchange>): Promise<Moved> {
  const standing = standingFor(call.settings(settings).agreements, doc.value)
  if (!standing) return 'waits'
  const done = await agreeTo(call, doc, standing.file === undefined ? undefined : { file: standing.file })
  if (!isRefused(done)) return 'moved'
  const { trace_id } = call.trace
  call.log.warn('resolution.exchange.not-agreed', { trace_id, exchange: doc.id, code: done.code, detail: done.message })
  return 'waits'
}

async function oneStep(call: Call, doc: Doc<StoredExchange>): Promise<Moved | Refused> {
  const { agreement, tenant_id, part, step: at, is_granted } = doc.value
  if (!is_granted) return await grant(call, doc)
  const self = call.site.name
  const plan = planOf(agreement, self)
  const lens = await lensOf(call, tenant_id, agreement)
  const isParty = agreement.parties.includes(self)
  if (isParty && isRefused(lens)) return lens
  const step = plan[at]
  if (!step) {
    return await changed(call, doc.id, 'completed', (current) =>
      isOver(current) ? current : completed(current, call.nowIso()),
    )
  }
  if (at === 0 && part !== 'proposer') await sayAgreed(call, doc)
  if (isParty && !isRefused(lens)) {
    const ended = (await openRunOf(call, doc, lens)) ?? (await follow(call, doc, plan))
    if (ended) return ended
  }
  // A linker sees no records, and needs no lens for what it does.
  const given: Material = { call, doc, lens: isRefused(lens) ? noLens : lens.value.body }
  if (step.do === 'await' && !(await piecesOf(call, doc.id, step.from, step.round))) return 'waits'
  if (step.do === 'send') {
    const refused = await prepare(given, step.round)
    if (refused) return refused
    await sayRound(call, doc, step.round, step.to)
  }
  if (step.do === 'find') {
    const refused = await settle(given)
    if (refused) return refused
  }
  return await changed(call, doc.id, 'step', (current) =>
    current.state === 'running' && current.step === at
      ? { ...current, step: at + 1, updated_at: call.nowIso() }
      : current,
  )
}

/** Before a word of it goes out: what many have agreed to side by side is one budget. */
async function grant(call: Call, { id, value }: Doc<StoredExchange>): Promise<Moved | Refused> {
  const refused = await overBudget(call, value)
  if (refused) return refused
  return await changed(call, id, 'granted', (current) =>
    current.state === 'running' ? { ...current, is_granted: true } : current,
  )
}

const noLens: Material['lens'] = {
  lens: 'none',
  version: '1.0.0',
  entity_type: 'none',
  told_by: 'fields',
  id_field: 'id',
  fields: [],
  text_evidence: 0,
  blocking: 'automatic',
  null_penalty: 0,
  max_block: 1_000,
  link_only: false,
}

async function cleanUp(call: Call, doc: Doc<StoredExchange>): Promise<Moved | Refused> {
  for (const site of doc.value.to_tell) await sayEnded(call, doc, site)
  if (doc.value.state !== 'completed') await endRun(call, doc)
  await dropPieces(call, doc.id)
  return await changed(call, doc.id, 'over', (current) => ({ ...current, to_tell: [], owes: 0 }))
}

async function changed(
  call: Call,
  id: string,
  verb: string,
  rule: (current: StoredExchange) => StoredExchange,
): Promise<Moved | Refused> {
  const done = await changeExchange(call, id, `resolution.exchange.${verb}`, rule)
  return isRefused(done) ? done : 'moved'
}

async function fail(call: Call, { id }: Doc<StoredExchange>, { code, message }: Refused): Promise<void> {
  const self = call.site.name
  const at = call.nowIso()
  // A run that a person has ended ends the exchange; it is no failure.
  const state = code === 'wrong_state' ? 'cancelled' : 'failed'
  const failure = { code: state === 'cancelled' ? state : code, reason: message }
  const { trace_id } = call.trace
  call.log.warn('resolution.exchange.ended', { trace_id, exchange: id, code, detail: message })
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
