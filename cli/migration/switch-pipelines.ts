// The second phase: a pipeline is paused at the former service before it has its schedule here, so that no run happens at both.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ServiceClient } from '../client/client.ts'
import { CommandFailure } from '../program/command.ts'
import type { FormerService } from './former-service.ts'
import type { MigrationRow } from './migration-row.ts'
import type { SwitchStep } from './plan.ts'

const texts: Readonly<Record<SwitchStep['kind'], readonly [action: string, detail: string, is_open: boolean]>> = {
  switch: ['switch', 'pause it there, then schedule and resume it here', false],
  done: ['keep', 'it runs here, and is paused there', false],
  absent: ['leave', 'it is not here: copy it first', true],
  rejected: ['leave', 'its content was rejected here: deploy it in another form', true],
  unclear: ['leave', 'it is paused at both: resume it here if it is to run', true],
}

export function describeSwitch({ kind, from }: SwitchStep): MigrationRow {
  const [action, detail, is_open] = texts[kind]
  const schedule = kind === 'switch' && from.schedule !== null ? `${detail}, ${from.schedule}` : detail
  return { object: 'pipeline', name: from.dag_id, action, detail: schedule, is_open }
}

export async function switchPipelines(
  api: ServiceClient,
  former: FormerService,
  steps: readonly SwitchStep[],
): Promise<MigrationRow[]> {
  const rows: MigrationRow[] = []
  for (const step of steps) rows.push(await switchPipeline(api, former, step))
  return rows
}

async function switchPipeline(api: ServiceClient, former: FormerService, step: SwitchStep): Promise<MigrationRow> {
  const row = describeSwitch(step)
  const { kind, from, present } = step
  if (kind !== 'switch' || !present) return row
  try {
    await former.act(from.uid, 'pause')
  } catch (error) {
    return { ...row, action: 'refused', detail: reasonOf(error), is_open: true }
  }
  try {
    const { schedule, timezone } = from
    if (schedule !== null) await api.call('ingest.datapipeline.update', { uid: present.uid, schedule, timezone })
    await api.call('ingest.datapipeline.update', { uid: present.uid, action: 'unpause' })
    return { ...row, action: 'switched', detail: schedule === null ? 'without schedule' : schedule }
  } catch (error) {
    const detail = `${reasonOf(error)}; ${await giveBack(former, from.uid)}`
    return { ...row, action: 'refused', detail, is_open: true }
  }
}

/** What this site refuses goes on where it ran. */
async function giveBack(former: FormerService, uid: string): Promise<string> {
  try {
    await former.act(uid, 'unpause')
    return 'it runs at the former service again'
  } catch (error) {
    return `it is paused at the former service: ${reasonOf(error)}`
  }
}

/** Throws an error that is neither a refusal nor a failure. */
function reasonOf(error: unknown): string {
  if (isRefusal(error) || error instanceof CommandFailure) return error.message
  throw error
}
