// Finds a pipeline by the name of its DAG, as people name it.
import * as z from 'zod'
import { CommandFailure } from '../program/command.ts'
import type { ServiceClient } from './client.ts'
import { fetchAllItems } from './fetch-items.ts'

const pipeline = z.looseObject({
  ...{ uid: z.string(), dag_id: z.string(), status: z.string(), pipeline_type: z.string() },
  fault: z.looseObject({ reason: z.string(), path: z.string().optional(), line: z.int().optional() }).optional(),
})
export type FoundPipeline = z.output<typeof pipeline>

/** The one that the caller may see; undefined where there is none. */
export async function findPipeline(api: ServiceClient, dag_id: string): Promise<FoundPipeline | undefined> {
  const items = z.array(pipeline).parse(await fetchAllItems(api, 'ingest.datapipeline.list', {}))
  return items.find((each) => each.dag_id === dag_id)
}

/** Throws `CommandFailure` (1) where there is none. */
export async function requirePipeline(api: ServiceClient, dag_id: string): Promise<FoundPipeline> {
  const found = await findPipeline(api, dag_id)
  if (found) return found
  throw new CommandFailure(1, `the pipeline ${dag_id} does not exist`, 'list them: platform ingest pipelines')
}

export function parsePipeline(object: unknown): FoundPipeline {
  return pipeline.parse(object)
}
