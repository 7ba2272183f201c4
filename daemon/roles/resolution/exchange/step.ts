// Does one step of an exchange that is agreed: waits for a round, prepares and sends one, or settles what was learnt.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { Lens } from '../lens/model.ts'
import { overBudget } from './budget.ts'
import { changeExchange } from './change.ts'
import { hasCome } from './coming.ts'
import { completed } from './ending.ts'
import { settle } from './learning.ts'
import { isOver, type StoredExchange } from './model.ts'
import { lensOf } from './own-data.ts'
import { piecesOf } from './pieces.ts'
import { planOf, type Step } from './plan.ts'
import { type Material, prepare } from './preparing.ts'
import { follow, openRunOf } from './run-of-exchange.ts'
import { sayAgreed, sayRound } from './saying.ts'

export type Moved = 'moved' | 'waits'

/** Times that a step is begun: one that takes the whole process down must not do so for ever. */
const most_attempts = 3

/** `signal`: aborted when the exchange is wanted no more. */
export async function oneStep(call: Call, doc: Doc<StoredExchange>, signal: AbortSignal): Promise<Moved | Refused> {
  const { agreement, tenant_id, part, step: at, is_granted } = doc.value
  if (!is_granted) return await grant(call, doc)
  const self = call.site.name
  const plan = planOf(agreement, self)
  const lens = await lensOf(call, tenant_id, agreement)
  const isParty = agreement.parties.includes(self)
  if (isParty && isRefused(lens)) return lens
  const step = plan[at]
  if (!step) {
    return await changed(call, doc, 'completed', (current) =>
      isOver(current) ? current : completed(current, call.nowIso()),
    )
  }
  if (at === 0 && part !== 'proposer') await sayAgreed(call, doc)
  if (isParty && !isRefused(lens)) {
    const ended = (await openRunOf(call, doc, lens)) ?? (await follow(call, doc, plan))
    if (ended) return ended
  }
  if (step.do === 'await' && !(await isHere(call, doc, step))) return 'waits'
  // A linker sees no records, and needs no lens for what it does.
  const given: Material = { call, doc, signal, lens: isRefused(lens) ? noLens : lens.value.body }
  const refused = await carriedOut(given, step)
  if (isRefused(refused)) return refused
  return await changed(call, doc, 'step', (current) =>
    current.state === 'running' && current.step === at
      ? { ...current, step: at + 1, attempts: 0, updated_at: call.nowIso() }
      : current,
  )
}

async function isHere(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  { from, round }: Extract<Step, { do: 'await' }>,
): Promise<boolean> {
  return hasCome(value, from, round) && (await piecesOf(call, id, from, round)) !== undefined
}

async function carriedOut(given: Material, step: Step): Promise<Refused | undefined> {
  const { call, doc } = given
  if (step.do === 'await') return undefined
  const begun = await begin(call, doc)
  if (isRefused(begun)) return begun
  let isDone = false
  try {
    const refused = step.do === 'send' ? await prepare(given, step.round) : await settle(given)
    if (refused) return refused
    if (step.do === 'send') await sayRound(call, doc, step.round, step.to)
    isDone = true
    return undefined
  } finally {
    // What counts is how often the whole process ended, and not an orderly stop or a store that was away.
    if (!isDone) await changed(call, doc, 'put-aside', (current) => ({ ...current, attempts: 0 }))
  }
}

function begin(call: Call, doc: Doc<StoredExchange>) {
  return changed(call, doc, 'begun', (current) => {
    const { attempts = 0 } = current
    if (attempts >= most_attempts) return refuse('internal', `the service ended ${most_attempts} times in this step`)
    return { ...current, attempts: attempts + 1 }
  })
}

/** Before a word of it goes out: what many have agreed to side by side is one budget. */
async function grant(call: Call, doc: Doc<StoredExchange>): Promise<Moved | Refused> {
  const refused = await overBudget(call, doc.value)
  if (refused) return refused
  return await changed(call, doc, 'granted', (current) =>
    current.state === 'running' ? { ...current, is_granted: true } : current,
  )
}

export async function changed(
  call: Call,
  { id }: Doc<StoredExchange>,
  verb: string,
  rule: (current: StoredExchange) => StoredExchange | Refused,
): Promise<Moved | Refused> {
  const done = await changeExchange(call, id, `resolution.exchange.${verb}`, rule)
  return isRefused(done) ? done : 'moved'
}

const noLens: Lens = {
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
