// A text of blanks in any field of any operation is stored or refused, and never an error of the service.

import { expect, onTestFinished, test } from 'vitest'
import { routedOperations } from '../../support/every-operation/routed-operations.ts'
import { createSampledFixture } from '../../support/every-operation/sampled-fixture.ts'
import { isAcceptedInput, sendOperation } from '../../support/every-operation/send-operation.ts'

type JsonObject = Record<string, unknown>

/** The value once for each of its texts, with this text blank. The first item of a list stands for the others, which have its form. */
function* withBlanks(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield '   '
  else if (Array.isArray(value)) {
    for (const changed of withBlanks(value[0])) yield value.with(0, changed)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      for (const changed of withBlanks(each)) yield { ...value, [name]: changed }
    }
  }
}

test('blanks in a field are never answered 500', async () => {
  const { world, inputs } = await createSampledFixture(
    [],
    routedOperations.map(({ address }) => address),
  )
  onTestFinished(() => world.site.close())
  const failed: string[] = []
  const counts = { sent: 0, refused: 0 }
  for (const target of routedOperations.filter(({ operation }) => !operation.streams)) {
    const input = (inputs.get(target.address)?.input ?? {}) as JsonObject
    const absent = Object.keys(target.operation.input.shape).filter((name) => !(name in input))
    for (const changed of [...withBlanks(input), ...absent.map((name) => ({ ...input, [name]: '   ' }))]) {
      // What the schema refuses comes no further.
      if (!isAcceptedInput(target.operation, changed as JsonObject)) {
        counts.refused += 1
        continue
      }
      const { status } = await sendOperation(world, target, changed as JsonObject, { token: world.admin })
      counts.sent += 1
      if (status >= 500 && status !== 503) failed.push(`${target.address} ${status} ${JSON.stringify(changed)}`)
    }
  }
  expect(counts.refused).toBeGreaterThan(200)
  expect(counts.sent).toBeGreaterThan(100)
  expect(failed).toEqual([])
}, 300_000)
