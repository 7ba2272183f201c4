// Accepts a proposal: its artifact is promoted, and supersedes what the proposal lists.
import * as z from 'zod'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from '../artifact/admin-ground.ts'
import { changeFields } from '../artifact/view.ts'
import { settle } from './settle.ts'
import { proposalView, showProposal } from './view.ts'

export const accept = operation({
  summary: 'Accept a proposal, so that its artifact is attached',
  method: 'POST',
  path: '/api/v1/guide/proposals/{id}/accept',
  input: z.strictObject({ id: z.string().min(1).max(128), ...changeFields }),
  output: proposalView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'guide:admin',

  async run(call, { id, ...grounds }) {
    const settled = await settle(call, id, 'accepted', adminGround(call, grounds))
    return isRefusal(settled) ? settled : showProposal(settled.proposal)
  },
})
