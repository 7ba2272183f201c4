// Edits the metadata of an artifact: tags, intent class and notes.
import * as z from 'zod'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { adminGround } from './admin-ground.ts'
import { editArtifact } from './change-artifacts.ts'
import { artifactId, artifactView, changeFields, showArtifact } from './view.ts'

export const edit = operation({
  summary: 'Edit tags, intent class and notes of an artifact, as a new version',
  method: 'PATCH',
  path: '/api/v1/guide/artifacts/{id}',
  input: z.strictObject({
    id: artifactId,
    tags: z.array(z.string().min(1).max(64)).max(64).optional(),
    intent_class: z.string().min(1).max(256).nullable().optional().meta({ description: 'Null: for every intent' }),
    notes: z.string().max(8_192).optional(),
    ...changeFields,
  }),
  output: artifactView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id, tags, intent_class, notes, ...grounds }) {
    const changed = await editArtifact(call, id, adminGround(call, grounds), { tags, intent_class, notes })
    return isRefusal(changed) ? changed : showArtifact(changed)
  },
})
