// Alterations of evidence blocks, audit exports and registry snapshots, which are signed over a digest of their content.

import { canonicalDigest } from '../../daemon/kernel/encoding/canonical-json.ts'
import { alterValue, type Random, spellingAlterations } from './alterations.ts'
import { signSnapshot } from './registry-vectors.ts'
import { signBlock } from './sample-evidence.ts'
import { type AlteredFile, pick, type VectorSource } from './signed-alterations.ts'
import type { JsonMembers } from './signed-documents.ts'
import { vectorKeys } from './vector-keys.ts'

export async function alterEvidence({ text }: VectorSource, random: Random): Promise<AlteredFile> {
  const { content } = JSON.parse(text) as { content: JsonMembers }
  const { name, value } = alterValue(content, random)
  const settled =
    random(2) === 0
      ? { change: name, content: value }
      : { change: `${name}, digests made again`, content: digestAgain(value) }
  return { change: settled.change, text: JSON.stringify(await signBlock(settled.content, [vectorKeys.ed25519])) }
}

/** So that an altered contribution is judged by the result, and not by its digest alone. */
function digestAgain(content: JsonMembers): JsonMembers {
  if (!Array.isArray(content.contributions)) return content
  const contributions = content.contributions.map((each) => {
    if (typeof each !== 'object' || each === null) return each
    const { digest: _digest, msg_id, ordinal, proof, ...quoted } = each
    return { ...each, digest: canonicalDigest(quoted) }
  })
  return { ...content, contributions }
}

export function alterLines(text: string, random: Random): AlteredFile {
  const lines = text.trimEnd().split('\n')
  const at = random(lines.length)
  const line = lines[at] ?? ''
  const changes: Readonly<Record<string, () => unknown>> = {
    dropped: () => lines.splice(at, 1),
    repeated: () => lines.splice(at, 0, line),
    'moved to the end': () => lines.push(...lines.splice(at, 1)),
    'cut behind it': () => lines.splice(at + 1),
    'cut before it': () => lines.splice(0, at),
    'a line without content behind it': () => lines.splice(at + 1, 0, ''),
    respelled: () => (lines[at] = String(pick(spellingAlterations, random)(line).text)),
    altered: () => (lines[at] = JSON.stringify(alterValue(JSON.parse(line), random).value)),
    'altered again': () => (lines[at] = JSON.stringify(alterValue(JSON.parse(line), random).value)),
  }
  const names = Object.keys(changes)
  const change = names[random(names.length)] ?? ''
  changes[change]?.()
  return { change: `line ${at + 1} ${change}`, text: `${lines.join('\n')}\n` }
}

/** Lines of labels and records, or the manifest, altered and signed again. */
export async function alterSnapshot(text: string, random: Random): Promise<AlteredFile> {
  const lines = text.trimEnd().split('\n').slice(0, -1)
  const written = lines.map((line) => JSON.parse(line) as JsonMembers)
  if (random(2) === 0) {
    const manifest = { records: 3, entities: 2, version: 1, lens: 'persons', to: 'bravo', v: 1 }
    const { name, value } = alterValue(manifest, random)
    return { change: `manifest ${name}`, text: await signSnapshot(written, value) }
  }
  const at = random(written.length)
  const line = written[at] ?? {}
  const altered = line.kind === 'lens' ? { name: 'dropped', value: undefined } : alterValue(line, random)
  written.splice(at, 1, ...(altered.value ? [altered.value] : []))
  return { change: `line ${at + 1} ${altered.name}`, text: await signSnapshot(written, {}) }
}
