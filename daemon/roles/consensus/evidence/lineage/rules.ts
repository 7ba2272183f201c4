// The lineage of a block: the blocks that its session names itself, and the parents that follow from it.
import type { LineageEntry, ProvenEvidence } from '../model.ts'

/** In ascending order of the ids. A block that is superseded is named once, also where the attester names it as well. */
export function buildLineage(superseded: string | undefined, rests_on: readonly string[]): LineageEntry[] {
  const others = [...new Set(rests_on)].filter((block_id) => block_id !== superseded)
  const entries: LineageEntry[] = others.map((block_id) => ({ relation: 'rests_on', block_id }))
  if (superseded !== undefined) entries.push({ relation: 'supersedes', block_id: superseded })
  return entries.sort((a, b) => (a.block_id < b.block_id ? -1 : 1))
}

/** The parents of a block: those that its lineage and the messages of its contributions name, in ascending order. */
export function mergeParents(lineage: readonly LineageEntry[], of_messages: readonly string[]): string[] {
  return [...new Set([...lineage.map(({ block_id }) => block_id), ...of_messages])].sort()
}

/**
 * Faults in words, for people. A block cannot name itself, since its id covers its lineage: a block that does is not consistent
 * either.
 */
export function findLineageFaults(content: ProvenEvidence): string[] {
  if (content.v === 2) return []
  const { lineage, attestation } = content
  const isAscending = lineage.every(({ block_id }, at) => block_id > (lineage[at - 1]?.block_id ?? ''))
  const superseded = lineage.filter(({ relation }) => relation === 'supersedes')
  return [
    ...(isAscending ? [] : ['the lineage is not in ascending order of its blocks, each once']),
    ...(superseded.length > 1 ? ['the lineage names more than one superseded block'] : []),
    ...(superseded.length < lineage.length && !attestation
      ? ['the lineage names blocks of an attester, and nobody attested']
      : []),
  ]
}
