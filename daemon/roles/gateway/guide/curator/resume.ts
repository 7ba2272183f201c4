// Resumes the curator of the tenant.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from '../artifact/admin-ground.ts'
import { changeFields } from '../artifact/view.ts'
import { setPaused } from './set-paused.ts'
import { curatorView, showCurator } from './view.ts'

export const resume = operation({
  summary: 'Resume the curator after a pause',
  method: 'POST',
  path: '/api/v1/guide/curator/resume',
  tool: 'guide_resume_curator',
  surface: 'admin_chat',
  input: z.strictObject(changeFields),
  output: curatorView,
  errors: [],
  allow: 'guide:admin',

  async run(call, grounds) {
    return showCurator(await setPaused(call, false, adminGround(call, grounds)))
  },
})
