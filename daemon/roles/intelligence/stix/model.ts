// The STIX 2.1 objects of an export (OASIS Standard, 10 June 2021), with their required properties.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { subject } from '../../../shared/signal-cause/signal-subject.ts'
import { signal } from '../signal/model.ts'

/** Section 2.9: an object type and a UUID. */
const stixId = (type: string) =>
  z.string().regex(new RegExp(`^${type}--[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`))
/** Section 2.16: RFC 3339 in UTC. */
const timestamp = z.iso.datetime()
const spec_version = z.literal('2.1')

/** Id of the STIX extension, fixed for all sites. */
export const extension_id = 'extension-definition--3f2b8c64-5d17-4e0a-b6c9-81d4a7f2e053'

const extensionOf = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject({ [extension_id]: z.strictObject({ extension_type: z.literal('property-extension'), ...shape }) })

const externalReference = z.strictObject({
  source_name: z.string(),
  description: z.string().optional(),
  url: z.string().optional(),
  external_id: z.string().optional(),
})

const markedFields = {
  created_by_ref: stixId('identity'),
  object_marking_refs: z.array(stixId('marking-definition')).min(1),
  external_references: z.array(externalReference).min(1),
}
const namedFields = { name: z.string(), extensions: extensionOf({ subject: subject.omit({ name: true }) }) }

const coreFields = <T extends string>(type: T) => ({
  ...{ type: z.literal(type), spec_version, id: stixId(type) },
  ...{ created: timestamp, modified: timestamp },
})

/** Section 4.5: identity of the site, and of the author of the extension. */
export const identity = z.strictObject({
  ...coreFields('identity'),
  name: z.string(),
  description: z.string().optional(),
  identity_class: z.enum(['organization', 'system']),
})

/** Section 4.5 and, for events, 4.6: the subject of a signal. */
const subjectIdentity = z.strictObject({
  ...coreFields('identity'),
  ...{ ...namedFields, identity_class: z.enum(['individual', 'organization', 'system', 'unknown']) },
  ...markedFields,
})
const subjectIncident = z.strictObject({ ...coreFields('incident'), ...namedFields, ...markedFields })
export type SubjectObject = z.infer<typeof subjectIdentity> | z.infer<typeof subjectIncident>

/** Section 7.2.1, with a statement (7.2.1.3). */
const markingDefinition = z.strictObject({
  type: z.literal('marking-definition'),
  ...{ spec_version, id: stixId('marking-definition'), created: timestamp, created_by_ref: stixId('identity') },
  definition_type: z.literal('statement'),
  definition: z.strictObject({ statement: z.string() }),
  extensions: extensionOf({ label }),
})

/** Section 7.3. */
const extensionDefinition = z.strictObject({
  ...{ ...coreFields('extension-definition'), created_by_ref: stixId('identity') },
  ...{ name: z.string(), description: z.string(), schema: z.string(), version: z.string() },
  extension_types: z.array(z.literal('property-extension')).min(1),
})

/** The signal without fields that only some of its viewers may see: one version of an object must have one content. */
const exportedSignal = signal
  .omit({ linked_insight_ids: true, version: true, uid: true })
  .meta({ id: 'ExportedSignal', description: 'A signal without its links to insights' })

/** Section 5.2. */
export const sighting = z.strictObject({
  ...coreFields('sighting'),
  ...markedFields,
  description: z.string(),
  labels: z.array(z.string()).min(1),
  confidence: z.int().min(0).max(100).optional(),
  first_seen: timestamp,
  last_seen: timestamp,
  count: z.int().min(1).max(999_999_999),
  sighting_of_ref: z.union([stixId('identity'), stixId('incident')]),
  where_sighted_refs: z.array(stixId('identity')).min(1),
  summary: z.literal(false),
  extensions: extensionOf({ signal: exportedSignal }),
})
export type Sighting = z.infer<typeof sighting>

const stixObject = z.union([
  identity,
  extensionDefinition,
  markingDefinition,
  subjectIdentity,
  subjectIncident,
  sighting,
])
export type StixObject = z.infer<typeof stixObject>

/** Section 8. Without signals it has no objects: an empty list is not allowed. */
export const stixBundle = z
  .strictObject({ type: z.literal('bundle'), id: stixId('bundle'), objects: z.array(stixObject).min(1).optional() })
  .meta({ id: 'StixBundle', description: 'A STIX 2.1 bundle; every reference is to an object of the bundle' })
export type StixBundle = z.infer<typeof stixBundle>
