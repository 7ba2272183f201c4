// The cost of an attachment does not grow with the number of artifacts: `scripts/bench attach` measures it.
import { expect, test } from 'vitest'
import { ArtifactIndex } from '../../../daemon/roles/gateway/guide/guidance/artifact-index.ts'
import { attachableTypes, indexArtifact } from '../../../daemon/roles/gateway/guide/guidance/rules.ts'
import { buildArtifact } from '../../support/guide/artifacts.ts'

const types = ['PromptShim', 'FailurePattern', 'ToolPairingHint', 'SpecFragment', 'ServiceConnectionHint'] as const
const caps = Object.fromEntries(attachableTypes.map((type) => [type, 5])) as never
const usable = { key: 'all', tools: new Set(['maps/echo', 'maps/count']), services: new Set(['maps']) }

function build(at: number) {
  const content = { weight: at % 97, confidence: (at % 13) / 13 }
  const artifact = buildArtifact(types[at % types.length] ?? 'PromptShim', { content })
  return { id: `artifact-${at}`, artifact: indexArtifact(`artifact-${at}`, artifact) }
}

test('with 10,000 active artifacts a set is selected once for each change, and not for each request', () => {
  const index = new ArtifactIndex({ caps, max_bytes: 16_384, policy: { policy: 'SITE', levels: ['LOW', 'HIGH'] } })
  index.apply(
    Array.from({ length: 10_000 }, (_, at) => build(at)),
    1,
  )
  const find = (level: string) =>
    index.find(
      { scope: 'l1', usable, viewer: { tenant_id: 'alpha', clearance: { level, categories: [] } } },
      () => false,
    )
  const first = find('HIGH')
  expect(first?.attached).toHaveLength(20)
  for (let request = 0; request < 100; request += 1) expect(find('HIGH')).toBe(first)
  expect(find('LOW')).not.toBe(first)
  for (const reader of index.apply([build(7)], 2)) index.prepare(reader)
  const next = find('HIGH')
  expect(next).not.toBe(first)
  expect(find('HIGH')).toBe(next)
})
