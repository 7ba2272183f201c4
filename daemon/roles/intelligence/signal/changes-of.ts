// Lists the changes of one signal, the oldest first.

import { dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type SignalChange, signalChange, signalChanges } from '../change-log/model.ts'
import { changeId } from '../change-log/rules.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { type StoredSignal, signals } from './model.ts'

export const changesOf = operation({
  summary: 'List all changes of one signal with old and new values, the oldest first',
  method: 'GET',
  ...objectPaths('signal', '/{uid}/changes'),
  tool: 'signal_history',
  input: uidInput.extend(listFields),
  output: pageSchema(signalChange).meta({ id: 'SignalChangePage' }),
  errors: ['not_found'],
  allow: 'intelligence:read',

  async run(call, { uid, limit, cursor }) {
    // Read before the log: a change that leaves the signal in between is in the log by then.
    const signal = await call.store(signals).get(uid)
    const order = { field: 'place', direction: 'asc' } as const
    const query = { ...buildListQuery({ signal_id: uid }, limit, cursor, order), fresh: true }
    const { docs, next_cursor, total, total_is } = await call.store(signalChanges).page(query)
    const items = docs.map(({ value }) => value.change)
    const unlogged = await findUnloggedChanges(call, signal)
    const counted = { total: total + unlogged.length, total_is }
    if (next_cursor !== undefined) return { items, next_cursor, ...counted }
    return { items: [...items, ...unlogged], ...counted }
  },
})

/** Changes not yet in the log that the caller may see. */
async function findUnloggedChanges(call: Call, { id: signal_id, value }: Doc<StoredSignal>): Promise<SignalChange[]> {
  const { caller, site } = call
  const visible = value.untold.filter(({ label }) => dominates(caller, label, site.labels))
  const changes = visible.map(async ({ label: _label, part, ...change }) => {
    const id = changeId({ signal_id, revision: change.revision, part })
    return (await call.store(signalChanges).find(id)) ? [] : [{ id, signal_id, ...change }]
  })
  return (await Promise.all(changes)).flat()
}
