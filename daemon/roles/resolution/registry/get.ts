// Shows the registries for lookups at this site: the registry of its runs, or snapshots of other sites with their age.
import * as z from 'zod'
import { dominates, label } from '../../../kernel/label/label.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { count, instant, shortText } from '../fields.ts'
import { isLookupOnly } from '../matching.ts'
import { snapshotStorePart } from '../parts.ts'

const registrySnapshot = z
  .strictObject({
    lens: shortText,
    lens_version: shortText,
    entity_type: shortText,
    from: siteName.meta({ description: 'The site of the registry' }),
    version: z.int().min(1),
    made_at: instant,
    imported_at: instant,
    age_s: count.meta({ description: 'Age of the snapshot in seconds, by the clock of this site' }),
    classification: label.meta({ description: 'Joined label of the whole content' }),
    records: count,
    entities: count,
    sha256: z.string(),
  })
  .meta({ id: 'RegistrySnapshot' })

export const get = operation({
  summary: 'Show the registries for lookups: the registry of this site, or snapshots of other sites and their age',
  method: 'GET',
  path: '/api/v2/registry',
  input: z.strictObject({}),
  output: z
    .strictObject({
      matching_pattern: z.enum(['full_lens', 'lookup_only']),
      snapshots: z.array(registrySnapshot).meta({ description: 'Snapshots that the caller may see' }),
    })
    .meta({ id: 'Registry' }),
  errors: [],
  allow: 'resolution:read',

  async run(call) {
    if (!isLookupOnly(call)) return { matching_pattern: 'full_lens' as const, snapshots: [] }
    const { caller, site } = call
    const imported = caller.tenant_id === site.tenant_id ? await call.part(snapshotStorePart).list() : []
    const snapshots = imported.flatMap(({ label: classification, labels, manifest, imported_at }) => {
      if (!labels.every((label) => dominates(caller, label, site.labels))) return []
      const { lens, lens_version, entity_type, from, version, made_at, records, entities, sha256 } = manifest
      const age_s = Math.max(0, Math.floor((call.now() - Date.parse(made_at)) / 1_000))
      const description = { lens, lens_version, entity_type, from, version, made_at, imported_at, age_s }
      return [{ ...description, classification, records, entities, sha256 }]
    })
    return { matching_pattern: 'lookup_only' as const, snapshots }
  },
})
