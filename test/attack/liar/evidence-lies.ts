// What a host can sign about a session of its own although it is false.
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import { type BlockContent, type EvidenceLie, type QuotedContribution, quoteOf, settle } from './sign-evidence.ts'

const alterQuote = (change: Partial<QuotedContribution>) => (content: BlockContent) => {
  Object.assign(quoteOf(content), change)
  settle(content)
}

/** Adds contributions like ben's. */
export function addContributions(content: BlockContent, ...names: readonly string[]): void {
  const ben = quoteOf(content, 'ben')
  names.forEach((contributor_id, at) => {
    const ordinal = content.contributions.length + 1
    content.contributions.push({
      ...ben,
      contributor_id,
      pair_score: 0.8 + at / 100_000,
      ...(ben.ordinal === undefined ? {} : { ordinal }),
    })
  })
  settle(content)
}

export const namePeople = (count: number) => Array.from({ length: count }, (_, at) => `person-${at}`)

const quotations: readonly EvidenceLie[] = [
  { name: 'quotes the opposite of the honest site’s score', change: alterQuote({ pair_score: 0.1 }) },
  { name: 'quotes the honest site’s score a little higher', change: alterQuote({ pair_score: 0.900_001 }) },
  { name: 'quotes another accuracy of the honest site', change: alterQuote({ accuracy: 0.5 }) },
  { name: 'quotes another credibility of the honest site', change: alterQuote({ credibility: 0.5 }) },
  { name: 'quotes another message of the honest site', change: alterQuote({ msg_id: `msg_${'0'.repeat(32)}` }) },
  {
    name: 'quotes the honest site under the name of a third site',
    change: alterQuote({ contributor_id: 'tenant-charlie' }),
  },
  {
    name: 'adds a contribution of a third site that never sent one',
    change: (content) => addContributions(content, 'tenant-charlie'),
  },
  {
    name: 'counts the honest site twice',
    change: (content) => {
      content.contributions.push({ ...quoteOf(content) })
      settle(content)
    },
  },
  {
    name: 'lists a thousand contributions of a session for three',
    change: (content) => addContributions(content, ...namePeople(998)),
  },
  {
    name: 'lists one contribution more than the policy allows',
    change: (content) => addContributions(content, 'person-1', 'person-2'),
  },
  {
    name: 'leaves all contributions out',
    change: (content) => {
      content.contributions = []
    },
  },
]

const conclusions: readonly EvidenceLie[] = [
  {
    name: 'decides the opposite of what follows',
    change: (content) => {
      content.decision = 'non_match'
    },
  },
  {
    name: 'states a score that does not follow',
    change: (content) => {
      content.result = { ...content.result, score: 1 }
    },
  },
  {
    name: 'states less conflict than there is',
    change: (content) => {
      content.result = { ...content.result, conflict: 0 }
    },
  },
  {
    name: 'states more weight than there is',
    change: (content) => {
      content.result = { ...content.result, total_weight: 900 }
    },
  },
  {
    name: 'states the method that it did not use',
    change: (content) => {
      content.result = { ...content.result, method: 'dempster_shafer' }
    },
  },
  {
    name: 'states a record that is shorter than its list',
    change: (content) => {
      content.record.contributions = 0
    },
  },
  {
    name: 'orders the contributions in another way',
    change: (content) => {
      content.contributions.reverse()
    },
  },
  {
    name: 'states a digest that is not its contribution’s',
    change: (content) => {
      quoteOf(content, 'ben').digest = 'a'.repeat(64)
    },
  },
]

const policyChanges: readonly [string, Partial<QuorumPolicy>][] = [
  ['that one contributor is enough', { m: 1, n: 1 }],
  ['that one of three is enough', { m: 1, n: 3 }],
  ['a lower threshold', { ratify_threshold: 0.51 }],
  ['that no conflict is too large', { conflict_threshold: 1 }],
  ['another method', { combination_method: 'dempster_shafer' }],
  ['that others may contribute', { contributors: ['ben', 'tenant-a', 'person-1'] }],
  ['an end that the invitation had not', { deadline: '2026-03-01T12:00:00Z' }],
]

const terms: readonly EvidenceLie[] = [
  ...policyChanges.map(
    ([what, policy]): EvidenceLie => ({
      name: `states ${what}, other than in its invitation`,
      change: (content) => {
        content.policy = { ...content.policy, ...policy }
      },
    }),
  ),
  {
    name: 'states another lens than in its invitation',
    change: (content) => {
      content.lens_id = 'lens-9'
    },
  },
  {
    name: 'states another version of the lens',
    change: (content) => {
      content.lens_version = '9'
    },
  },
  {
    name: 'states a subject that the invitation had not',
    change: (content) => {
      content.subject = { kind: 'entity_match', left: 'a', right: 'b' }
    },
  },
  {
    name: 'states a lower label than the invitation had',
    change: (content) => {
      content.label = { ...content.label, level: 'UNCLASSIFIED' }
    },
  },
  {
    name: 'states another session',
    change: (content) => {
      content.session_id = `ses_${'a'.repeat(32)}`
    },
  },
  {
    name: 'states that a third site has decided',
    change: (content) => {
      content.site = 'charlie'
      content.tenant_id = 'tenant-charlie'
    },
  },
  {
    name: 'states that the honest site has decided',
    change: (content) => {
      content.site = 'alpha'
      content.tenant_id = 'tenant-a'
    },
  },
  {
    name: 'names a parent that no message has',
    change: (content) => {
      content.parent_block_ids = ['a'.repeat(64)]
    },
  },
]

export const evidenceLies = [...quotations, ...conclusions, ...terms]
