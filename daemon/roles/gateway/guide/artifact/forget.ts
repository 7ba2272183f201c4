// Forgets a demoted or proposed artifact at once; its versions stay in the history, from which a rollback brings it back.
import * as z from 'zod'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from './admin-ground.ts'
import { forgetArtifact } from './change-artifacts.ts'
import { artifactId, artifactView, showArtifact } from './view.ts'

/** It stands in the query, where other changes have a body. */
const queryText = z.string().min(1).max(1_024).optional()

export const forget = operation({
  summary: 'Forget a demoted or proposed artifact; a rollback brings it back',
  method: 'DELETE',
  path: '/api/v1/guide/artifacts/{id}',
  tool: 'guide_forget_artifact',
  surface: 'admin_chat',
  input: z.strictObject({ id: artifactId, rationale: queryText, admin_note: queryText }),
  output: artifactView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id, ...grounds }) {
    const changed = await forgetArtifact(call, id, adminGround(call, grounds))
    return isRefusal(changed) ? changed : showArtifact(changed)
  },
})
