// The first phase: connections without their secrets, and pipelines that are paused and have no schedule here.
import * as z from 'zod'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ServiceClient } from '../client/client.ts'
import { waitForCheck } from '../client/pipeline-check.ts'
import type { FormerConnection, FormerPipeline } from './former-service.ts'
import type { MigrationRow } from './migration-row.ts'
import {
  type ConnectionStep,
  type CopyPlan,
  findMissingConnections,
  type PipelineStep,
  replaceConnections,
} from './plan.ts'

export function describeCopy({ connections, pipelines }: CopyPlan): MigrationRow[] {
  const uidOf = new Map(connections.map(({ from }) => [from.uid, from.uid]))
  return [...connections.map(describeConnection), ...pipelines.map((step) => describePipeline(step, uidOf))]
}

function describeConnection({ kind, from }: ConnectionStep): MigrationRow {
  const row = { object: 'connection', name: from.name } as const
  if (kind === 'present') return { ...row, action: 'keep', detail: 'is here already', is_open: false }
  return { ...row, action: 'create', detail: describeSecret(from), is_open: false }
}

function describePipeline({ kind, from }: PipelineStep, uidOf: ReadonlyMap<string, string>): MigrationRow {
  const row = { object: 'pipeline', name: from.dag_id } as const
  const [missing] = findMissingConnections(from.content, uidOf)
  if (kind === 'present') return { ...row, action: 'keep', detail: 'is here already', is_open: false }
  if (missing !== undefined)
    return { ...row, action: 'leave', detail: `the connection ${missing} is not in the list`, is_open: true }
  return { ...row, action: 'deploy', detail: 'paused, without schedule', is_open: false }
}

const describeSecret = ({ has_secret }: FormerConnection) =>
  has_secret === false ? 'it has no secret' : 'set its secret here: no service gives secrets out'

export async function copyObjects(api: ServiceClient, { connections, pipelines }: CopyPlan): Promise<MigrationRow[]> {
  const rows: MigrationRow[] = []
  const uidOf = new Map<string, string>()
  for (const step of connections) rows.push(await copyConnection(api, step, uidOf))
  for (const step of pipelines) rows.push(await copyPipeline(api, step, uidOf))
  return rows
}

const created = z.looseObject({
  uid: z.string(),
  test: z.looseObject({ ok: z.boolean(), detail: z.string() }).optional(),
})

async function copyConnection(
  api: ServiceClient,
  step: ConnectionStep,
  uidOf: Map<string, string>,
): Promise<MigrationRow> {
  const row = describeConnection(step)
  if (step.kind === 'present') {
    uidOf.set(step.from.uid, step.uid)
    return row
  }
  const { uid: former, name, conn_type, config, description, classification } = step.from
  const input = { name, conn_type, config, ...(description !== undefined && { description }) }
  const label = toClassification(classification)
  return await orRefusal(row, async () => {
    const made = created.parse(await api.call('ingest.connection.create', { ...input, ...label }))
    uidOf.set(former, made.uid)
    const works = made.test?.ok === true
    return { ...row, action: 'created', detail: works ? 'it works' : describeSecret(step.from), is_open: !works }
  })
}

async function copyPipeline(
  api: ServiceClient,
  step: PipelineStep,
  uidOf: ReadonlyMap<string, string>,
): Promise<MigrationRow> {
  const row = describePipeline(step, uidOf)
  if (row.action !== 'deploy') return row
  const { dag_id, content, description, classification } = step.from
  const input = {
    dag_id,
    content: replaceConnections(content, uidOf),
    ...(description !== undefined && { description }),
  }
  return await orRefusal(row, async () => {
    const { uid } = created.parse(
      await api.call('ingest.datapipeline.deploy', { ...input, ...toClassification(classification) }),
    )
    const { status, fault } = await waitForCheck(api, 'ingest.datapipeline.get', uid)
    const isLive = status === 'active'
    if (isLive) await api.call('ingest.datapipeline.update', { uid, action: 'pause' })
    const detail = isLive ? 'paused, without schedule' : `it is ${status}: ${fault?.reason ?? 'without a reason'}`
    return { ...row, action: 'deployed', detail, is_open: !isLive }
  })
}

function toClassification(label: FormerPipeline['classification']) {
  if (!label) return {}
  const { policy, level, categories, releasable_to } = label
  return { classification: { policy, level, categories, releasable_to } }
}

async function orRefusal(row: MigrationRow, work: () => Promise<MigrationRow>): Promise<MigrationRow> {
  try {
    return await work()
  } catch (error) {
    if (isRefusal(error)) return { ...row, action: 'refused', detail: error.message, is_open: true }
    throw error
  }
}
