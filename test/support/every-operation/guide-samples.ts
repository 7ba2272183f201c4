// Good requests to the guidance layer: observations that the walker has seeded, and snapshots of their graphs.
import { randomBytes } from 'node:crypto'
import type { OperationFixture } from './operation-fixture.ts'
import type { OperationSample, OperationSamples } from './operation-samples.ts'

const buildObservation = () => ({
  ...{ event_type: 'tool_output', trace_id: randomBytes(16).toString('hex'), service: 'sample-service' },
  ...{ timestamp: '2026-03-02T12:00:00Z', payload: { tool: 'list', inputs: {}, outputs: {} } },
})

async function postJson({ site, admin: token }: OperationFixture, path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  return (await site.request('gateway', { method: 'POST', path, token, headers, body: JSON.stringify(body) })).json
}

async function seededSample(stage: OperationFixture): Promise<OperationSample> {
  const { memory_id } = (await postJson(stage, '/api/v1/guide/memories', buildObservation())) as { memory_id: string }
  return { input: { id: memory_id } }
}

const graph_id = 'outcome_graph'
const graphSample = (): OperationSample => ({ input: { graph_id }, isTenants: false })

async function rollbackSample(stage: OperationFixture): Promise<OperationSample> {
  await seededSample(stage)
  const { snapshots } = (await postJson(stage, `/api/v1/guide/graphs/${graph_id}/snapshot`, {})) as {
    snapshots: { snapshot_id: string }[]
  }
  const input = { graph_id, snapshot_id: snapshots[0]?.snapshot_id, rationale: 'as a sample' }
  return { input, isTenants: false }
}

export const guideSamples: OperationSamples = {
  'gateway.guide.observation.record': () => ({ input: { observations: [buildObservation()] } }),
  'gateway.guide.memory.seed': () => ({ input: buildObservation() }),
  'gateway.guide.memory.get': seededSample,
  async 'gateway.guide.memory.edit'(stage) {
    return { input: { ...(await seededSample(stage)).input, tags: ['sample'], notes: 'looked at' } }
  },
  'gateway.guide.memory.forget': seededSample,
  'gateway.guide.graph.get': graphSample,
  'gateway.guide.graph.snapshot': graphSample,
  'gateway.guide.graph.rollback': rollbackSample,
}
