// Lists changes of all signals of a tenant from a position in the log on, so that another system can follow them.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields } from '../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import type { ListQuery } from '../../../kernel/store/store.ts'
import { copiedEnd } from '../change-log/append-changes.ts'
import { signalChange, signalChanges, signalLogs } from '../change-log/model.ts'
import { objectPaths } from '../object-paths.ts'

export const changes = operation({
  summary: 'List changes of signals from a position in the log on, the oldest first, each once and none missed',
  method: 'GET',
  ...objectPaths('signal', '/changes'),
  tool: 'signal_changes',
  input: z.strictObject({
    limit: listFields.limit,
    since: listFields.cursor.meta({
      description: 'The next_since of an earlier response; absent: from the first change',
    }),
  }),
  output: z
    .strictObject({
      items: z.array(signalChange),
      next_since: z
        .string()
        .optional()
        .meta({ description: 'Position after these changes; absent while there are none' }),
      has_more: z.boolean().meta({ description: 'Whether more changes are available now' }),
    })
    .meta({ id: 'SignalChanges' }),
  errors: [],
  allow: 'intelligence:read',

  async run(call, { limit, since }) {
    const after = parsePlace(call, since)
    if (isRefusal(after)) return after
    const log = await call.store(signalLogs).find(call.caller.tenant_id)
    // Beyond this position, a change may still be inserted between existing ones.
    const place = { lt: log ? copiedEnd(log.value) : '', ...(after === undefined ? {} : { gt: after }) }
    const query = { filter: { place }, order: { field: 'place', direction: 'asc' }, limit, fresh: true } as const
    const { docs, next_cursor } = await call.store(signalChanges).list(query)
    const last = docs.at(-1)?.value.place ?? after
    return {
      items: docs.map(({ value }) => value.change),
      ...(last === undefined
        ? {}
        : { next_since: writeCursor(signalChanges.name, cursorQuery(call), { value: last, id: '' }) }),
      has_more: next_cursor !== undefined,
    }
  },
})

function parsePlace(call: Call, since: string | undefined) {
  if (since === undefined) return undefined
  try {
    const value = readCursor(signalChanges.name, { ...cursorQuery(call), cursor: since })?.value
    if (typeof value === 'string') return value
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  const fault = { path: 'since', message: 'does not belong to this log and clearance' }
  return refuse(
    'malformed',
    'since is not a position in this log for the clearance of the caller: start again without since',
    [fault],
  )
}

/**
 * The cursor is bound to the clearance: a caller whose clearance changed starts again, since it would miss changes
 * hidden before.
 */
function cursorQuery({ caller: { tenant_id, clearance }, site }: Call): ListQuery {
  return { limit: 1, read_scope: { viewer: { tenant_id, clearance }, policy: site.labels } }
}
