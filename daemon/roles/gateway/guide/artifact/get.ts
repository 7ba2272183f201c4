// Shows an artifact, or an earlier version of it, with the history of its versions.
import * as z from 'zod'
import { noSuchObject } from '../../../../kernel/error/missing-object.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { artifactHistory, artifacts, versionId } from './model.ts'
import { artifactFields, artifactId, showArtifact, summariseVersion, versionSummary } from './view.ts'

const max_versions = 100

export const get = operation({
  summary: 'Read an artifact of the guidance layer, with its versions',
  method: 'GET',
  path: '/api/v1/guide/artifacts/{id}',
  tool: 'guide_get_artifact',
  surface: 'admin_chat',
  input: z.strictObject({
    id: artifactId,
    as_of_version: z.int().min(1).optional().meta({ description: 'Show the artifact as it was in this version' }),
    before_version: z
      .int()
      .min(1)
      .optional()
      .meta({ description: `List the versions before this one (default: the newest ${max_versions})` }),
  }),
  output: z
    .strictObject({
      ...artifactFields,
      history: z.array(versionSummary).meta({ description: `Earlier versions, newest first, at most ${max_versions}` }),
      history_total: z.int().meta({ description: 'Number of earlier versions' }),
    })
    .meta({ id: 'GuideArtifactWithHistory' }),
  errors: ['not_found'],
  allow: 'guide:admin',
  versioned: true,

  async run(call, { id, as_of_version, before_version }) {
    const current = await call.store(artifacts).get(id)
    const store = call.store(artifactHistory)
    const before = Math.min(before_version ?? current.value.version, current.value.version)
    const { docs } = await store.list({
      filter: { artifact_id: id, version: { lt: before } },
      order: { field: 'version', direction: 'desc' },
      limit: max_versions,
      fresh: true,
    })
    const isEarlier = as_of_version !== undefined && as_of_version !== current.value.version
    const shown = isEarlier ? await store.find(versionId(id, as_of_version)) : current
    if (!shown || (isEarlier && as_of_version > current.value.version)) return noSuchObject('version of the artifact')
    return {
      ...showArtifact({ ...shown, id }),
      history: docs.map(summariseVersion),
      history_total: current.value.version - 1,
    }
  },
})
