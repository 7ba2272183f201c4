// Shows the state of an effect alone: its deployment, and its DAG at the scheduler.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { effects, effectView } from './model.ts'
import { showEffect } from './view.ts'

export const effectState = effectView
  .pick({
    ...{ uid: true, dag_id: true, name: true, status: true, fault: true, last_run: true, workflow_next_run: true },
    ...{ cleanup_suggested: true, delay: true },
  })
  .meta({ id: 'DataEffectStatus' })

export const status = operation({
  ...objectPaths('effect/{uid}/status'),
  summary: 'Show the state of an effect: of its deployment, and live from the scheduler',
  method: 'GET',
  tool: 'effect_status',
  input: uidInput,
  output: effectState,
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { uid }) {
    const shown = await showEffect(call, await call.store(effects).get(uid))
    return effectState.strip().parse(shown)
  },
})
