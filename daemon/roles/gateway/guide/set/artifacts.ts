// Lists the artifacts of a set beside what is active here, with marks of text that misleads and of what this site does not have.
import * as z from 'zod'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { sliceRunner } from '../../../../kernel/role/run-in-slices.ts'
import { chatPart } from '../../chat/parts.ts'
import { findingKinds, type ToolFinding, textFindings } from '../../service-tool/findings.ts'
import { artifacts as activeArtifacts, applicability } from '../artifact/model.ts'
import { artifactType } from '../artifact/view.ts'
import { guidancePart } from '../guidance/parts.ts'
import { findReferences } from '../guidance/rules.ts'
import { compareArtifact, type KnownArtifacts } from './compare.ts'
import { importedId, type LoadedArtifact, loadKnown, readableParts, storedReading } from './load-set.ts'
import { guidanceSets, setArtifacts } from './model.ts'
import { setId } from './view.ts'

const shownArtifact = z
  .strictObject({
    number: z.int().meta({ description: 'Place in the set: decisions name artifacts by it' }),
    origin_id: z.string(),
    type: artifactType,
    version: z.int().meta({ description: 'At the origin' }),
    as_of: z.iso.datetime(),
    service_name: z.string().optional(),
    tool_name: z.string().optional(),
    applicability,
    content: z.record(z.string(), z.unknown()),
    rationale: z.string(),
    embedded_by: z.string().optional(),
    label: label.optional(),
    sha256: z.string(),
    state: z.enum(['new', 'changed', 'same', 'conflict']),
    with: z.array(z.string()).meta({ description: 'Active artifacts here that it was compared with' }),
    detail: z.string(),
    findings: z
      .array(z.strictObject({ kind: z.enum(findingKinds), excerpt: z.string() }))
      .meta({ description: 'Marks of text that misleads a model; one with hidden_text cannot be accepted' }),
    missing: z.array(z.string()).meta({ description: 'Tools and services that it names and this site does not have' }),
    outcome: z.enum(['active', 'refused']).optional(),
    outcome_detail: z.string().optional(),
    artifact_id: z.string().optional().meta({ description: 'Of the accepted artifact here' }),
  })
  .meta({ id: 'GuidanceSetArtifact' })

export const artifacts = operation({
  summary: 'List the artifacts of a set beside what is active here, with marks of text that misleads',
  method: 'GET',
  path: '/api/v1/guide/sets/{id}/artifacts',
  input: z.strictObject({ ...listFields, id: setId }),
  output: pageSchema(shownArtifact).meta({ id: 'GuidanceSetArtifactPage' }),
  errors: ['not_found'],
  allow: 'guide:admin',

  async run(call, { id, limit, cursor }) {
    const set = await call.store(guidanceSets).get(id)
    const query = buildListQuery({ set_id: id }, limit, cursor, { field: 'number', direction: 'asc' })
    const { docs, ...page } = await call.store(setArtifacts).page(query)
    const run = sliceRunner(call)
    const loaded: LoadedArtifact[] = []
    for (const doc of docs) {
      const artifact = await run(storedReading(doc))
      if (artifact) loaded.push(artifact)
    }
    const types = loaded.map(({ carried }) => carried.type)
    const known = await loadKnown(call, set.value.tenant_id, types)
    const items: z.output<typeof shownArtifact>[] = []
    for (const artifact of loaded) {
      const findings = await run(textFindings(readableParts(artifact)))
      items.push(await showArtifact(call, artifact, { peer: set.value.peer, known, findings }))
    }
    return { ...page, items }
  },
})

type ComparedWith = {
  readonly peer: string
  readonly known: KnownArtifacts
  readonly findings: readonly ToolFinding[]
}

async function showArtifact(
  call: Call,
  loaded: LoadedArtifact,
  { peer, known, findings }: ComparedWith,
): Promise<z.output<typeof shownArtifact>> {
  const { doc, carried, digest } = loaded
  const { artifact_id: origin_id, label: _, ...shown } = carried
  const here = await call.store(activeArtifacts).find(importedId(loaded, peer))
  const { outcome, detail: outcome_detail, artifact_id, number } = doc.value
  return {
    ...{ number, origin_id, ...shown, sha256: digest },
    ...(doc.value.label ? { label: doc.value.label } : {}),
    ...(({ state, with: others, detail }) => ({ state, with: [...others], detail }))(
      compareArtifact(carried, peer, known, isRefusal(here) ? undefined : here?.value.status),
    ),
    findings: [...findings],
    missing: listMissing(call, loaded),
    ...(outcome === undefined ? {} : { outcome }),
    ...(outcome_detail === undefined ? {} : { outcome_detail }),
    ...(artifact_id === undefined ? {} : { artifact_id }),
  }
}

function listMissing(call: Call, { carried }: LoadedArtifact): string[] {
  const { catalogues } = call.part(guidancePart)
  const usable = catalogues.findUsable(call.part(chatPart).tools(), call.caller.permissions)
  const { tools, services } = findReferences(carried)
  const { service_name, tool_name } = carried
  const place = service_name !== undefined && tool_name !== undefined ? [`${service_name}/${tool_name}`] : []
  const named = new Set([...services, ...(service_name === undefined ? [] : [service_name])])
  const missing = [...new Set([...tools, ...place])].filter((tool) => !usable.tools.has(tool))
  return [...missing, ...[...named].filter((service) => service !== 'gateway' && !usable.services.has(service))].sort()
}
