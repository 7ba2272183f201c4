// Lineages that a host can sign although they are false, each with the fault that a copy of its session lists.
import type { EvidenceContent, EvidenceContent2, LineageEntry } from '../../../daemon/roles/consensus/evidence/model.ts'
import type { Lie } from './lying-origin.ts'
import { signBlock } from './origin-evidence.ts'

const superseding = (digit: string): LineageEntry => ({ relation: 'supersedes', block_id: digit.repeat(64) })
const basis = (digit: string): LineageEntry => ({ relation: 'rests_on', block_id: digit.repeat(64) })

/** The content of version 3, with the parents that follow from the lineage. */
const withLineage = (content: EvidenceContent2, ...lineage: LineageEntry[]): EvidenceContent => ({
  ...content,
  ...{ v: 3, lineage, parent_block_ids: [...new Set(lineage.map(({ block_id }) => block_id))].sort() },
})
const attested = (content: EvidenceContent2): EvidenceContent2 => ({
  ...content,
  attestation: { id: 'att', by: 'eve', decision: 'match', rationale: 'so', at: content.decided_at },
})

/** The honest block with another content, signed by bravo. */
const stating =
  (change: (honest: EvidenceContent2) => EvidenceContent): Lie =>
  async ({ honest }, { bravo }) => ({ evidence: await signBlock(bravo, change(honest)) })

export const lineageLies: Readonly<Record<string, readonly [fault: RegExp, lie: Lie]>> = {
  'a lineage whose blocks are not parents': [
    /the parent blocks are not those/,
    stating((honest) => ({ ...withLineage(honest, superseding('a')), parent_block_ids: [] })),
  ],
  'a lineage in another order': [
    /the lineage is not in ascending order/,
    stating((honest) => withLineage(attested(honest), basis('b'), superseding('a'))),
  ],
  'a lineage with a block twice': [
    /the lineage is not in ascending order/,
    stating((honest) => withLineage(attested(honest), basis('a'), superseding('a'))),
  ],
  'two superseded sessions': [
    /more than one superseded block/,
    stating((honest) => withLineage(honest, superseding('a'), superseding('b'))),
  ],
  'the basis of an attester where nobody attested': [
    /nobody attested/,
    stating((honest) => withLineage(honest, basis('a'))),
  ],
  'a lineage without blocks': [/not of its form/, stating((honest) => withLineage(honest))],
  'a lineage that names its own block': [
    /does not match its id/,
    async ({ honest }, { bravo }) => {
      const { block_id, ...block } = await signBlock(bravo, withLineage(honest, superseding('a')))
      const content = withLineage(honest, { relation: 'supersedes', block_id })
      return { evidence: { ...block, block_id, content } }
    },
  ],
}
