// Promotes an artifact: it is attached, or counts for more where it is already; similar ones are listed, and can be superseded.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { findSimilarArtifacts } from '../similarity/find-similar.ts'
import { adminGround } from './admin-ground.ts'
import { promoteArtifact } from './change-artifacts.ts'
import { artifactFields, artifactId, changeFields, showArtifact } from './view.ts'

const similarArtifact = z.strictObject({ id: z.string(), version: z.int(), similarity: z.number() })

export const promote = operation({
  summary: 'Promote an artifact, so that it is attached, or counts for more',
  method: 'POST',
  path: '/api/v1/guide/artifacts/{id}/promote',
  tool: 'guide_promote_artifact',
  surface: 'admin_chat',
  input: z.strictObject({
    id: artifactId,
    supersede: z.boolean().optional().meta({ description: 'True: those of supersedes are demoted' }),
    supersedes: z.array(artifactId).max(256).optional(),
    ...changeFields,
  }),
  output: z
    .strictObject({
      ...artifactFields,
      similar: z
        .array(similarArtifact)
        .meta({ description: 'Active artifacts of the same type, service and tool that are much alike: advice' }),
    })
    .meta({ id: 'GuidePromotion' }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id, supersede = false, supersedes = [], ...grounds }) {
    if (supersede !== supersedes.length > 0) {
      const message = 'supersede and the ids of supersedes go together'
      return refuse('invalid', message, [{ path: 'supersedes', message }])
    }
    const changed = await promoteArtifact(call, id, adminGround(call, grounds), supersedes)
    if (isRefusal(changed)) return changed
    return { ...showArtifact(changed), similar: await findSimilarArtifacts(call, changed) }
  },
})
