// Counts how often an artifact was attached, and how often it was held back.
import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { lineageEvents } from '../lineage/model.ts'
import { newestFirst } from '../lineage/rules.ts'
import { artifacts } from './model.ts'

const instant = z.iso.datetime().nullable()

export const stats = operation({
  summary: 'Count how often an artifact of guidance was attached to a trace, and how often a cap held it back',
  method: 'GET',
  path: '/api/v1/guide/artifacts/{artifact_id}/stats',
  input: z.strictObject({ artifact_id: z.string().min(1).max(256) }),
  output: z
    .strictObject({
      artifact_id: z.string(),
      attached_count: z.int(),
      capped_count: z.int(),
      last_attached_at: instant,
      last_capped_at: instant,
    })
    .meta({ id: 'ArtifactStatistics' }),
  errors: ['not_found'],
  allow: 'guide:admin',

  async run(call, { artifact_id }) {
    await call.store(artifacts).get(artifact_id)
    const counts = await call.store(lineageEvents).countBy('kind', { artifact_id })
    return {
      artifact_id,
      attached_count: counts.get('attached') ?? 0,
      capped_count: counts.get('capped') ?? 0,
      last_attached_at: await findLast(call, artifact_id, 'attached'),
      last_capped_at: await findLast(call, artifact_id, 'capped'),
    }
  },
})

async function findLast(call: Call, artifact_id: string, kind: 'attached' | 'capped'): Promise<string | null> {
  const query = { filter: { artifact_id, kind }, order: newestFirst, limit: 1 }
  const { docs } = await call.store(lineageEvents).list(query)
  const [last] = docs
  return last ? new Date(last.value.create_ts).toISOString() : null
}
