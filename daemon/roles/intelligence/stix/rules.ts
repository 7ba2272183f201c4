// Exports signals as sightings of STIX 2.1: equal signals give an equal bundle, byte for byte, for any caller and
// time.

import { nameUuid } from '../../../kernel/encoding/name-uuid.ts'
import { type Label, labelKey } from '../../../kernel/label/label.ts'
import type { SignalSubject } from '../../../shared/signal-cause/signal-subject.ts'
import type { Signal } from '../signal/model.ts'
import { extension_id, type Sighting, type StixBundle, type StixObject, type SubjectObject } from './model.ts'

/**
 * Namespace of the name-based UUIDs. Section 2.9 allows an own namespace; that of the standard is for observables
 * only.
 */
const uuid_namespace = '6c1d9a52-8f0e-4b7e-9d35-2a4c7e1f0b93'
const producer_id = 'identity--a9e47d10-2c83-4f56-8b1e-7d0c3f95e268'
/** Creation time of objects that never change, since their id is derived from their whole content. */
const fixed_created_at = '2026-01-01T00:00:00.000Z'
const fixedFields = { spec_version: '2.1', created: fixed_created_at, modified: fixed_created_at } as const

const producerIdentity: StixObject = {
  ...{ type: 'identity', ...fixedFields, id: producer_id, name: 'platform', identity_class: 'system' },
  description: 'The program whose extension carries what STIX has no property for',
}

const signalExtension: StixObject = {
  ...{ type: 'extension-definition', ...fixedFields, id: extension_id, created_by_ref: producer_id },
  ...{ name: 'signal', version: '1.0.0', extension_types: ['property-extension'] },
  description: 'Signals with their history, subjects with their type and id, labels with their parts',
  schema: [
    'In a sighting, `signal` is the signal as the REST interface shows it (OpenAPI schema ExportedSignal).',
    'In an identity or an incident, `subject` is the type and the id of what a signal is about.',
    'In a marking-definition, `label` is the label: policy, level, categories, releasable_to (absent: the originator',
    'alone) and originator.',
  ].join(' '),
}

/** The closest STIX identity class. Places, documents and datasets have no STIX object that needs only a name. */
const identityClasses: Readonly<
  Record<SignalSubject['type'], 'individual' | 'organization' | 'system' | 'unknown' | 'incident'>
> = {
  person: 'individual',
  organization: 'organization',
  asset: 'system',
  sensor: 'system',
  event: 'incident',
  entity: 'unknown',
  location: 'unknown',
  document: 'unknown',
  dataset: 'unknown',
  other: 'unknown',
}

/** Site and tenant of the exported signals. */
export type ExportOrigin = { readonly site: string; readonly tenant_id: string }

/** Builds a bundle: each referenced object once, then the sightings in the order of the signals. */
export function buildBundle(signals: readonly Signal[], export_origin: ExportOrigin): StixBundle {
  if (signals.length === 0) return { type: 'bundle', id: deriveStixId('bundle', []) }
  const site = buildSiteIdentity(export_origin)
  const exported = signals.map((signal) => {
    const marking = buildMarking(signal.classification, site.id)
    const subject = buildSubject(signal, export_origin, marking.id, site.id)
    return { marking, seen: subject, sighting: buildSighting(signal, subject.id, marking.id, site.id) }
  })
  const first = [
    producerIdentity,
    signalExtension,
    site,
    ...exported.map(({ marking }) => marking),
    ...exported.map(({ seen: subject }) => subject),
  ]
  const byId = new Map<string, StixObject>()
  for (const object of [...first, ...exported.map((each) => each.sighting)]) byId.set(object.id, object)
  const versions = exported.map(({ sighting: { id, modified } }) => [id, modified])
  return { type: 'bundle', id: deriveStixId('bundle', versions), objects: [...byId.values()] }
}

function deriveStixId(type: string, content: unknown): string {
  return `${type}--${nameUuid(uuid_namespace, JSON.stringify([type, content]))}`
}

function buildSiteIdentity({ site, tenant_id }: ExportOrigin): StixObject {
  const id = deriveStixId('identity', ['site', tenant_id, site])
  return { type: 'identity', ...fixedFields, id, name: site, identity_class: 'organization' }
}

function buildMarking(label: Label, created_by_ref: string): StixObject {
  const { policy, level, categories, releasable_to = [label.originator], originator } = label
  const parts = [level, categories.join(', '), `releasable to ${releasable_to.join(', ') || 'nobody'}`]
  const statement = [...parts, `originator ${originator}`, `policy ${policy}`].filter(Boolean).join(' // ')
  return {
    ...{ type: 'marking-definition', spec_version: '2.1', created: fixed_created_at, created_by_ref },
    id: deriveStixId('marking-definition', [
      labelKey(label),
      label.releasable_to !== undefined,
      originator,
      created_by_ref,
    ]),
    ...{ definition_type: 'statement', definition: { statement } },
    extensions: wrapInExtension({ label }),
  }
}

/** Builds the subject once for each marking: the subject is as confidential as its signal. */
function buildSubject(
  { subject }: Signal,
  { tenant_id }: ExportOrigin,
  marking: string,
  created_by_ref: string,
): SubjectObject {
  const { type, id, name } = subject
  const stixType = identityClasses[type]
  const identifyingValues = [tenant_id, type, id, name, marking, created_by_ref]
  const rest = {
    ...{ ...fixedFields, name, created_by_ref, object_marking_refs: [marking] },
    external_references: [{ source_name: 'platform', description: `${type} that a signal is about`, external_id: id }],
    extensions: wrapInExtension({ subject: { type, id } }),
  }
  return stixType === 'incident'
    ? { type: 'incident', id: deriveStixId('incident', identifyingValues), ...rest }
    : { type: 'identity', id: deriveStixId('identity', identifyingValues), identity_class: stixType, ...rest }
}

function buildSighting(signal: Signal, sighting_of_ref: string, marking: string, site: string): Sighting {
  const { uid, tenant_id, title, description, confidence, detected_at, signal_type, severity, status } = signal
  return {
    ...{ type: 'sighting', spec_version: '2.1', id: deriveStixId('sighting', [tenant_id, uid]) },
    ...{ created: signal.created_at, modified: signal.updated_at, created_by_ref: site },
    description: description === undefined ? title : `${title}\n\n${description}`,
    labels: [signal_type, `severity:${severity}`, `status:${status}`],
    ...(confidence === undefined ? {} : { confidence: Math.round(confidence * 100) }),
    ...{ first_seen: detected_at, last_seen: detected_at, count: 1, summary: false },
    ...{ sighting_of_ref, where_sighted_refs: [site], object_marking_refs: [marking] },
    external_references: [{ source_name: 'platform', external_id: uid }, buildReference(signal)],
    extensions: wrapInExtension({ signal: buildExportedSignal(signal) }),
  }
}

/**
 * Builds the external reference. Its name begins with the type, so it never equals a name reserved by the standard,
 * such as cve.
 */
function buildReference({ source: { type, name, reference } }: Signal) {
  const source_name = name === undefined ? `${type} source` : `${type} ${name}`
  const at = reference === undefined ? {} : isUrl(reference) ? { url: reference } : { external_id: reference }
  return { source_name, description: 'where the signal came from', ...at }
}

function isUrl(text: string): boolean {
  return /^https?:\/\/[^\s<>"]+$/.test(text) && URL.canParse(text)
}

function buildExportedSignal(signal: Signal): Sighting['extensions'][typeof extension_id]['signal'] {
  const { uid: _uid, version: _version, linked_insight_ids: _links, metadata, ...rest } = signal
  const { resolved_by_insight: _insight, resolved_by_edition: _edition, ...otherMetadata } = metadata
  const metadataFields = Object.entries(rest).filter(([name]) => !viewerDependentFields.has(name))
  return { ...(Object.fromEntries(metadataFields) as typeof rest), metadata: otherMetadata }
}

/** Fields that refer to objects with labels of their own: viewers of the signal differ in their access to these. */
const viewerDependentFields: ReadonlySet<string> = new Set(['silence_id', 'merged_into'])

function wrapInExtension<T extends object>(content: T) {
  return { [extension_id]: { extension_type: 'property-extension' as const, ...content } }
}
