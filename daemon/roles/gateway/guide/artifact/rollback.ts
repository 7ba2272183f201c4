// Rolls an artifact back: its content becomes that of an earlier version, in a new version.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from './admin-ground.ts'
import { rollbackArtifact } from './change-artifacts.ts'
import { artifactId, artifactView, changeFields, showArtifact } from './view.ts'

export const rollback = operation({
  summary: 'Roll an artifact back to an earlier version, as a new version',
  method: 'POST',
  path: '/api/v1/guide/artifacts/{id}/rollback',
  tool: 'guide_rollback_artifact',
  surface: 'admin_chat',
  input: z.strictObject({
    id: artifactId,
    version: z.int().min(1).optional(),
    prev_version_id: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'Instead of version: the id of a version, such as prev_version_id of the artifact' }),
    ...changeFields,
  }),
  output: artifactView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id, version, prev_version_id, ...grounds }) {
    const to = version ?? readVersion(id, prev_version_id)
    if (to === undefined || (version !== undefined && prev_version_id !== undefined)) {
      const message = 'name the version by exactly one of version and prev_version_id'
      return refuse('invalid', message, [{ path: 'version', message }])
    }
    const changed = await rollbackArtifact(call, id, adminGround(call, grounds), to)
    return isRefusal(changed) ? changed : showArtifact(changed)
  },
})

function readVersion(id: string, version_id: string | undefined): number | undefined {
  const number = version_id?.startsWith(`${id}.`) ? version_id.slice(id.length + 1) : ''
  return /^[1-9][0-9]{0,14}$/.test(number) ? Number(number) : undefined
}
