// The catalog of operators as authors of effects read it, and what a wrong name answers.
import { expect, test } from 'vitest'
import { operator } from '../../../daemon/roles/ingest/effect/operator.ts'
import { operators } from '../../../daemon/roles/ingest/effect/operators.ts'
import { operators as catalog } from '../../../daemon/roles/ingest/operator/catalog.ts'
import { setUpIngestSite } from './ingest-site.ts'

const site = setUpIngestSite()

test('the list has each operator of the catalog, and one has the schemas of its parameters', async () => {
  const ann = await site().as()
  const { items } = await ann.ok(operators, {})
  expect(items.map(({ name }) => name)).toEqual(catalog.map(({ name }) => name))
  for (const { name } of items) {
    const shown = await ann.ok(operator, { operator_name: name })
    expect(shown).toMatchObject({ name, compose: { type: 'object' }, runtime: { type: 'object' } })
  }
  const { compose } = await ann.ok(operator, { operator_name: 'ingest_file' })
  expect(compose).toMatchObject({ required: ['file'], properties: { file: { minLength: 1, maxLength: 1_024 } } })
})

test('an unknown operator is not found, whatever its name', async () => {
  const ann = await site().as()
  for (const operator_name of ['ingest_nothing', '__proto__', 'constructor', 'x'.repeat(256)])
    expect(await ann.refusal(operator, { operator_name })).toBe('not_found')
})
