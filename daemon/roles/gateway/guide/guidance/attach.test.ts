// Attaching while the layer is off, late, broken or empty: nothing goes out, and the reason is counted.
import { expect, test } from 'vitest'
import { buildArtifact } from '../../../../../test/support/guide/artifacts.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { chatPart } from '../../chat/parts.ts'
import { LineageQueue } from '../lineage/lineage-queue.ts'
import { GuideCounts, guideCountsPart } from '../stats/guide-counts.ts'
import { ArtifactIndex } from './artifact-index.ts'
import { attachGuidance } from './attach.ts'
import { guidancePart } from './parts.ts'
import { attachableTypes, indexArtifact } from './rules.ts'
import { ToolCatalogues } from './usable-tools.ts'

const policy = { policy: 'SITE', levels: ['LOW'] }

type Situation = {
  readonly settings?: object
  /** Milliseconds that pass between two looks at the clock. */
  readonly tick_ms?: number
  readonly isLoaded?: boolean
  readonly isBroken?: boolean
  readonly isEmpty?: boolean
  readonly lineage?: LineageQueue
}

/** A call with all that attaching uses; the parts are the real ones. */
function openCall(situation: Situation = {}) {
  const { settings, tick_ms = 0, isLoaded = true, isBroken = false, isEmpty = false, lineage } = situation
  const caps = Object.fromEntries(attachableTypes.map((type) => [type, 1])) as never
  const index = new ArtifactIndex({ caps, max_bytes: 100_000, policy })
  const artifacts = ['a', 'b'].map((id) => ({ id, artifact: indexArtifact(id, buildArtifact('PromptShim')) }))
  if (!isEmpty) index.apply(artifacts, 1)
  index.isLoaded = isLoaded
  const counted: string[] = []
  const counts = new GuideCounts()
  let clock = 0
  const guidance = { index, catalogues: new ToolCatalogues(), lineage: lineage ?? new LineageQueue(1) }
  const call = {
    caller: { subject: 'ann', tenant_id: 'alpha', permissions: new Set(['*']), clearance: undefined },
    site: { labels: policy },
    trace: { trace_id: '0af7651916cd43dd8448eb211c80319c' },
    settings: () => ({
      ...{
        enabled: true,
        guidance_attach_enabled: true,
        guidance_attach_timeout_ms: 10,
        lineage_persist_enabled: true,
      },
      ...settings,
    }),
    part(key: { name: string }) {
      if (key.name === guideCountsPart.name) return counts
      if (isBroken) throw new Error('the part is gone')
      return key.name === guidancePart.name ? guidance : key.name === chatPart.name ? { tools: () => [] } : undefined
    },
    now: () => 1,
    monotonic: () => (clock += tick_ms),
    count: ({ name }: { name: string }, labels: object, by = 1) =>
      void counted.push(`${name} ${Object.values(labels).join(' ')} ${by}`),
    observe: ({ name }: { name: string }, _: object, value: number) => void counted.push(`${name} ${value > 0}`),
    wake: (worker: string) => void counted.push(`wake ${worker}`),
    log: { warn: (event: string) => void counted.push(event) },
  }
  return { call: call as unknown as Call, counted }
}

const absent = (reason: string) => `guide_guidance_attach_null_total l1 ${reason} 1`

test.each<[string, Situation, string[]]>([
  ['the layer is off', { settings: { enabled: false } }, [absent('disabled')]],
  ['attaching is off', { settings: { guidance_attach_enabled: false } }, [absent('disabled')]],
  ['the artifacts are not loaded', { isLoaded: false }, [absent('unavailable')]],
  ['there are none', { isEmpty: true }, [absent('empty')]],
  ['it takes longer than its budget', { tick_ms: 6 }, [absent('timeout')]],
  ['a part fails', { isBroken: true }, ['gateway.guide.attach_failed', absent('error')]],
])('when %s: nothing, and the reason', (_, situation, expected) => {
  const { call, counted } = openCall(situation)
  expect(attachGuidance(call, { scope: 'l1' })).toBeNull()
  expect(counted).toEqual(expected)
})

test('within the budget: the set, with its size, number and what was held back', () => {
  const { call, counted } = openCall({ tick_ms: 1 })
  expect(attachGuidance(call, { scope: 'l1' })?.rationale_summary).toBe('PromptShim: 1 (a); +1 capped (b)')
  expect(counted).toEqual([
    'guide_guidance_attach_capped_total l1 PromptShim 1',
    'wake write-lineage',
    'guide_guidance_attach_success_total l1 1',
    'guide_guidance_attach_payload_bytes true',
    'guide_guidance_attach_artifact_count true',
  ])
})

test('a full queue of lineage loses its events, counted one by one, and no guidance', () => {
  const lineage = new LineageQueue(1)
  const { call, counted } = openCall({ lineage })
  attachGuidance(call, { scope: 'l1' })
  counted.splice(0)
  expect(attachGuidance(call, { scope: 'l1' })).not.toBeNull()
  expect(counted).toContain('guide_lineage_dropped_total queue_full 2')
  expect([lineage.take(5).length, lineage.size]).toEqual([1, 0])
})
