// Turns rotate over tenants, and over the principals of each.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FairTurns, type WorkOwner } from './fair-turns.ts'

type NumberedWork = WorkOwner & { readonly at: number }

/** Serves all work, with work that arrives later, and returns the order. */
function serveAll(work: readonly NumberedWork[]): NumberedWork[] {
  const turns = new FairTurns()
  const waiting = [...work]
  return work.map(() => {
    const next = turns.take(waiting, (owner) => owner) as NumberedWork
    waiting.splice(waiting.indexOf(next), 1)
    return next
  })
}

const work = (tenant_id: string, subject: string, at: number) => ({ tenant_id, subject, at })

test('fifty works of one tenant do not delay the first of another', () => {
  const flood = Array.from({ length: 50 }, (_, at) => work('a', `person ${at}`, at))
  const order = serveAll([...flood, work('b', 'ann', 50)])
  expect(order[1]).toEqual(work('b', 'ann', 50))
})

test('works of one principal do not delay another of its tenant; those of one are served in order', () => {
  const flood = Array.from({ length: 50 }, (_, at) => work('a', 'ann', at))
  const order = serveAll([...flood, work('a', 'bob', 50)])
  expect(order[1]).toEqual(work('a', 'bob', 50))
  expect(order.filter(({ subject }) => subject === 'ann')).toEqual(flood)
})

test('a tenant that always has one more work waits for the others', () => {
  const turns = new FairTurns()
  const queue = [work('b', 'bob', 0), work('b', 'bob', 1)]
  const served = Array.from({ length: 4 }, (_, at) => {
    const next = turns.take([work('a', 'ann', at), ...queue], (owner) => owner) as NumberedWork
    if (next.tenant_id === 'b') queue.shift()
    return next.tenant_id
  })
  expect(served).toEqual(['a', 'b', 'a', 'b'])
})

test('after n works of a waiting tenant, every other waiting tenant has had n - 1', () => {
  const owners = fc.record({ tenant_id: fc.constantFrom('a', 'b', 'c'), subject: fc.constantFrom('x', 'y') })
  fc.assert(
    fc.property(fc.array(owners, { maxLength: 60 }), (list) => {
      const order = serveAll(list.map((owner, at) => ({ ...owner, at })))
      const counts = new Map<string, number>()
      for (const [turn, { tenant_id }] of order.entries()) {
        counts.set(tenant_id, (counts.get(tenant_id) ?? 0) + 1)
        for (const other of order.slice(turn + 1))
          expect(counts.get(other.tenant_id) ?? 0).toBeGreaterThanOrEqual((counts.get(tenant_id) ?? 0) - 1)
      }
    }),
  )
})
