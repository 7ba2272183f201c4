// Reads the file of a set: bounded, canonical, complete by the digests of its manifest, each artifact of the schema of its type.
import type { Jws } from '../../../../kernel/cryptography/signatures.ts'
import { canonicalJson, sha256, sha384 } from '../../../../kernel/encoding/canonical-json.ts'
import { parseExactJson } from '../../../../kernel/encoding/parse-json.ts'
import { strictJsonReading } from '../../../../kernel/encoding/strict-json.ts'
import { labelKey } from '../../../../kernel/label/label.ts'
import { collectTexts } from '../../guardrail/collect-texts.ts'
import {
  type CarriedArtifact,
  carriedArtifact,
  max_set_bytes,
  max_set_labels,
  max_text_characters,
  type SetManifest,
  setFile,
  setJsonLimits,
  setManifest,
  writeSetFile,
} from './format.ts'

/** `digest`: SHA-384 of the manifest, which names each artifact by its digest. `manifest`: not verified yet. */
export type ReadSet = {
  readonly signed: Jws
  readonly manifest: SetManifest
  readonly digest: string
  readonly artifacts: readonly CarriedArtifact[]
}

/** Why a file is not a set: shown to the person who imports it. */
export type SetFault = { readonly fault: string }

/** A computation for `runInSlices`: no stage takes more than a few milliseconds. */
export function* setReading(bytes: Uint8Array): Generator<undefined, ReadSet | SetFault, undefined> {
  if (bytes.length > max_set_bytes) return { fault: `the file is larger than ${max_set_bytes} bytes` }
  const read = yield* strictJsonReading(bytes, setJsonLimits)
  yield
  if (read.outcome !== 'value') return { fault: 'the file is not JSON within the limits of a set' }
  const file = setFile.safeParse(read.value).data
  if (!file) return { fault: 'the file is not a set of artifacts' }
  const manifest = readManifest(file.signed)
  if (!manifest) return { fault: 'the manifest of the set is not canonical JSON of a known form' }
  if (manifest.artifacts.length !== file.artifacts.length)
    return { fault: 'the file does not have the artifacts that its manifest names' }
  const texts: string[] = []
  const artifacts: CarriedArtifact[] = []
  for (const [at, each] of file.artifacts.entries()) {
    yield
    const text = canonicalJson(each)
    if (sha256(text) !== manifest.artifacts[at]) return { fault: `artifact ${at + 1} is not the one that was signed` }
    const artifact = hasLongText(each) ? undefined : readCarried(each, text)
    if (!artifact) return { fault: `artifact ${at + 1} does not match the schema of its type` }
    texts.push(text)
    artifacts.push(artifact)
  }
  yield
  // Another layout of the same values could hide something from a reader of the text.
  if (!Buffer.from(writeSetFile(texts, canonicalJson(file.signed))).equals(bytes))
    return { fault: 'the file is not in canonical JSON' }
  const fault = findContentFault(artifacts)
  if (fault !== undefined) return { fault }
  return { signed: file.signed, manifest, digest: digestOf(file.signed), artifacts }
}

export function digestOf({ payload }: Jws): string {
  return sha384(Buffer.from(payload, 'base64url'))
}

export function readManifest({ payload }: Jws): SetManifest | undefined {
  const value = parseExactJson(Buffer.from(payload, 'base64url'), canonicalJson)
  const { data } = setManifest.safeParse(value)
  return data && canonicalJson(data) === canonicalJson(value) ? data : undefined
}

/** A member that reading adds was not signed. */
export function readCarried(value: unknown, text: string): CarriedArtifact | undefined {
  const { data } = carriedArtifact.safeParse(value)
  return data && canonicalJson(data) === text ? data : undefined
}

/** Schemas of intents may hold texts of any length; each text is judged in one go. */
function hasLongText(value: unknown): boolean {
  return collectTexts(value).some((text) => text.length > max_text_characters)
}

function findContentFault(artifacts: readonly CarriedArtifact[]): string | undefined {
  const ids = artifacts.map(({ artifact_id }) => artifact_id)
  if (new Set(ids).size < ids.length) return 'the set has an artifact twice'
  if (new Set(artifacts.map(({ label }) => labelKey(label))).size > max_set_labels)
    return `the set has more than ${max_set_labels} labels`
  return undefined
}
