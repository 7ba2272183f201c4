// Templates of DAGs: what the type of a pipeline may name, and what its content must then be.
import { expect, test } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { template } from '../../../daemon/roles/ingest/datapipeline/template.ts'
import { templates } from '../../../daemon/roles/ingest/datapipeline/templates.ts'
import { operators } from '../../../daemon/roles/ingest/operator/catalog.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const site = setUpIngestSite()

test('there is a template for any DAG, one for each operator that takes data in, and one for journey tests', async () => {
  const ann = await site().as()
  const { items } = await ann.ok(templates, {})
  const sources = operators.filter(({ inputs, makes_dataset }) => inputs.max === 0 && makes_dataset)
  expect(items.map(({ name }) => name)).toEqual(['assembled', ...sources.map(({ name }) => name), 'journey_test'])
  for (const { name, summary } of items) {
    const shown = await ann.ok(template, { template_name: name })
    expect(shown).toMatchObject({ name, summary, schema: { $schema: expect.stringContaining('2020-12') } })
  }
  const { schema } = await ann.ok(template, { template_name: 'ingest_file' })
  const { tasks } = (schema as { properties: { tasks: { prefixItems: [{ properties: Record<string, unknown> }] } } })
    .properties
  expect(tasks.prefixItems[0].properties).toMatchObject({
    ...{ operator: { const: 'ingest_file' }, params: { required: ['file'] } },
  })
  const journey = await ann.ok(template, { template_name: 'journey_test' })
  expect(journey.schema).toMatchObject({ required: ['dag_id', 'hops', 'verifications'] })
  for (const template_name of ['nothing', 'constructor', '__proto__'])
    expect(await ann.refusal(template, { template_name })).toBe('not_found')
})

test('the type of a pipeline names a template, which its content follows', async () => {
  const ann = await site().as()
  const content = ingestContent('typed', 'a.csv')
  expect(await ann.refusal(deploy, { dag_id: 'typed', content, pipeline_type: 'nothing' })).toBe('invalid')
  const { uid } = await ann.ok(deploy, { dag_id: 'typed', content, pipeline_type: 'ingest_file' })
  expect(await waitUntilDeployed(ann, uid)).toMatchObject({ status: 'active', pipeline_type: 'ingest_file' })
  const other = await ann.ok(deploy, {
    ...{ dag_id: 'mistyped', content: ingestContent('mistyped', 'a.csv'), pipeline_type: 'ingest_database' },
  })
  expect(await waitUntilDeployed(ann, other.uid)).toMatchObject({
    status: 'rejected',
    fault: { path: 'tasks.0.operator', reason: expect.stringContaining('as a pipeline of the type ingest_database') },
  })
})
