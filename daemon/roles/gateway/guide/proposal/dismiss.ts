// Dismisses a proposal: its artifact is forgotten.
import * as z from 'zod'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from '../artifact/admin-ground.ts'
import { changeFields } from '../artifact/view.ts'
import { settle } from './settle.ts'
import { proposalView, showProposal } from './view.ts'

export const dismiss = operation({
  summary: 'Dismiss a proposal, so that its artifact is forgotten',
  method: 'POST',
  path: '/api/v1/guide/proposals/{id}/dismiss',
  input: z.strictObject({ id: z.string().min(1).max(128), ...changeFields }),
  output: proposalView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'guide:admin',

  async run(call, { id, ...grounds }) {
    const settled = await settle(call, id, 'dismissed', adminGround(call, grounds))
    return isRefusal(settled) ? settled : showProposal(settled.proposal)
  },
})
