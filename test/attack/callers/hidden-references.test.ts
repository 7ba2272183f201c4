// A request that names an object above its caller gets the answer for one that does not exist, and changes nothing.

import { expect, onTestFinished, test } from 'vitest'
import { hasBody } from '../../../daemon/kernel/operation/operation.ts'
import { readStoredState } from '../../support/every-operation/read-stored-state.ts'
import { routedOperations } from '../../support/every-operation/routed-operations.ts'
import { createSampledFixture } from '../../support/every-operation/sampled-fixture.ts'
import { sendOperation } from '../../support/every-operation/send-operation.ts'

type JsonObject = Record<string, unknown>

/** Ids as the roles allocate them: a prefix and hexadecimal digits. */
const idPattern = /\b[a-z]{2,6}_[0-9a-f]{12,64}\b/g

/** The id of no object, of the same form. */
function absentId(id: string): string {
  return id.replaceAll(/[0-9a-f]/g, (digit, at: number) =>
    at > id.indexOf('_') ? (15 - Number.parseInt(digit, 16)).toString(16) : digit,
  )
}

/** What a caller can compare: the answer without ids, times and the trace of the request. */
const comparable = ({ status, text }: { status: number; text: string }) => [
  status,
  text
    .replaceAll(idPattern, 'ID')
    .replaceAll(/"instance":"[^"]*"/g, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
]

test('hidden and absent objects get the same answer in every change that names one', async () => {
  const { world, inputs } = await createSampledFixture(
    [],
    routedOperations.map(({ address }) => address),
  )
  onTestFinished(() => world.site.close())
  const token = await world.site.token({ roles: ['admin'] })
  const differing: string[] = []
  let compared = 0
  for (const target of routedOperations.filter(({ operation }) => hasBody(operation.method) && !operation.streams)) {
    const sample = inputs.get(target.address)
    const text = JSON.stringify(sample?.uncleared ?? sample?.input ?? {})
    const ids = [...new Set(text.match(idPattern))]
    if (ids.length === 0) continue
    const absent = ids.reduce((all, id) => all.replaceAll(id, absentId(id)), text)
    const before = await readStoredState(world)
    const hidden = await sendOperation(world, target, JSON.parse(text) as JsonObject, { token })
    if (hidden.status >= 400) expect(await readStoredState(world), target.address).toEqual(before)
    const none = await sendOperation(world, target, JSON.parse(absent) as JsonObject, { token })
    compared += 1
    if (JSON.stringify(comparable(hidden)) !== JSON.stringify(comparable(none)))
      differing.push(`${target.address}: ${comparable(hidden)} / ${comparable(none)}`)
  }
  expect(differing).toEqual([])
  expect(compared).toBeGreaterThan(20)
}, 120_000)
