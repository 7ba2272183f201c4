// Demotes an artifact: it is not attached any more, and is kept.
import * as z from 'zod'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from './admin-ground.ts'
import { demoteArtifact } from './change-artifacts.ts'
import { artifactId, artifactView, changeFields, showArtifact } from './view.ts'

export const demote = operation({
  summary: 'Demote an active artifact, so that it is not attached any more',
  method: 'POST',
  path: '/api/v1/guide/artifacts/{id}/demote',
  tool: 'guide_demote_artifact',
  surface: 'admin_chat',
  input: z.strictObject({ id: artifactId, ...changeFields }),
  output: artifactView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id, ...grounds }) {
    const changed = await demoteArtifact(call, id, adminGround(call, grounds))
    return isRefusal(changed) ? changed : showArtifact(changed)
  },
})
