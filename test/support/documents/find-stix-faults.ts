// The demands of the OASIS standard STIX 2.1 on a bundle, a second time and without the product's schemas.

type StixObject = Readonly<Record<string, unknown>>

/** Section 2.9, and the pattern of the schema `identifier`. */
const identifier = /^[a-z][a-z0-9-]+[a-z0-9]--[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** Section 2.16, and the pattern of the schema `timestamp`. */
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Section 3.2 and the tables of each object: properties that must be there, and those that may be. */
const required: Readonly<Record<string, readonly string[]>> = {
  identity: ['created', 'modified', 'name'],
  incident: ['created', 'modified', 'name'],
  sighting: ['created', 'modified', 'sighting_of_ref'],
  'marking-definition': ['created'],
  'extension-definition': ['created', 'modified', 'created_by_ref', 'name', 'schema', 'version', 'extension_types'],
}
const common = [
  ...['type', 'spec_version', 'id', 'created_by_ref', 'created', 'modified', 'revoked', 'labels', 'confidence', 'lang'],
  ...['external_references', 'object_marking_refs', 'granular_markings', 'extensions'],
]
const optional: Readonly<Record<string, readonly string[]>> = {
  identity: ['name', 'description', 'roles', 'identity_class', 'sectors', 'contact_information'],
  incident: ['name', 'description'],
  sighting: [
    ...['description', 'first_seen', 'last_seen', 'count', 'sighting_of_ref', 'observed_data_refs'],
    ...['where_sighted_refs', 'summary'],
  ],
  'marking-definition': ['name', 'definition_type', 'definition'],
  'extension-definition': ['name', 'description', 'schema', 'version', 'extension_types', 'extension_properties'],
}
/** Appendix of the standard: open vocabulary of the classes of identities. */
const identityClasses = ['individual', 'group', 'system', 'organization', 'class', 'unknown']

/** Every fault, with where it is; empty for a bundle that keeps the standard. */
export function findStixFaults(bundle: StixObject): string[] {
  const faults: string[] = []
  const hold = (isKept: boolean, what: string) => void (isKept || faults.push(what))
  hold(bundle.type === 'bundle' && isIdOf('bundle', bundle.id), 'bundle: type and id')
  hold(!('spec_version' in bundle), 'bundle: no spec_version since 2.1')
  const objects = (bundle.objects ?? []) as readonly StixObject[]
  if ('objects' in bundle) hold(objects.length > 0, 'bundle: an empty list is not allowed (2.10)')
  const ids = new Set(objects.map(({ id }) => id))
  hold(ids.size === objects.length, 'bundle: an object is in it twice')
  for (const object of objects) {
    for (const fault of findObjectFaults(object)) faults.push(`${object.id}: ${fault}`)
    for (const reference of listReferences(object)) hold(ids.has(reference), `${object.id}: refers to ${reference}`)
  }
  return faults
}

function findObjectFaults(object: StixObject): string[] {
  const type = String(object.type)
  const known = optional[type]
  if (!known) return [`no object of STIX that is expected: ${type}`]
  const faults: string[] = []
  const hold = (isKept: boolean, what: string) => void (isKept || faults.push(what))
  hold(object.spec_version === '2.1', 'spec_version')
  hold(isIdOf(type, object.id), 'id')
  for (const name of required[type] ?? []) hold(object[name] !== undefined, `has no ${name}`)
  for (const name of Object.keys(object)) hold(common.includes(name) || known.includes(name), `has a custom ${name}`)
  for (const name of ['created', 'modified', 'first_seen', 'last_seen'])
    if (name in object) hold(timestamp.test(String(object[name])), `${name} is not a timestamp`)
  if ('modified' in object) hold(String(object.modified) >= String(object.created), 'modified before created')
  for (const name of ['labels', 'external_references', 'object_marking_refs', 'where_sighted_refs'])
    if (name in object) hold((object[name] as unknown[]).length > 0, `${name} is empty`)
  for (const reference of (object.external_references ?? []) as StixObject[])
    hold(isExternal(reference), `external reference ${JSON.stringify(reference)}`)
  if ('confidence' in object) hold(isWholeWithin(object.confidence, 0, 100), 'confidence')
  return [...faults, ...findExtensionFaults(object), ...(typeFaults[type]?.(object) ?? [])]
}

/** Further demands of the section of each type. */
const typeFaults: Readonly<Record<string, (object: StixObject) => string[]>> = {
  identity: ({ identity_class }) => (identityClasses.includes(String(identity_class)) ? [] : ['identity_class']),
  sighting: ({ sighting_of_ref, where_sighted_refs, first_seen, last_seen, count }) => [
    // An SDO: of those that are exported, an identity or an incident.
    ...(/^(identity|incident)--/.test(String(sighting_of_ref)) ? [] : ['sighting_of_ref']),
    ...((where_sighted_refs as string[]).every((ref) => /^(identity|location)--/.test(ref)) ? [] : ['where_sighted']),
    ...(String(last_seen) >= String(first_seen) ? [] : ['seen last before it was seen first']),
    ...(isWholeWithin(count, 0, 999_999_999) ? [] : ['count']),
  ],
  'marking-definition': ({ definition_type, definition, modified }) => [
    ...(modified === undefined ? [] : ['a marking is never modified']),
    ...(definition_type === 'statement' && typeof (definition as StixObject).statement === 'string'
      ? []
      : ['statement']),
  ],
  'extension-definition': ({ extension_types }) =>
    (extension_types as string[]).every((type) => type === 'property-extension') ? [] : ['extension_types'],
}

/** Section 7.3: under the id of its definition, with the kind of extension; names of its properties as in 3.1. */
function findExtensionFaults({ extensions = {} }: StixObject): string[] {
  return Object.entries(extensions as StixObject).flatMap(([id, content]) => {
    const { extension_type, ...rest } = content as StixObject
    const isSound =
      isIdOf('extension-definition', id) &&
      extension_type === 'property-extension' &&
      Object.keys(rest).length > 0 &&
      Object.keys(rest).every((name) => /^[a-z0-9_]{3,250}$/.test(name))
    return isSound ? [] : [`extension ${id}`]
  })
}

function isExternal({ source_name, ...rest }: StixObject): boolean {
  if (typeof source_name !== 'string' || /^(cve|capec)$/.test(source_name)) return false
  if (typeof rest.url === 'string' && !URL.canParse(rest.url)) return false
  return ['description', 'url', 'external_id'].some((name) => typeof rest[name] === 'string')
}

/** Every property that ends in _ref or _refs, and the definition of each extension. */
function listReferences(object: StixObject): string[] {
  const named = Object.entries(object).flatMap(([name, value]) => (/_refs?$/.test(name) ? [value].flat() : []))
  return [...named, ...Object.keys((object.extensions ?? {}) as StixObject)].map(String)
}

function isIdOf(type: string, id: unknown): boolean {
  return typeof id === 'string' && identifier.test(id) && id.startsWith(`${type}--`)
}

function isWholeWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most
}
