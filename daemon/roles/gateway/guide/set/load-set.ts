// Loads the stored artifacts of a set, and what is active here beside them.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { parseJson } from '../../../../kernel/encoding/parse-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { labelKey } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { sliceRunner } from '../../../../kernel/role/run-in-slices.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { collectTexts } from '../../guardrail/collect-texts.ts'
import { hiddenText } from '../../service-tool/findings.ts'
import { artifacts } from '../artifact/model.ts'
import { keyedArtifactId } from '../artifact/propose-artifact.ts'
import { indexKnown, type KnownArtifact, type KnownArtifacts } from './compare.ts'
import type { CarriedArtifact } from './format.ts'
import { guidanceSets, type StoredSet, type StoredSetArtifact, setArtifacts } from './model.ts'
import { readCarried, readManifest } from './read-set.ts'

export type LoadedArtifact = {
  readonly doc: Doc<StoredSetArtifact>
  readonly carried: CarriedArtifact
  readonly digest: string
}

/** With the refusals of a change: a set of another tenant is not merely missing. */
export async function loadSetForChange(call: Call, id: string): Promise<Doc<StoredSet>> {
  return (await call.store(guidanceSets).update(id, () => ({ answer: undefined }))).doc
}

/** Undefined for a document that is not as it was carried. */
function readStored(doc: Doc<StoredSetArtifact>): LoadedArtifact | undefined {
  const text = doc.value.carried
  const carried = readCarried(parseJson(text), text)
  return carried && { doc, carried, digest: sha256(text) }
}

/**
 * The artifacts of a set in their order. Refuses `conflict` where one of them is missing, or is not the one that the peer has
 * signed: somebody has changed the store.
 */
export async function loadArtifacts(call: Call, set: Doc<StoredSet>): Promise<readonly LoadedArtifact[] | Refusal> {
  const manifest = readManifest(set.value.signed)
  const query = { filter: { set_id: set.id }, order: { field: 'number', direction: 'asc' }, fresh: true } as const
  const loaded: LoadedArtifact[] = []
  const run = sliceRunner(call)
  for await (const doc of iterateDocuments(call.store(setArtifacts), { ...query, page_size: 100 })) {
    const artifact = await run(storedReading(doc))
    if (
      !artifact ||
      artifact.digest !== manifest?.artifacts[doc.value.number - 1] ||
      doc.value.number !== loaded.length + 1
    )
      return refuseChanged()
    loaded.push(artifact)
  }
  return loaded.length === manifest?.artifacts.length ? loaded : refuseChanged()
}

/** The same as a computation for `runInSlices`. */
export function* storedReading(doc: Doc<StoredSetArtifact>): Generator<undefined, LoadedArtifact | undefined> {
  yield
  return readStored(doc)
}

function refuseChanged(): Refusal {
  return refuse('conflict', 'the stored set is not the one that its peer has signed: import its file again')
}

/** The active artifacts of the tenant of these types. Their vectors cost time to parse: pages are small. */
export async function loadKnown(call: Call, tenant_id: string, types: Iterable<string>): Promise<KnownArtifacts> {
  const known: KnownArtifact[] = []
  for (const type of new Set(types)) {
    const query = { filter: { tenant_id, type, status: 'active' }, page_size: 100, fresh: true }
    let count = 0
    for await (const { id, value } of iterateDocuments(call.store(artifacts), query)) {
      const { embedding_vector: _, ...content } = value.content
      const { service_name, tool_name, applicability, origin } = value
      known.push({ id, type: value.type, content, service_name, tool_name, applicability, origin })
      count += 1
      if (count % 100 === 0) await call.pause()
    }
  }
  return indexKnown(known)
}

/** The id here of an artifact of a set: the same content under the same label is the same artifact, whichever set brings it. */
export function importedId({ doc, digest, carried }: LoadedArtifact, peer: string): string {
  return keyedArtifactId(doc.value.tenant_id, importKey({ doc, digest, carried }, peer))
}

export function importKey({ doc, digest, carried }: LoadedArtifact, peer: string): string {
  const { label } = doc.value
  return JSON.stringify(['set', peer, carried.artifact_id, digest, label ? labelKey(label) : ''])
}

/** Whether it has characters that people do not see: what they accept is not what a model reads. */
export function hasHiddenText(loaded: LoadedArtifact): boolean {
  return collectTexts(readableParts(loaded)).some((text) => hiddenText.test(text))
}

/** All that a model or a person may read of it. */
export function readableParts({ carried }: LoadedArtifact): unknown {
  const { content, rationale, applicability: applies, service_name = '', tool_name = '' } = carried
  return [content, rationale, applies, service_name, tool_name]
}
