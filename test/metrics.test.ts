// Metrics hold no text of a caller: each label is declared, and after a request to every operation only declared values show.
import { expect, onTestFinished, test } from 'vitest'
import { product } from '../adapters/platform/product/product.ts'
import { linkMetrics } from '../daemon/boot/links/transports.ts'
import { builtInMetrics } from '../daemon/boot/service.ts'
import { everyOperation, everyRole } from '../daemon/every-role.ts'
import { isLabelValue } from '../daemon/kernel/telemetry/metrics.ts'
import { messageKinds } from '../daemon/message-kinds.ts'
import { routedServices } from '../daemon/shared/routing/routed-services.ts'
import { routedOperations } from './support/every-operation/routed-operations.ts'
import { createSampledFixture } from './support/every-operation/sampled-fixture.ts'
import { isAcceptedInput, sendOperation } from './support/every-operation/send-operation.ts'

const declared = [...everyRole.flatMap((role) => role.metrics), ...builtInMetrics, ...linkMetrics]
/** Labels whose values are names of operations, listeners, services, tools and kinds of messages, or names that an operator pins. */
const namedLabels = new Set([
  'operation',
  'listener',
  'service',
  'kind',
  'transport',
  'peer',
  'of',
  'version',
  'folder',
  'guardrail',
  'tool',
  'scope',
])

test('each label of each metric has a closed set of values, or is one of few that hold declared names', () => {
  for (const { name, labels } of declared) {
    for (const [label, values] of Object.entries(labels)) {
      if (values === 'names') expect([...namedLabels], `${name} has the label ${label}`).toContain(label)
      else if (values === 'status') expect(label, name).toBe('status')
      else
        expect(
          values.filter((value) => !/^[A-Za-z_0-9]{2,32}$/.test(value)),
          `${name}{${label}}`,
        ).toEqual([])
    }
  }
})

test('after a request to every operation with text in each field, no metric shows any of it', async () => {
  const { world, inputs } = await createSampledFixture(
    [],
    everyOperation.map(({ address }) => address),
  )
  onTestFinished(() => world.site.close())
  const text = 'text-of-a-caller'
  for (const target of routedOperations.filter(({ operation }) => operation.streams !== true)) {
    const input = inputs.get(target.address)?.input ?? {}
    await sendOperation(world, target, input, { token: world.admin })
    const changed = Object.keys(target.operation.input.shape).map((field) => ({ ...input, [field]: text }))
    // One that the schema refuses stands for all of them: no code of the operation sees it.
    const refused = changed.find((each) => !isAcceptedInput(target.operation, each))
    const accepted = changed.filter((each) => isAcceptedInput(target.operation, each))
    for (const each of [...accepted, ...(refused ? [refused] : [])]) {
      await sendOperation(world, target, each, { token: world.admin })
    }
  }
  const names = new Set<string>([
    ...everyOperation.map(({ address }) => address),
    ...messageKinds.names,
    ...everyRole.flatMap(({ name }) => [`${name}:tcp`, `${name}:socket`, `${name}:internal`]),
    ...['tool-service', 'edge:http', ...routedServices.map(({ name }) => name)],
    product.version,
    // Peers and carriers of the stage.
    ...['other', 'none', 'alpha', 'bravo', 'charlie', 'delta', 'echo', 'filedrop'],
    // Subscribers of guidance.
    ...['l1', 'l2'],
  ])
  let series = 0
  for (const { name: role, metrics } of everyRole) {
    const exposed = await world.site.request(role, { method: 'GET', path: '/metrics', token: world.admin })
    expect(exposed.text).not.toContain(text)
    const known = new Map([...metrics, ...builtInMetrics, ...linkMetrics].map((each) => [each.name, each.labels]))
    for (const [, metric = '', , labels = ''] of exposed.text.matchAll(/^(\w+?)(_bucket|_sum|_count)?\{(.*)\} /gm)) {
      const values = known.get(metric)
      if (!values) continue
      for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
        if (label === 'le') continue
        series += 1
        expect(isLabelValue(values[label as never] ?? [], value), `${metric} ${label}="${value}"`).toBe(true)
        if (values[label as never] === 'names') expect([...names], `${metric} ${label}`).toContain(value)
      }
    }
  }
  expect(series).toBeGreaterThan(100)
}, 120_000)
