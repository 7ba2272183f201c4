// Lists changes of the entities of a lens from a position in the log on, so that another system can follow them.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields } from '../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import type { ListQuery } from '../../../kernel/store/store.ts'
import { shortText } from '../fields.ts'
import { settings } from '../settings.ts'
import { copiedEnd } from './append-changes.ts'
import { type EntityChangeLog, entityChange, entityChangeLogs, entityChanges } from './model.ts'
import { batchOf, quietPosition, retainedDays } from './recorded-changes.ts'
import { countChangesOfPage, showChanges } from './show-changes.ts'

const day_ms = 86_400_000

export const list = operation({
  summary: 'List changes of entities from a position in the log on, the oldest first, each once and none missed',
  method: 'GET',
  path: '/api/v2/entity_change',
  tool: 'entity_change_list',
  input: z.strictObject({
    lens: shortText.meta({ description: 'Name of the lens' }),
    limit: listFields.limit,
    since: listFields.cursor.meta({
      description: 'The next_since of an earlier response; absent: from the oldest change that is kept',
    }),
  }),
  output: z
    .strictObject({
      items: z.array(entityChange),
      next_since: z.string().meta({
        description: 'Position after these changes; it advances also while there are none that the caller may see',
      }),
      has_more: z.boolean().meta({ description: 'Whether more changes are available now' }),
    })
    .meta({ id: 'EntityChangeFeed' }),
  errors: ['wrong_state'],
  allow: 'resolution:read',

  async run(call, { lens, limit, since }) {
    const log = (await call.store(entityChangeLogs).find(call.caller.tenant_id))?.value
    const after = readPosition(call, lens, since, log)
    if (isRefusal(after)) return after
    // Beyond this position, a change may still be inserted between existing ones.
    const place = { lt: log ? copiedEnd(log) : '', ...(after === undefined ? {} : { gt: after }) }
    const query = { filter: { lens, place }, order: { field: 'place', direction: 'asc' }, limit, fresh: true } as const
    const { docs, next_cursor } = await call.store(entityChanges).list(query)
    const found = docs.map(({ value }) => value)
    const page = found.slice(0, countChangesOfPage(found))
    const items = await showChanges(call, page)
    const has_more = next_cursor !== undefined || page.length < found.length
    const reached = [after ?? '', page.at(-1)?.place ?? '', has_more ? '' : quietPosition(log, call.now())]
    return { items, next_since: writePosition(call, lens, reached.sort().at(-1) ?? ''), has_more }
  },
})

function writePosition(call: Call, lens: string, value: string): string {
  return writeCursor(entityChanges.name, positionQuery(call, lens), { value, id: '' })
}

function readPosition(
  call: Call,
  lens: string,
  since: string | undefined,
  log: EntityChangeLog | undefined,
): string | undefined | Refusal {
  if (since === undefined) return undefined
  const position = parsePosition(call, lens, since)
  if (position === undefined) {
    const fault = { path: 'since', message: 'does not belong to this log and clearance' }
    const remedy = 'start again without since'
    return refuse('malformed', `since is not a position in this log for the clearance of the caller: ${remedy}`, [
      fault,
    ])
  }
  const batch = batchOf(position)
  // Changes that were logged under a shorter setting are gone earlier than the setting of now says.
  const days = retainedDays(log ?? {}, batch, call.settings(settings).change_days)
  const isPassed = (log?.settled ?? 0) > batch
  if (!isPassed || call.now() - batch <= days * day_ms) return position
  return refuse(
    'wrong_state',
    `since is older than ${days} days, and later changes are no longer kept: list the clusters, and start again without since`,
  )
}

function parsePosition(call: Call, lens: string, since: string): string | undefined {
  try {
    const value = readCursor(entityChanges.name, { ...positionQuery(call, lens), cursor: since })?.value
    return typeof value === 'string' ? value : undefined
  } catch (error) {
    if (!isRefusal(error)) throw error
    return undefined
  }
}

/**
 * A position is bound to the lens and the clearance: a caller whose clearance changed starts again, since it would miss
 * changes that were hidden before.
 */
function positionQuery({ caller: { tenant_id, clearance }, site }: Call, lens: string): ListQuery {
  return { filter: { lens }, limit: 1, read_scope: { viewer: { tenant_id, clearance }, policy: site.labels } }
}
