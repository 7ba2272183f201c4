// Pauses the curator of the tenant.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from '../artifact/admin-ground.ts'
import { changeFields } from '../artifact/view.ts'
import { setPaused } from './set-paused.ts'
import { curatorView, showCurator } from './view.ts'

export const pause = operation({
  summary: 'Pause the curator: artifacts change by administrators alone',
  method: 'POST',
  path: '/api/v1/guide/curator/pause',
  tool: 'guide_pause_curator',
  surface: 'admin_chat',
  input: z.strictObject(changeFields),
  output: curatorView,
  errors: [],
  allow: 'guide:admin',

  async run(call, grounds) {
    return showCurator(await setPaused(call, true, adminGround(call, grounds)))
  },
})
