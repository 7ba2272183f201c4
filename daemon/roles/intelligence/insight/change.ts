// Changes an insight by a pure rule: decide, store with its audit record, have the relay pay what is owed.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { signals } from '../signal/model.ts'
import { changesFor } from '../signal/rules.ts'
import { insights, type StoredInsight } from './model.ts'
import type { Standings } from './rules.ts'

type Rule = (current: StoredInsight) => StoredInsight | Refused

/**
 * The same value back is no change. `action`: what the audit calls it, for whoever pays what somebody else decided.
 * Throws what the store refuses: not_found, not_your_tenant, precondition_failed.
 */
export async function changeInsight(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: Rule,
  action = call.address,
): Promise<Doc<StoredInsight> | Refused> {
  const done = await changed(call, uid, detail, rule, action)
  return isRefused(done.answer) ? done.answer : done.doc
}

/** The same for a rule that asks where all linked signals stand; one that is taken out at this very moment is taken out later. */
export async function changeByStandings(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: (current: StoredInsight, standings: Standings) => StoredInsight | Refused,
  action = call.address,
): Promise<Doc<StoredInsight> | Refused> {
  let standings: Standings = new Map()
  const asked = (current: StoredInsight) =>
    current.links.every(({ signal_id }) => standings.has(signal_id)) ? rule(current, standings) : 'again'
  for (;;) {
    const { doc, answer } = await changed(call, uid, detail, asked, action)
    if (answer !== 'again') return isRefused(answer) ? answer : doc
    standings = await standingsOf(call, doc.value)
  }
}

async function changed(
  call: Call,
  uid: string,
  detail: Readonly<Record<string, unknown>>,
  rule: (current: StoredInsight) => StoredInsight | Refused | 'again',
  action = call.address,
) {
  const done = await call.store(insights).update<Refused | 'again' | undefined>(uid, ({ value }) => {
    const next = rule(value)
    if (next === 'again' || isRefused(next)) return { answer: next }
    if (next === value) return { answer: undefined }
    const said = { ...detail, from: value.state, to: next.state }
    const event = { ...call.audited(action, uid, said, value.label), tenant_id: value.tenant_id }
    return { next, answer: undefined, audit: [event] }
  })
  if (done.answer === undefined && done.doc.value.owes) call.wake('relay')
  return done
}

/** Who sees the insight sees all of them: its label holds theirs. */
async function standingsOf(call: Call, { label, links }: StoredInsight): Promise<Standings> {
  const found = await Promise.all(links.map(({ signal_id }) => call.store(signals).get(signal_id)))
  return new Map(
    found.map(({ id, value }) => {
      const { status, merge } = value
      return [id, { status, merged_into: merge?.into, steps: changesFor(value, label, call.site.labels) }]
    }),
  )
}
