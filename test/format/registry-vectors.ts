// Vectors of registry snapshots.
import { sha256 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { vectorLabel } from './sample-content.ts'
import { type JsonMembers, signContent } from './signed-documents.ts'
import { created, vectorKeys } from './vector-keys.ts'
import { type Vector, type VectorWriter, writeDocument } from './vector-writer.ts'

const { ed25519, stranger } = vectorKeys

export async function writeRegistry(writer: VectorWriter): Promise<void> {
  const lines = [labelLine, lensLine, record('a-1', 'ent_1'), record('a-2', 'ent_1'), record('b-7', 'ent_2')]
  const write = async (
    path: string,
    written: readonly JsonMembers[],
    manifest: JsonMembers,
    vector?: Partial<Vector>,
  ) => writeDocument(writer, path, await signSnapshot(written, manifest), vector)
  await write('registry/persons.snapshot', lines, {})
  await write('bad/registry-of-fewer-records.snapshot', lines.slice(0, -1), {}, { reason: 'SCHEMA' })
  await write(
    'bad/registry-record-twice.snapshot',
    [...lines.slice(0, 4), record('a-1', 'ent_2')],
    {},
    { reason: 'SCHEMA' },
  )
  const text = await signSnapshot(lines, {})
  writeDocument(writer, 'bad/registry-altered.snapshot', text.replace('Example', 'Exemple'), { reason: 'BODY_DIGEST' })
  const forged = await signSnapshot(lines, {}, stranger)
  writeDocument(writer, 'bad/registry-of-a-stranger.snapshot', forged, { reason: 'UNKNOWN_KEY' })
}

const labelLine = { kind: 'label', label: vectorLabel }

const lensLine = {
  ...{ kind: 'lens', label: 0, run_id: 'run_1', route: 'clusters' },
  body: { lens: 'persons', version: '1.0.0', entity_type: 'person', fields: [{ name: 'name', type: 'name' }] },
  weights: {
    ...{ prior: -4.5, cut: 2, floor: -20, highest: 12 },
    fields: [{ name: 'name', outcomes: [-3, 1.5, 6], has_frequencies: false }],
  },
}

const record = (record_id: string, entity: string): JsonMembers => ({
  ...{ kind: 'record', label: 0, ref: { node_id: 'people', record_id }, values: { name: 'Example' }, entity },
})

/** The lines, and the last one, which signs exactly them. */
export async function signSnapshot(lines: readonly JsonMembers[], more: JsonMembers, by = ed25519): Promise<string> {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const manifest = {
    ...{ v: 1, type: 'platform.registry', from: 'alpha', tenant_id: 'tenant-alpha', to: 'bravo' },
    ...{
      lens: 'persons',
      lens_version: '1.0.0',
      entity_type: 'person',
      label: vectorLabel,
      version: 1,
      made_at: created,
    },
    ...{ records: 3, entities: 2, bytes: Buffer.byteLength(text), sha256: sha256(text), ...more },
  }
  const signed = await signContent('registry', manifest, [by])
  return `${text}${JSON.stringify({ form: 'registry-snapshot/1', signed })}\n`
}
