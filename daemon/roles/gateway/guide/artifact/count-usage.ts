// How often an artifact was attached to a trace, and held back by a cap, by its lineage.
import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { lineageEvents } from '../lineage/model.ts'
import { newestFirst } from '../lineage/rules.ts'

export const usageFields = {
  attached_count: z.int().optional().meta({ description: 'With usage; at least this often where it is large' }),
  capped_count: z.int().optional().meta({ description: 'With usage; at least this often where it is large' }),
}

/** Bounded in time, however long the lineage is. */
export async function countUsage(call: Call, artifact_id: string) {
  const count = async (kind: 'attached' | 'capped') => {
    const query = { filter: { kind, artifact_id }, order: newestFirst, limit: 1 }
    return (await call.store(lineageEvents).page(query)).total
  }
  return { attached_count: await count('attached'), capped_count: await count('capped') }
}
